//! The sentences templates may say without evidence, and their digests.
//!
//! A statement on a page either carries a claim marker or is one of these. They are data, next to
//! the templates, and say nothing about any product.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use windlass_launch_model::markdown::{Document, sentence_digest};
use windlass_types::Digest;

static PHRASES: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("templates/phrases.toml")).unwrap_or_default());

static REGISTERED: LazyLock<BTreeSet<Digest>> = LazyLock::new(|| {
    PHRASES
        .values()
        .flat_map(|phrase| {
            let whole = sentence_digest(phrase);
            let each = Document::parse_body(phrase).sentences;
            each.into_iter()
                .map(|sentence| sentence_digest(&sentence.text))
                .chain([whole])
        })
        .collect()
});

static OPENINGS: LazyLock<BTreeSet<Digest>> = LazyLock::new(|| {
    PHRASES
        .iter()
        .filter(|(name, _)| name.starts_with("intro_"))
        .flat_map(|(_, phrase)| Document::parse_body(phrase).sentences)
        .map(|sentence| sentence_digest(&sentence.text))
        .collect()
});

/// Every phrase, by the name templates use.
pub(crate) fn all() -> &'static BTreeMap<String, String> {
    &PHRASES
}

/// One phrase; empty for a name that is none.
pub fn phrase(name: &str) -> &'static str {
    PHRASES.get(name).map_or("", String::as_str)
}

/// The text below a heading for which there is no evidence.
pub fn not_documented() -> &'static str {
    phrase("not_documented")
}

/// Whether a sentence is one of those that pages of a launch begin with.
pub(crate) fn opens_a_page(sentence: &str) -> bool {
    OPENINGS.contains(&sentence_digest(sentence))
}

/// The digests of all sentences that need no evidence.
pub fn registered_sentences() -> &'static BTreeSet<Digest> {
    &REGISTERED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phrases_are_there_and_registered() {
        assert!(all().len() > 20);
        assert!(registered_sentences().contains(&sentence_digest(not_documented())));
        for phrase in all().values() {
            let page = format!("{phrase}\n");
            let read = Document::parse(&page);
            assert_eq!(read.uncited(registered_sentences()).count(), 0, "{phrase}");
        }
    }

    #[test]
    fn what_is_not_a_phrase_is_not_registered() {
        assert!(!registered_sentences().contains(&sentence_digest("It reads DOCX.")));
    }
}
