//! Go: `go.mod`.

use super::{Manifest, Requirement, is_plain, locate};

pub(super) fn go_mod(path: &str, text: &str) -> Option<Manifest> {
    let mut manifest = Manifest {
        path: path.to_owned(),
        platform: "go",
        build_system: "go".to_owned(),
        method: "go",
        has_library: true,
        test_command: Some("go test ./...".to_owned()),
        ..Manifest::default()
    };
    let mut in_require = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some(")"), _) => in_require = false,
            (Some("require"), Some("(")) => in_require = true,
            (Some("require"), Some(module)) => manifest.dependencies.push(module.to_owned()),
            (Some("module"), Some(module)) => manifest.name = locate(text, "module", module),
            (Some("go"), Some(version)) => {
                let spec = locate(text, "go ", version);
                manifest.runtimes.extend(spec.map(|spec| Requirement {
                    runtime: "Go",
                    spec,
                }));
            }
            (Some(module), Some(_)) if in_require => manifest.dependencies.push(module.to_owned()),
            _ => {}
        }
    }
    manifest.install = manifest
        .name
        .as_ref()
        .filter(|name| is_plain(&name.text))
        .map(|name| format!("go get {}", name.text));
    manifest.name.is_some().then_some(manifest)
}
