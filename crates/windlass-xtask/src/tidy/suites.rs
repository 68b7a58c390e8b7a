//! Integration tests: one binary per crate, and every file of its suite is in it.
//!
//! A file that `tests/all.rs` does not declare is never compiled, so its tests pass
//! by not running. Not here: unit tests, which the compiler reaches through `mod`.

use std::collections::BTreeSet;

use super::{SourceFile, Violation};

/// Reports undeclared suite files and additional test binaries.
pub fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some((package, inside)) = split(&file.path) else {
            continue;
        };
        if let Some(name) = inside.strip_prefix("suite/").and_then(module_name) {
            if !declared(files, package).contains(name) {
                violations.push(Violation::new(
                    &file.path,
                    format!(
                        "not part of any test: declare `mod {name};` in {package}/tests/all.rs"
                    ),
                ));
            }
        } else if inside.ends_with(".rs") && !inside.contains('/') && inside != "all.rs" {
            violations.push(Violation::new(
                &file.path,
                format!("a second test binary costs a link; move it to {package}/tests/suite"),
            ));
        }
    }
    violations
}

/// `crates/x/tests/suite/a.rs` → (`crates/x`, `suite/a.rs`).
fn split(path: &str) -> Option<(&str, &str)> {
    let (package, inside) = path.split_once("/tests/")?;
    let name = package.strip_prefix("crates/")?;
    (!name.contains('/')).then_some((package, inside))
}

/// The module that a file below `suite/` is: `a.rs` and `a/mod.rs` are both `a`.
fn module_name(inside: &str) -> Option<&str> {
    let stem = inside
        .strip_suffix("/mod.rs")
        .or_else(|| inside.strip_suffix(".rs"))?;
    (!stem.contains('/') && stem != "mod").then_some(stem)
}

fn declared<'a>(files: &'a [SourceFile], package: &str) -> BTreeSet<&'a str> {
    let roots = [
        format!("{package}/tests/all.rs"),
        format!("{package}/tests/suite/mod.rs"),
    ];
    files
        .iter()
        .filter(|file| roots.contains(&file.path))
        .filter_map(|file| file.text.as_deref())
        .flat_map(str::lines)
        .filter_map(|line| {
            let line = line.trim();
            let line = line.strip_prefix("pub ").unwrap_or(line);
            line.strip_prefix("mod ")?.strip_suffix(';')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages};
    use super::*;

    #[test]
    fn every_suite_file_is_declared() {
        let all = "//! Tests.\nmod suite {\n    mod resume;\n    pub mod kill;\n}\n";
        let files = [
            file("crates/windlass-engine/tests/all.rs", all),
            file("crates/windlass-engine/tests/suite/resume.rs", ""),
            file("crates/windlass-engine/tests/suite/kill/mod.rs", ""),
            file("crates/windlass-engine/tests/suite/kill/cases.rs", ""),
            file("crates/windlass-engine/tests/suite/lost.rs", ""),
            file("crates/windlass-mcp/tests/suite/resume.rs", ""),
        ];
        assert_eq!(
            messages(&check(&files)),
            [
                "crates/windlass-engine/tests/suite/lost.rs: not part of any test: declare \
                 `mod lost;` in crates/windlass-engine/tests/all.rs",
                "crates/windlass-mcp/tests/suite/resume.rs: not part of any test: declare \
                 `mod resume;` in crates/windlass-mcp/tests/all.rs",
            ]
        );
    }

    #[test]
    fn a_suite_may_be_declared_in_its_own_mod_file() {
        let files = [
            file("crates/windlass-engine/tests/all.rs", "mod suite;"),
            file("crates/windlass-engine/tests/suite/mod.rs", "mod resume;"),
            file("crates/windlass-engine/tests/suite/resume.rs", ""),
        ];
        assert!(check(&files).is_empty());
    }

    #[test]
    fn there_is_one_test_binary() {
        let files = [
            file("crates/windlass-engine/tests/all.rs", ""),
            file("crates/windlass-engine/tests/extra.rs", ""),
            file("crates/windlass-engine/tests/data/sample.rs", ""),
            file("crates/windlass-engine/src/tests/x.rs", ""),
        ];
        assert_eq!(
            messages(&check(&files)),
            [
                "crates/windlass-engine/tests/extra.rs: a second test binary costs a link; move it \
                 to crates/windlass-engine/tests/suite"
            ]
        );
    }
}
