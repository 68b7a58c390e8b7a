//! Features that configuration files of others may use and Windlass does not have.
//!
//! The list is the table of one page, so what people read and what questions get is the same.

use crate::{chunk::Passage, page::Page, words::words};

const PAGE: &str = "stack/concept/unsupported-features.md";

/// A feature that is not there.
#[derive(Debug)]
pub(crate) struct Feature<'a> {
    pub page: &'a Page,
    pub anchor: &'a str,
    /// As it is written in a config file.
    pub name: &'a str,
    /// What else people call it, joined and in lower case.
    aliases: Vec<String>,
    /// The type that comes nearest.
    pub nearest: &'a str,
    /// How that type serves the purpose.
    pub advice: &'a str,
}

/// The feature that a question names, if it names one.
pub(crate) fn named<'a>(pages: &'a [Page], question: &str) -> Option<Feature<'a>> {
    let asked: Vec<String> = words(question).into_iter().map(|word| word.text).collect();
    features(pages)
        .filter_map(|feature| {
            let longest = feature
                .aliases
                .iter()
                .filter(|alias| {
                    (1..=3).any(|length| {
                        asked
                            .windows(length)
                            .any(|window| window.concat() == **alias)
                    })
                })
                .map(String::len)
                .max()?;
            Some((longest, feature))
        })
        .max_by_key(|(longest, _)| *longest)
        .map(|(_, feature)| feature)
}

/// Every feature of the table.
pub(crate) fn features(pages: &[Page]) -> impl Iterator<Item = Feature<'_>> {
    pages
        .iter()
        .filter(|page| page.path == PAGE)
        .flat_map(|page| page.chunks.iter().map(move |chunk| (page, chunk)))
        .flat_map(|(page, chunk)| {
            chunk
                .passages
                .iter()
                .filter_map(move |passage| match passage {
                    Passage::Statement(row) => feature(page, &chunk.anchor, row),
                    Passage::Code(_) => None,
                })
        })
}

/// A row: `name`; also called: a, b; nearest: `type`; how: advice.
fn feature<'a>(page: &'a Page, anchor: &'a str, row: &'a str) -> Option<Feature<'a>> {
    let (name, rest) = row.split_once("; also called: ")?;
    let (called, rest) = rest.split_once("; nearest: ")?;
    let (nearest, advice) = rest.split_once("; how: ")?;
    let name = name.trim_matches('`');
    let aliases = std::iter::once(name)
        .chain(called.split(", "))
        .map(|alias| {
            words(alias)
                .into_iter()
                .map(|word| word.text)
                .collect::<String>()
        })
        .filter(|alias| !alias.is_empty())
        .collect();
    Some(Feature {
        page,
        anchor,
        name,
        aliases,
        nearest: nearest.trim_matches('`'),
        advice,
    })
}
