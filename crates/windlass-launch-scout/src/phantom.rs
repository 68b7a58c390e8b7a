//! Paths that documents speak of and that do not exist: examples, samples, demos and
//! documentation that were moved or never written.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;
use windlass_launch_model::inventory::PhantomPath;

use crate::{
    input::ScoutInput,
    kind::{Use, folder, use_of},
    tree::Tree,
};

static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:\.{1,2}/)*(?:[A-Za-z0-9_][\w.-]*/)*(?:examples?|samples?|demos?|docs?|documentation)/[\w./-]*",
    )
    .ok()
});

/// Looks for such paths in READMEs and documentation; sorted.
pub(crate) fn phantom_paths(tree: &Tree, input: &ScoutInput) -> Vec<PhantomPath> {
    let Some(reference) = REFERENCE.as_ref() else {
        return Vec::new();
    };
    let mut found = BTreeSet::new();
    for (path, text) in tree.texts() {
        if !matches!(use_of(path, input), Use::Readme | Use::Docs) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            for hit in reference.find_iter(line) {
                if is_part_of_more(line, hit.start()) {
                    continue;
                }
                let claimed = hit.as_str().trim_end_matches(['.', '/', '-']);
                if !exists(tree, path, claimed) {
                    found.insert(PhantomPath {
                        claimed_path: claimed.trim_start_matches("./").to_owned(),
                        source_file: path.to_owned(),
                        source_line: index as u64 + 1,
                    });
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Whether the reference only begins here because the pattern does: it is the tail of an address,
/// of a home path or of a longer word.
fn is_part_of_more(line: &str, start: usize) -> bool {
    let before = &line[..start];
    let word_start = before
        .rfind(|c: char| c.is_whitespace() || "()[]<>\"'`".contains(c))
        .map_or(0, |at| at + 1);
    let head = before.get(word_start..).unwrap_or_default();
    head.contains("://") || head.ends_with(|c: char| c.is_alphanumeric() || "/@~$.-_".contains(c))
}

fn exists(tree: &Tree, source: &str, claimed: &str) -> bool {
    let candidates: Vec<String> = [normalise("", claimed), normalise(folder(source), claimed)]
        .into_iter()
        .flatten()
        .collect();
    // A path that leaves the repository is none of ours to judge. Documentation names pages
    // without their ending.
    candidates.is_empty()
        || candidates
            .iter()
            .any(|path| tree.exists(path) || tree.exists(&format!("{path}.md")))
}

/// A path with `.` and `..` resolved; `None` when it leaves the root.
fn normalise(base: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_addresses_and_words_are_no_references() {
        for (line, phantom) in [
            ("See examples/gone.py.", Some("examples/gone.py")),
            ("See [x](./docs/gone.md)", Some("docs/gone.md")),
            ("see https://x.dev/docs/gone.md", None),
            ("in ~/docs/gone.md", None),
            ("`pkg/examples/gone.rs`", Some("pkg/examples/gone.rs")),
            ("mydocs/gone.md", None),
            ("see README and docs", None),
        ] {
            let mut tree = Tree::default();
            tree.files.insert(
                "README.md".to_owned(),
                crate::tree::File {
                    size: 0,
                    digest: windlass_types::Digest::ZERO,
                    binary: false,
                    text: Some(line.into()),
                },
            );
            let found = phantom_paths(&tree, &crate::test_input());
            let claimed = found.first().map(|path| path.claimed_path.as_str());
            assert_eq!(claimed, phantom, "{line}");
        }
    }

    #[test]
    fn dots_are_resolved_and_the_root_is_not_left() {
        assert_eq!(normalise("docs", "../a/./b").as_deref(), Some("a/b"));
        assert_eq!(normalise("docs", "../../a"), None);
    }
}
