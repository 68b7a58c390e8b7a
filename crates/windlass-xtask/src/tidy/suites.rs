//! Integration tests: one binary per crate, and every file of its suite is in it.
//!
//! A file that neither `tests/all.rs` nor the `mod.rs` of its folder declares is never compiled,
//! so its tests pass by not running. Not here: unit tests, which the compiler reaches through `mod`.

use std::collections::BTreeSet;

use super::{SourceFile, Violation};

/// Reports undeclared suite files and additional test binaries.
pub fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some((package, inside)) = split(&file.path) else {
            continue;
        };
        if let Some((folder, name)) = module(inside) {
            let roots = roots(package, folder);
            if !declared(files, &roots).contains(name) {
                violations.push(Violation::new(
                    &file.path,
                    format!(
                        "not part of any test: declare `mod {name};` in {}",
                        roots[0]
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

/// The folder and the name of the module that a file in `suite/` is: `a.rs` and `a/mod.rs` are
/// both `a`.
fn module(inside: &str) -> Option<(&str, &str)> {
    if !inside.starts_with("suite/") || inside == "suite/mod.rs" {
        return None;
    }
    inside
        .strip_suffix("/mod.rs")
        .or_else(|| inside.strip_suffix(".rs"))?
        .rsplit_once('/')
}

/// The files that may declare the modules of a folder.
fn roots(package: &str, folder: &str) -> [String; 2] {
    let own = format!("{package}/tests/{folder}/mod.rs");
    if folder == "suite" {
        [format!("{package}/tests/all.rs"), own]
    } else {
        [own, format!("{package}/tests/{folder}.rs")]
    }
}

fn declared<'a>(files: &'a [SourceFile], roots: &[String]) -> BTreeSet<&'a str> {
    files
        .iter()
        .filter(|file| roots.contains(&file.path))
        .filter_map(|file| file.text.as_deref())
        .flat_map(str::lines)
        .filter_map(|line| {
            let (visibility, name) = line.trim().strip_suffix(';')?.rsplit_once("mod ")?;
            (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
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
            file(
                "crates/windlass-engine/tests/suite/kill/mod.rs",
                "pub(crate) mod cases;",
            ),
            file("crates/windlass-engine/tests/suite/kill/cases.rs", ""),
            file("crates/windlass-engine/tests/suite/kill/lost.rs", ""),
            file("crates/windlass-engine/tests/suite/lost.rs", ""),
            file("crates/windlass-mcp/tests/suite/resume.rs", ""),
        ];
        assert_eq!(
            messages(&check(&files)),
            [
                "crates/windlass-engine/tests/suite/kill/lost.rs: not part of any test: declare \
                 `mod lost;` in crates/windlass-engine/tests/suite/kill/mod.rs",
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
