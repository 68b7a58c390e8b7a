//! Paths that documents mention and that do not exist: examples, samples, demos and
//! documentation that were moved or never written.
//!
//! A path is found by its first folder wherever it is written, and by a link wherever that leads.

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use regex::Regex;
use windlass_launch_model::{inventory::PhantomPath, site_path::resolve};

use crate::{
    input::ScoutInput,
    kind::{Use, folder, is_docs_examples_or_tests, is_document, use_of},
    tree::Tree,
};

static LINK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\]\(\s*<?([^\s()<>]+)>?(?:\s+["'(][^)]*)?\s*\)"#).ok());

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
        let mut in_fence = false;
        for (index, line) in text.lines().enumerate() {
            let mut report = |claimed_path: String| {
                found.insert(PhantomPath {
                    claimed_path,
                    source_file: path.to_owned(),
                    source_line: index as u64 + 1,
                });
            };
            let start = line.trim_start();
            in_fence ^= start.starts_with("```") || start.starts_with("~~~");
            let mut rest = line.to_owned();
            for (range, target) in links(line).into_iter().rev().filter(|_| !in_fence) {
                if let Some(missing) = missing_target(tree, path, &target) {
                    report(missing);
                }
                rest.replace_range(range, " ");
            }
            for hit in reference.find_iter(&rest) {
                if is_part_of_more(&rest, hit.start()) {
                    continue;
                }
                let claimed = hit.as_str().trim_end_matches(['.', '/', '-']);
                if !exists(tree, path, claimed) {
                    report(claimed.trim_start_matches("./").to_owned());
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Where the targets of links stand in a line, and what they are.
fn links(line: &str) -> Vec<(Range<usize>, String)> {
    let Some(link) = LINK.as_ref() else {
        return Vec::new();
    };
    link.captures_iter(line)
        .filter_map(|hit| hit.get(1))
        .map(|target| (target.range(), target.as_str().replace("%20", " ")))
        .collect()
}

/// The path a relative link leads to, from the root, when it is a document or lies among
/// documentation or examples and is not there.
fn missing_target(tree: &Tree, source: &str, target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    if path.is_empty() || path.starts_with('/') || path.contains([':', '\\', '{', '$']) {
        return None;
    }
    let resolved = resolve(folder(source), path)?;
    let counts = is_document(&resolved) || is_docs_examples_or_tests(&resolved);
    (counts && !exists(tree, source, path)).then_some(resolved)
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
    let candidates: Vec<String> = [resolve("", claimed), resolve(folder(source), claimed)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_urls_and_words_are_not_references() {
        for (line, phantom) in [
            ("See examples/gone.py.", Some("examples/gone.py")),
            ("See [x](./docs/gone.md)", Some("docs/gone.md")),
            ("see https://x.dev/docs/gone.md", None),
            ("in ~/docs/gone.md", None),
            ("`pkg/examples/gone.rs`", Some("pkg/examples/gone.rs")),
            ("mydocs/gone.md", None),
            ("see README and docs", None),
            (
                "[Migration](migration/from-1.x.md)",
                Some("migration/from-1.x.md"),
            ),
            (
                "[Migration](migration/from-1.x.md#new \"New\")",
                Some("migration/from-1.x.md"),
            ),
            ("[Docs](docs/gone.md)", Some("docs/gone.md")),
            ("[Readme](README.md#top)", None),
            ("[Site](https://x.dev/migration.md)", None),
            ("[Here](#migration)", None),
            ("[Mail](mailto:a@x.dev)", None),
            ("[Up](../other/notes.md)", None),
            ("[Picture](gone.png)", None),
            ("![Picture](docs/gone.png)", Some("docs/gone.png")),
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
    fn links_are_resolved_relative_to_their_file() {
        let mut tree = Tree::default();
        for (path, text) in [
            (
                "docs/index.md",
                "* [A](a.md)\n* [B](sub/b.md)\n```\n[C](c.md)\n```\n",
            ),
            ("docs/a.md", "Text."),
        ] {
            let file = crate::tree::File {
                size: 0,
                digest: windlass_types::Digest::ZERO,
                binary: false,
                text: Some(text.into()),
            };
            tree.files.insert(path.to_owned(), file);
        }
        let found = phantom_paths(&tree, &crate::test_input());
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.claimed_path.as_str(), one.source_line))
            .collect();
        assert_eq!(found, [("docs/sub/b.md", 2)]);
    }
}
