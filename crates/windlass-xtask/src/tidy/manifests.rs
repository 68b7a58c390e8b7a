//! Every crate's manifest inherits what the workspace decides once.
//!
//! Not here: which crate may depend on which (`layers`).

use toml::{Table, Value};

use super::{Crate, Violation};

const INHERITED: [&str; 5] = ["version", "edition", "rust-version", "license", "publish"];
const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Reports wrong names, and keys, lints and dependencies not inherited from the root.
pub fn check(crates: &[Crate]) -> Vec<Violation> {
    crates.iter().flat_map(check_one).collect()
}

fn check_one(package: &Crate) -> Vec<Violation> {
    let place = format!("crates/{}/Cargo.toml", package.folder);
    let violation = |message: String| Violation::new(place.clone(), message);
    let mut violations = Vec::new();

    if package.name != package.folder {
        violations.push(violation(format!(
            "the crate `{}` must live in crates/{}",
            package.name, package.name
        )));
    }
    if package.name != "windlass" && !package.name.starts_with("windlass-") {
        violations.push(violation(format!(
            "the crate `{}` must be named windlass-<noun>",
            package.name
        )));
    }
    let manifest = match package.manifest.parse::<Table>() {
        Ok(manifest) => manifest,
        Err(error) => {
            violations.push(violation(format!("not valid TOML: {error}")));
            return violations;
        }
    };
    let section = |name: &str| manifest.get(name).and_then(Value::as_table);
    for key in INHERITED {
        if !section("package").is_some_and(|section| inherits(section.get(key))) {
            violations.push(violation(format!(
                "[package] must say `{key}.workspace = true`"
            )));
        }
    }
    if !section("package").is_some_and(|section| section.contains_key("description")) {
        violations.push(violation("[package] needs a `description`".to_owned()));
    }
    if !inherits(manifest.get("lints")) {
        violations.push(violation("[lints] must say `workspace = true`".to_owned()));
    }
    let targets = section("target").into_iter().flat_map(Table::values);
    let tables = std::iter::once(&manifest).chain(targets.filter_map(Value::as_table));
    for table in tables {
        for kind in DEPENDENCY_TABLES {
            for (name, value) in table
                .get(kind)
                .and_then(Value::as_table)
                .into_iter()
                .flatten()
            {
                if !inherits(Some(value)) {
                    violations.push(violation(format!(
                        "[{kind}] `{name}` must be inherited: `{name}.workspace = true`"
                    )));
                }
            }
        }
    }
    violations
}

fn inherits(value: Option<&Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(Value::as_bool)
        == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::sample::messages;
    use super::*;

    const GOOD: &str = r#"
[package]
name = "windlass-engine"
description = "Runs"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true

[lints]
workspace = true

[dependencies]
serde.workspace = true
tokio = { workspace = true, features = ["fs"] }
"#;

    fn found(name: &str, folder: &str, manifest: &str) -> Vec<String> {
        messages(&check(&[Crate {
            name: name.into(),
            folder: folder.into(),
            layer: None,
            manifest: manifest.into(),
            dependencies: Vec::new(),
        }]))
    }

    #[test]
    fn a_manifest_that_inherits_everything_is_fine() {
        assert!(found("windlass-engine", "windlass-engine", GOOD).is_empty());
    }

    #[test]
    fn each_deviation_is_named() {
        let cases = [
            (
                "edition.workspace = true",
                "edition = \"2021\"",
                "[package] must say `edition.workspace = true`",
            ),
            (
                "description = \"Runs\"",
                "",
                "[package] needs a `description`",
            ),
            (
                "[lints]\nworkspace = true",
                "[lints.rust]",
                "[lints] must say `workspace = true`",
            ),
            (
                "serde.workspace = true",
                "serde = \"1\"",
                "[dependencies] `serde` must be inherited: `serde.workspace = true`",
            ),
            (
                "[dependencies]",
                "[target.'cfg(unix)'.dev-dependencies]\nlibc = \"0.2\"",
                "[dev-dependencies] `libc` must be inherited: `libc.workspace = true`",
            ),
        ];
        for (from, to, message) in cases {
            let manifest = GOOD.replace(from, to);
            assert_ne!(manifest, GOOD, "{from}");
            assert_eq!(
                found("windlass-engine", "windlass-engine", &manifest),
                [format!("crates/windlass-engine/Cargo.toml: {message}")]
            );
        }
    }

    #[test]
    fn names_and_folders_agree() {
        assert_eq!(
            found("windlass-engine", "engine", GOOD),
            [
                "crates/engine/Cargo.toml: the crate `windlass-engine` must live in \
                 crates/windlass-engine"
            ]
        );
        assert_eq!(
            found("motor", "motor", GOOD),
            ["crates/motor/Cargo.toml: the crate `motor` must be named windlass-<noun>"]
        );
        assert!(found("windlass", "windlass", GOOD).is_empty());
    }

    #[test]
    fn broken_toml_is_reported_once() {
        let found = found("windlass", "windlass", "[package");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/windlass/Cargo.toml: not valid TOML"));
    }
}
