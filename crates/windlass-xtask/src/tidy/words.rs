//! Strings that must not be in the tree: paths of one machine, hosts of registries, and words
//! that no engineer would write today.
//!
//! The patterns are written in halves so that this file does not match itself.

use super::{SourceFile, Violation};

const MACHINE_PATH: &str = "a path of one machine";
const REGISTRY_HOST: &str = "the host of a package registry";

const FORBIDDEN: [(&str, &str); 12] = [
    (concat!("/work", "/main"), MACHINE_PATH),
    (concat!("/work", "/shared"), MACHINE_PATH),
    (concat!("shared", "/reference"), MACHINE_PATH),
    (concat!("shared", "/contracts"), MACHINE_PATH),
    (concat!("/root", "/."), MACHINE_PATH),
    (concat!("/tmp", "/bash_jobs"), MACHINE_PATH),
    (concat!("/tmp", "/house"), MACHINE_PATH),
    (concat!("registry", ".npmjs"), REGISTRY_HOST),
    (concat!("index", ".crates.io"), REGISTRY_HOST),
    (concat!("static", ".crates.io"), REGISTRY_HOST),
    (concat!("pypi", ".org"), REGISTRY_HOST),
    (concat!("pythonhosted", ".org"), REGISTRY_HOST),
];

/// Words and phrases that read as if translated, and what to write instead. Whole words, in any
/// case.
const ARCHAIC: [(&str, &str); 17] = [
    (concat!("an", "ew"), "again"),
    (concat!("a", "fresh"), "again"),
    (concat!("me", "nd"), "fix"),
    (concat!("me", "nds"), "fixes"),
    (concat!("me", "nded"), "fixed"),
    (concat!("me", "nding"), "fixing"),
    (
        concat!("some", "body"),
        "who it is: the caller, another process",
    ),
    (concat!("all the", " same"), "anyway"),
    (concat!("did not end", " well"), "failed"),
    (concat!("goes", " along"), "is included"),
    (concat!("is not", " through"), "has not passed"),
    (concat!("was not", " through"), "had not passed"),
    (concat!("takes you", " for"), "says who you are"),
    (concat!("who", "ever"), "anyone who, no matter who"),
    (concat!("is at", " work on"), "is changing"),
    (concat!("put in", " between"), "inserted"),
    (concat!("gates are", " content"), "gates pass"),
];

/// A number that only this repository's own plans give a meaning.
const PLAN_NUMBER: [&str; 2] = [concat!("contract", " 0"), concat!("contracts", " 0")];

/// Text that is data: words that people use in their specifications.
const DATA: [&str; 3] = [
    "crates/windlass-pipeline-design/src/spec/",
    "crates/windlass-pipeline-design/tests/",
    "examples/",
];

/// Looks at every text file.
pub fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        for (index, line) in text.lines().enumerate() {
            for (pattern, what) in FORBIDDEN {
                if line.contains(pattern) {
                    violations.push(Violation::new(
                        format!("{}:{}", file.path, index + 1),
                        format!("`{pattern}` is {what} and must not be in the tree"),
                    ));
                }
            }
            if !is_prose(&file.path) {
                continue;
            }
            let lower = line.to_lowercase();
            if is_document(&file.path) && PLAN_NUMBER.iter().any(|number| lower.contains(number)) {
                violations.push(Violation::new(
                    format!("{}:{}", file.path, index + 1),
                    "the number of a contract says nothing to a reader; name the surface or the capability",
                ));
            }
            for (pattern, instead) in ARCHAIC {
                if has_word(&lower, pattern) {
                    violations.push(Violation::new(
                        format!("{}:{}", file.path, index + 1),
                        format!("`{pattern}` is not plain English; write {instead}"),
                    ));
                }
            }
        }
    }
    violations
}

/// Whether users read a file.
fn is_document(path: &str) -> bool {
    path == "README.md"
        || ["docs/", "schemas/"]
            .iter()
            .any(|folder| path.starts_with(folder))
}

fn is_prose(path: &str) -> bool {
    let is_read = [".rs", ".md", ".json", ".toml"]
        .iter()
        .any(|end| path.ends_with(end));
    is_read && !DATA.iter().any(|data| path.starts_with(data))
}

/// Whether a text has the word, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !is_letter(before) && !is_letter(after)
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages};
    use super::*;

    #[test]
    fn each_pattern_is_found_with_its_line() {
        for (pattern, what) in FORBIDDEN {
            let text = format!("first\nsee {pattern}/x\n");
            assert_eq!(
                messages(&check(&[file("docs/a.md", &text)])),
                [format!(
                    "docs/a.md:2: `{pattern}` is {what} and must not be in the tree"
                )]
            );
        }
    }

    #[test]
    fn archaic_words_are_found_whole_and_in_any_case() {
        for (pattern, instead) in ARCHAIC {
            let text = format!("first\nIt {} here.\n", pattern.to_uppercase());
            let message = format!("docs/a.md:2: `{pattern}` is not plain English; write {instead}");
            assert_eq!(messages(&check(&[file("docs/a.md", &text)])), [message]);
            assert!(check(&[file("examples/a.md", &text)]).is_empty());
            let longer = format!("x{pattern}x\n");
            assert!(check(&[file("docs/a.md", &longer)]).is_empty());
        }
    }

    #[test]
    fn users_do_not_read_the_numbers_of_contracts() {
        let text = format!(
            "first\nThe answers of {}04 do.\n",
            PLAN_NUMBER[0].to_uppercase()
        );
        let message = "docs/a.md:2: the number of a contract says nothing to a reader; \
                       name the surface or the capability";
        assert_eq!(messages(&check(&[file("docs/a.md", &text)])), [message]);
        assert!(check(&[file("crates/a/src/lib.rs", &text)]).is_empty());
        assert!(check(&[file("docs/a.md", "The contract has 4 parts.\n")]).is_empty());
    }

    #[test]
    fn ordinary_text_is_fine() {
        let text = "https://crates.io/crates/serde and /tmp/windlass and /work";
        assert!(check(&[file("docs/a.md", text)]).is_empty());
    }
}
