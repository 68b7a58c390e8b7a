//! What configuration files of others may use, or people ask for, and Windlass does not have.
//!
//! The list is the tables of one page, so what people read and what questions get is the same.

use crate::{chunk::Passage, page::Page, words::words};

const PAGE: &str = "stack/concept/unsupported-features.md";

/// In words.
const LONGEST_ALIAS: usize = 4;

/// A feature that is not there.
#[derive(Debug)]
pub(crate) struct Feature<'a> {
    pub page: &'a Page,
    pub anchor: &'a str,
    /// As it is written in a config file.
    pub name: &'a str,
    /// What else people call it, joined and in lower case.
    aliases: Vec<String>,
    pub nearest: Nearest<'a>,
    /// What to do instead.
    pub advice: &'a str,
}

/// What comes closest to a feature that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nearest<'a> {
    /// A resource type.
    Type(&'a str),
    /// A page, by its path: no type of the config is meant.
    Page(&'a str),
}

impl Feature<'_> {
    /// Whether it is not about what a config can hold: another cloud, another system, a program.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self.nearest, Nearest::Page(_))
    }
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
                    (1..=LONGEST_ALIAS).any(|length| {
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

/// A row: `name`; also called: a, b; nearest: `type`; how: advice. Or, with a page instead of a type:
/// name; also called: a, b; see: `path`; instead: advice.
fn feature<'a>(page: &'a Page, anchor: &'a str, row: &'a str) -> Option<Feature<'a>> {
    let (name, rest) = row.split_once("; also called: ")?;
    let (called, nearest, advice) = cells(rest, "nearest", "how")
        .map(|(called, name, advice)| (called, Nearest::Type(name), advice))
        .or_else(|| {
            cells(rest, "see", "instead")
                .map(|(called, path, advice)| (called, Nearest::Page(path), advice))
        })?;
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
        nearest,
        advice,
    })
}

/// The cells of a row before and under two columns.
fn cells<'a>(row: &'a str, nearest: &str, advice: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let (before, rest) = row.split_once(&format!("; {nearest}: "))?;
    let (nearest, advice) = rest.split_once(&format!("; {advice}: "))?;
    Some((before, nearest.trim_matches('`'), advice))
}
