//! Tables that say which test holds what: every test they name is there.
//!
//! Read are the tables below a heading that says so. A name is a test function, or a module of
//! tests; the crates that follow it say where.

use super::{SourceFile, Violation};

const DOCUMENTS: [&str; 2] = ["SECURITY.md", "docs/operating.md"];
const HEADINGS: [&str; 2] = ["## Held by tests", "## Tests of these guarantees"];

/// Reports tests that are named and do not exist, and documents without such a table.
pub fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for document in DOCUMENTS {
        let text = files
            .iter()
            .find(|file| file.path == document)
            .and_then(|file| file.text.as_deref())
            .unwrap_or_default();
        let mut is_held = false;
        let mut rows = 0;
        for (index, line) in text.lines().enumerate() {
            if line.starts_with('#') {
                is_held = HEADINGS.contains(&line);
            }
            let Some(cell) = last_cell(line).filter(|_| is_held) else {
                continue;
            };
            rows += 1;
            for (name, owner) in named(cell) {
                if !exists(files, name, owner) {
                    violations.push(Violation::new(
                        format!("{document}:{}", index + 1),
                        format!("no test or module of tests in `{owner}` is called `{name}`"),
                    ));
                }
            }
        }
        if rows == 0 {
            let message = format!("has no table below {:?}", HEADINGS.join(" or "));
            violations.push(Violation::new(document, message));
        }
    }
    violations
}

/// The last cell of a table's row; none for its head and its line.
fn last_cell(line: &str) -> Option<&str> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cell = row.rsplit('|').next()?.trim();
    cell.contains('`').then_some(cell)
}

/// Tests with the crate each is in. Names stand before their crates, several before several.
fn named(cell: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let (mut names, mut owners) = (Vec::new(), Vec::new());
    let quoted = cell.split('`').skip(1).step_by(2);
    // Commands have spaces.
    for word in quoted.filter(|word| !word.contains(' ')) {
        if word == "windlass" || word.starts_with("windlass-") {
            owners.push(word);
            found.extend(names.iter().map(|name| (*name, word)));
            continue;
        }
        if !owners.is_empty() {
            owners.clear();
            names.clear();
        }
        names.push(word);
    }
    found
}

fn exists(files: &[SourceFile], name: &str, owner: &str) -> bool {
    let folder = format!("crates/{owner}/");
    let file = format!("/{}.rs", name.trim_end_matches(".rs"));
    let module = format!("/{name}/mod.rs");
    let function = format!("fn {name}(");
    files
        .iter()
        .filter(|own| own.path.starts_with(&folder) && own.path.ends_with(".rs"))
        .any(|own| {
            let text = own.text.as_deref().unwrap_or_default();
            let is_module = own.path.ends_with(&file) || own.path.ends_with(&module);
            let has_tests = text.contains("#[test]") || text.contains("::test");
            (is_module && (has_tests || own.path.ends_with("mod.rs"))) || text.contains(&function)
        })
}

#[cfg(test)]
mod tests {
    use super::{
        super::sample::{file, messages},
        *,
    };

    #[test]
    fn every_named_test_is_there() {
        let table = |cell: &str| {
            format!("# X\n\n## Held by tests\n\n| what | tests |\n| --- | --- |\n| a | {cell} |\n")
        };
        let code = |path: &str, name: &str| file(path, &format!("#[test]\nfn {name}() {{}}\n"));
        let tree = |cell: &str| {
            vec![
                file("SECURITY.md", &table(cell)),
                file("docs/operating.md", &table("`links` in `windlass`")),
                code("crates/windlass/tests/suite/links.rs", "one"),
                code("crates/windlass-pack/tests/suite/links.rs", "two"),
                code("crates/windlass-git/tests/suite/deep/links.rs", "three"),
                file(
                    "crates/windlass-pack/tests/suite/support.rs",
                    "fn help() {}",
                ),
            ]
        };
        for good in [
            "`links` in `windlass-pack` and `windlass`; `three` in `windlass-git`",
            "`deep/links` and `links` in `windlass-git`, `one` in `windlass`",
            "`two` in `windlass-pack`; `cargo xtask bench secrets` prints it",
        ] {
            assert_eq!(messages(&check(&tree(good))), [""; 0], "{good}");
        }
        let gone = messages(&check(&tree(
            "`one` in `windlass-pack`; `links`, `four` in `windlass-git`; `support` in `windlass-pack`",
        )));
        let missing = |owner: &str, name: &str| {
            format!("SECURITY.md:7: no test or module of tests in `{owner}` is called `{name}`")
        };
        assert_eq!(
            gone,
            [
                missing("windlass-pack", "one"),
                missing("windlass-git", "four"),
                missing("windlass-pack", "support"),
            ]
        );
        assert_eq!(check(&[]).len(), 2);
    }
}
