//! Statements about a product, from everything that makes any: manifests, constants,
//! documentation comments, documents, READMEs. One file per kind of source.

mod document;
mod manifest;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::markdown::filler_in_sentence;

use crate::{
    api::Symbol,
    claims::Found,
    input::ScoutInput,
    manifests::{Manifest, speaking},
    secret::is_leaking,
    sentences::is_safe,
    tree::Tree,
    words::{content, words},
};

pub(crate) use manifest::license_file;

/// Symbols by file.
pub(crate) type Symbols = BTreeMap<String, Vec<Symbol>>;

/// What was collected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    /// Every statement, in the order of its source.
    pub found: Vec<Found>,
    /// Where passages stand that give orders to programs, and were left out: file and line.
    pub orders: BTreeSet<(String, u64)>,
}

/// Every statement.
pub(crate) fn collect(
    tree: &Tree,
    manifests: &[Manifest],
    symbols: &Symbols,
    input: &ScoutInput,
) -> Collected {
    let mut collected = Collected::default();
    let speaking = speaking(manifests, input);
    manifest::collect(tree, &speaking, input, &mut collected);
    source::constants(tree, input, &mut collected);
    source::comments(symbols, input, &mut collected);
    document::collect(tree, &speaking, input, &mut collected);
    collected
}

/// A text as a statement a page can hold; `None` if it is none.
pub(crate) fn statement(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches([',', ';']).trim();
    let count = text.split_whitespace().count();
    if !(2..=45).contains(&count) || text.len() > 400 || text.ends_with([':', '?', '…']) {
        return None;
    }
    if text.ends_with("...") || text.contains("://") || !is_safe(text) {
        return None;
    }
    if filler_in_sentence(text).is_some() || is_leaking(text) {
        return None;
    }
    let first: Vec<String> = words(text).take(1).collect();
    let opening = first.first().map_or("", String::as_str);
    if matches!(
        opening,
        "we" | "i" | "our" | "please" | "see" | "click" | "todo" | "fixme" | "note"
    ) {
        return None;
    }
    if words(text).any(|word| matches!(word.as_str(), "we" | "our" | "i'm" | "we're" | "todo")) {
        return None;
    }
    if content(text).len() < 2 {
        return None;
    }
    let mut said = String::with_capacity(text.len() + 1);
    let mut characters = text.chars();
    said.extend(characters.next().into_iter().flat_map(char::to_uppercase));
    said.push_str(characters.as_str());
    if !said.ends_with(['.', '!']) && !said.ends_with(".)") && !said.ends_with(".\"") {
        said.push('.');
    }
    Some(said)
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
