//! The imports of a file as lines: one per module, sorted by module.

/// What is imported, by module.
#[derive(Default)]
pub(super) struct Imports(std::collections::BTreeMap<String, Vec<String>>);

impl Imports {
    pub(super) fn add(&mut self, module: &str, name: &str) -> &mut Self {
        let names = self.0.entry(module.to_owned()).or_default();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        self
    }

    pub(super) fn ui(&mut self, file: &str, name: &str) -> &mut Self {
        self.add(&format!("@/components/ui/{file}"), name)
    }

    pub(super) fn lines(mut self) -> Vec<String> {
        // Types first, then by name without regard to case.
        for names in self.0.values_mut() {
            names.sort_by_key(|name| (!name.starts_with("type "), name.to_lowercase()));
        }
        self.0
            .into_iter()
            .map(|(module, names)| {
                let types = names.iter().all(|name| name.starts_with("type "));
                if types {
                    let names: Vec<&str> =
                        names.iter().map(|name| &name["type ".len()..]).collect();
                    format!("import type {{ {} }} from \"{module}\";", names.join(", "))
                } else {
                    format!("import {{ {} }} from \"{module}\";", names.join(", "))
                }
            })
            .collect()
    }
}
