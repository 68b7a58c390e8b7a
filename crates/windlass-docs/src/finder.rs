//! The same ranking over entries that are no pages: tools, by what a caller wants to do.
//!
//! Entries are few and short, so the index is built for each question. Not here: other names of
//! an entry, which come with it.

use std::collections::BTreeMap;

use crate::{
    chunk::{Chunk, Passage},
    concepts::concepts,
    index::Index,
    page::{DocType, Page},
    rank::rank,
};

/// Something that can be found.
#[derive(Clone, Copy, Debug)]
pub struct FinderEntry<'a> {
    /// Its name: unique among the entries.
    pub name: &'a str,
    /// Its title.
    pub title: &'a str,
    /// What people say when they look for it.
    pub words: &'a [String],
    /// What it does.
    pub text: &'a str,
}

/// The places of the entries that fit a question, best first. The same question always finds the
/// same; one without a word of any entry finds nothing.
pub fn find(entries: &[FinderEntry<'_>], question: &str) -> Vec<usize> {
    let pages: Vec<Page> = entries.iter().map(page).collect();
    let index = Index::build(&pages);
    let concepts = concepts(question, index.vocabulary());
    let hits = index.search(&concepts, None);
    let ranked = rank(&index, question, &concepts, hits);
    let place = |path: &str| entries.iter().position(|entry| entry.name == path);
    ranked
        .iter()
        .filter_map(|hit| place(&index.entry(hit).page.path))
        .collect()
}

fn page(entry: &FinderEntry<'_>) -> Page {
    let mut tags = entry.words.to_vec();
    tags.push(entry.name.to_owned());
    Page {
        path: entry.name.to_owned(),
        title: entry.title.to_owned(),
        doc_type: DocType::CliRef,
        resource_type: None,
        tags,
        priority: 2,
        errors: BTreeMap::new(),
        chunks: vec![Chunk {
            heading: entry.title.to_owned(),
            parents: Vec::new(),
            anchor: String::new(),
            passages: vec![Passage::Statement(entry.text.to_owned())],
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_what_they_are_called_and_by_other_words() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let (undo, send) = (
            words(&["undo a deployment", "go back to the version before"]),
            words(&[]),
        );
        let entry = |name, title, words, text| FinderEntry {
            name,
            title,
            words,
            text,
        };
        let entries = [
            entry("rollback", "Roll back", &undo[..], "Restores a snapshot."),
            entry("deploy", "Deploy", &send[..], "Writes files."),
            entry("status", "Show drift", &send[..], "Compares files."),
        ];
        for (question, expected) in [
            ("undo the last deployment", &[0, 1][..]),
            ("version from before", &[0]),
            ("ship it", &[1]),
            ("rolback", &[0]),
            ("which files are there", &[1, 2]),
            ("bake bread", &[]),
            ("", &[]),
        ] {
            assert_eq!(find(&entries, question), expected, "{question}");
        }
    }
}
