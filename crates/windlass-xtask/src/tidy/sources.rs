//! Rules about single source files: module doc, length, ignored tests, loose ends.
//!
//! Not here: formatting and lints, which rustfmt and clippy own.

use super::{SourceFile, Violation};

/// Above this a file must say why it is long.
const LONG: usize = 600;
/// Above this a file must be split.
const TOO_LONG: usize = 1000;
/// The phrase that a long file's module doc carries.
const EXCUSE: &str = "Long because";
/// Generated files carry this and may be any length.
const GENERATED: &str = concat!("@", "generated");
/// Words that mark unfinished work, split so that this file does not match itself.
const LOOSE_ENDS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Checks every Rust file of the crates and the fuzz targets, and the length of all scripts.
pub fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        let is_rust = file.path.ends_with(".rs")
            && (file.path.starts_with("crates/") || file.path.starts_with("fuzz/"));
        let is_script = [".py", ".sh", ".js"]
            .iter()
            .any(|ending| file.path.ends_with(ending));
        if is_rust {
            violations.extend(module_doc(&file.path, text));
            violations.extend(lines_to_avoid(&file.path, text));
        }
        if is_rust || is_script {
            violations.extend(length(&file.path, text));
        }
    }
    violations
}

fn module_doc(path: &str, text: &str) -> Option<Violation> {
    let documented = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .is_some_and(|line| line.starts_with("//!") && line.len() > "//! ".len());
    (!documented).then(|| {
        Violation::new(
            path,
            "the file must open with a `//!` module doc: what it is, what it is not, who calls it",
        )
    })
}

fn length(path: &str, text: &str) -> Option<Violation> {
    let count = text.lines().count();
    let head: Vec<&str> = text.lines().take(30).collect();
    if head.iter().any(|line| line.contains(GENERATED)) {
        return None;
    }
    if count > TOO_LONG {
        return Some(Violation::new(
            path,
            format!("{count} lines; split the file, {TOO_LONG} is the limit"),
        ));
    }
    let excused = head
        .iter()
        .any(|line| (line.starts_with("//!") || line.starts_with('#')) && line.contains(EXCUSE));
    (count > LONG && !excused).then(|| {
        Violation::new(
            path,
            format!("{count} lines; split the file or say `{EXCUSE} …` in its module doc"),
        )
    })
}

fn lines_to_avoid(path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", index + 1);
        if line.trim_start().starts_with("#[ignore") {
            violations.push(Violation::new(
                place.clone(),
                "an ignored test proves nothing; fix it or remove it",
            ));
        }
        let words = line.split(|c: char| !c.is_ascii_alphanumeric());
        for word in words.filter(|word| LOOSE_ENDS.contains(word)) {
            violations.push(Violation::new(
                place.clone(),
                format!("`{word}` marks unfinished work; finish it or record it in the tracker"),
            ));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages};
    use super::*;

    const PATH: &str = "crates/windlass-types/src/ids.rs";

    fn found(path: &str, text: &str) -> Vec<String> {
        messages(&check(&[file(path, text)]))
    }

    #[test]
    fn a_rust_file_opens_with_a_module_doc() {
        let cases = [
            ("//! Typed ids.\n", true),
            ("\n//! Typed ids.\n", true),
            ("//!\n//! Typed ids.\n", false),
            ("// Typed ids.\n", false),
            ("use std::fmt;\n//! Late.\n", false),
            ("", false),
        ];
        for (text, good) in cases {
            assert_eq!(found(PATH, text).is_empty(), good, "{text:?}");
        }
        assert!(found("docs/example.rs", "fn main() {}").is_empty());
    }

    #[test]
    fn long_files_need_a_reason_and_have_a_limit() {
        let lines = |count: usize, head: &str| format!("{head}{}", "\n".repeat(count));
        let excused = "//! Ids.\n//! Long because one table belongs together.\n";
        let cases = [
            (lines(599, "//! Ids.\n"), None),
            (
                lines(600, "//! Ids.\n"),
                Some("601 lines; split the file or say"),
            ),
            (lines(900, excused), None),
            (
                lines(1000, excused),
                Some("1002 lines; split the file, 1000 is the limit"),
            ),
            (lines(2000, &format!("//! {GENERATED} by xtask.\n")), None),
        ];
        for (text, expected) in cases {
            let found = found(PATH, &text);
            match expected {
                None => assert!(found.is_empty(), "{found:?}"),
                Some(part) => assert!(found.len() == 1 && found[0].contains(part), "{found:?}"),
            }
        }
    }

    #[test]
    fn scripts_have_a_length_limit_but_no_module_doc() {
        assert!(found("crates/windlass-xtask/harness/a.py", "x = 1\n").is_empty());
        assert_eq!(found("scripts/a.sh", &"\n".repeat(1001)).len(), 1);
    }

    #[test]
    fn ignored_tests_and_loose_ends_are_named_with_their_line() {
        let text = format!(
            "//! Ids.\n    #[ignore = \"slow\"]\n// {}: later\n// a method is fine\n",
            LOOSE_ENDS[0]
        );
        let found = found(PATH, &text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/windlass-types/src/ids.rs:2: an ignored test"));
        assert!(found[1].starts_with("crates/windlass-types/src/ids.rs:3: "));
    }
}
