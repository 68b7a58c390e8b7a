//! The documents every checkout has, and whether ARCHITECTURE.md still names the crates.
//!
//! Not here: whether links resolve (`links`) and generated documents (the `generate` verb).

use std::collections::BTreeSet;

use super::{Crate, SourceFile, Violation};

const REQUIRED: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
];

/// Reports missing documents, crates that ARCHITECTURE.md omits and crates it invents.
pub fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Violation> {
    let text_of = |path: &str| {
        files
            .iter()
            .find(|file| file.path == path)
            .and_then(|file| file.text.as_deref())
    };
    let mut violations = Vec::new();
    for path in REQUIRED {
        if text_of(path).is_none_or(|text| text.trim().is_empty()) {
            violations.push(Violation::new(path, "the document is missing or empty"));
        }
    }
    if let Some(text) = text_of("ARCHITECTURE.md") {
        violations.extend(architecture(crates, text));
    }
    violations
}

fn architecture(crates: &[Crate], text: &str) -> Vec<Violation> {
    let existing: BTreeSet<&str> = crates.iter().map(|package| package.name.as_str()).collect();
    let mut seen = BTreeSet::new();
    let mut violations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for name in names_in(line) {
            if !existing.contains(name) && seen.insert(name) {
                violations.push(Violation::new(
                    format!("ARCHITECTURE.md:{}", index + 1),
                    format!("names the crate `{name}`, which does not exist"),
                ));
            }
            seen.insert(name);
        }
    }
    for name in existing.difference(&seen) {
        violations.push(Violation::new(
            "ARCHITECTURE.md",
            format!("does not name the crate `{name}`"),
        ));
    }
    violations
}

/// Words of the form `windlass` or `windlass-noun`; file names such as `windlass-x.toml` are not crates.
fn names_in(line: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut names = Vec::new();
    let mut start = None;
    for (index, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (start, is_name(c)) {
            (None, true) => start = Some(index),
            (Some(begin), false) => {
                start = None;
                let name = line[begin..index].trim_end_matches('-');
                let mut after = line[index..].chars();
                let is_file = after.next() == Some('.')
                    && after.next().is_some_and(|c| c.is_ascii_alphanumeric());
                let is_crate = name == "windlass" || name.starts_with("windlass-");
                if is_crate && !is_file {
                    names.push(name);
                }
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages};
    use super::*;

    fn package(name: &str) -> Crate {
        Crate {
            name: name.into(),
            folder: name.into(),
            layer: None,
            manifest: String::new(),
            dependencies: Vec::new(),
        }
    }

    fn documents(architecture: &str) -> Vec<SourceFile> {
        REQUIRED
            .iter()
            .map(|path| match *path {
                "ARCHITECTURE.md" => file(path, architecture),
                _ => file(path, "text"),
            })
            .collect()
    }

    #[test]
    fn crate_names_are_found_in_prose() {
        let cases: &[(&str, &[&str])] = &[
            (
                "`windlass-engine`, windlass-mcp.",
                &["windlass-engine", "windlass-mcp"],
            ),
            ("[x](crates/windlass-types/src)", &["windlass-types"]),
            (
                "run `windlass` or windlass-<noun>",
                &["windlass", "windlass"],
            ),
            ("windlass-home.toml and Windlass", &[]),
        ];
        for (line, expected) in cases {
            assert_eq!(names_in(line), *expected, "{line}");
        }
    }

    #[test]
    fn architecture_names_every_crate_and_no_other() {
        let crates = [package("windlass"), package("windlass-engine")];
        let good = documents("`windlass` wires windlass-engine.");
        assert!(check(&crates, &good).is_empty());
        let bad = documents("`windlass` wires it.\nSee windlass-motor and windlass-motor.");
        assert_eq!(
            messages(&check(&crates, &bad)),
            [
                "ARCHITECTURE.md:2: names the crate `windlass-motor`, which does not exist",
                "ARCHITECTURE.md: does not name the crate `windlass-engine`",
            ]
        );
    }

    #[test]
    fn missing_and_empty_documents_are_named() {
        let mut files = documents("x");
        files.retain(|file| file.path != "SECURITY.md");
        files[0].text = Some(" \n".into());
        assert_eq!(
            messages(&check(&[], &files)),
            [
                "README.md: the document is missing or empty",
                "SECURITY.md: the document is missing or empty",
            ]
        );
    }
}
