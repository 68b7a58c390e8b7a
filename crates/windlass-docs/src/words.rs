//! Words: how text becomes terms, the same way for pages and questions.
//!
//! `dynamo-db-table`, `connectTo` and `AWS::S3::Bucket` give their parts and, joined, the whole, so
//! both spellings of a name find each other. Terms are stems.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::LazyLock,
};

use frostem::{Algorithm, Stemmer};

use crate::synonyms;

/// Words that say nothing about what is asked.
const STOP: &str = "\
a about after all also an and any anyone are as at be because been before being both but by can could did do \
does doing done each else every for from get gets getting give given go goes going got had has have having he \
her here him his how i if in into is isn it its just let like look me mean might mine must my need needed \
needs no not now of off on one only onto or other our out over own per please possible properly really shall \
she should so some somehow something such tell than that the their them then there these they thing things \
this those to too under until up us use used using very via want was way we were what when where whether \
which while who why will with without within would yes you your explain exactly happen happens \
make makes making made work works working m s t re ve ll don doesn does didn won cannot aren t";

static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.split_whitespace().collect());

/// A word and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Lower case, not stemmed.
    pub text: String,
    /// The parts of a compound name; empty for a plain word.
    pub parts: Vec<String>,
}

/// The words of a text in order, stop words included.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    for run in text.split(|c: char| !is_word(c)) {
        let run = run.trim_matches(|c: char| !c.is_alphanumeric());
        if run.is_empty() {
            continue;
        }
        let parts = parts(run);
        let whole: String = parts.concat();
        found.push(Word {
            text: whole,
            parts: if parts.len() > 1 { parts } else { Vec::new() },
        });
    }
    found
}

/// Characters that hold a name together.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '/')
}

/// `relationalDatabase` → `relational`, `database`; `HTTPApi2` → `http`, `api2`.
fn parts(run: &str) -> Vec<String> {
    let characters: Vec<char> = run.chars().collect();
    let mut parts = Vec::new();
    let mut part = String::new();
    for (at, &c) in characters.iter().enumerate() {
        if !c.is_alphanumeric() {
            if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            continue;
        }
        let before = at.checked_sub(1).map(|before| characters[before]);
        let after = characters.get(at + 1);
        let starts_a_part = c.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || (before.is_some_and(char::is_uppercase)
                    && after.is_some_and(|after| after.is_lowercase())));
        if starts_a_part && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        part.extend(c.to_lowercase());
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Whether a word says nothing about what is asked.
pub(crate) fn is_stop(word: &str) -> bool {
    word.chars().count() < 2 && !word.chars().all(char::is_numeric) || STOP_WORDS.contains(word)
}

/// Makes terms, and remembers them: a corpus has few words and uses each often.
pub(crate) struct Analyzer {
    stemmer: Stemmer,
    known: HashMap<String, String>,
}

impl Analyzer {
    pub(crate) fn new() -> Self {
        Self {
            stemmer: Stemmer::new(Algorithm::English),
            known: HashMap::new(),
        }
    }

    /// The term of one word.
    pub(crate) fn term(&mut self, word: &str) -> String {
        if let Some(term) = self.known.get(word) {
            return term.clone();
        }
        let term = self.stemmer.stem(word).into_owned();
        self.known.insert(word.to_owned(), term.clone());
        term
    }

    /// Every word that was met, with its term.
    pub(crate) fn into_words(self) -> BTreeMap<String, String> {
        self.known.into_iter().collect()
    }

    /// Every term of a text, compounds by their parts and whole.
    pub(crate) fn terms(&mut self, text: &str) -> Vec<String> {
        content(text).iter().map(|word| self.term(word)).collect()
    }
}

/// The content words of a text: parts of compounds, then the whole. Two words that are one name, as in
/// `dead letters` and `load balancer`, give that name too.
pub(crate) fn content(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before: Option<String> = None;
    for word in words(text) {
        if let Some(name) = before.and_then(|before| name_of_two(&before, &word.text)) {
            found.push(name);
        }
        before = Some(word.text.clone());
        found.extend(word.parts.into_iter().filter(|part| !is_stop(part)));
        if !is_stop(&word.text) {
            found.push(word.text);
        }
    }
    found
}

/// The name that two words make together, in the singular.
pub(crate) fn name_of_two(first: &str, second: &str) -> Option<String> {
    let joined = format!("{first}{second}");
    let singular = joined.strip_suffix('s').unwrap_or(&joined);
    [joined.as_str(), singular]
        .into_iter()
        .find(|name| synonyms::knows(name))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_indexed_by_part_and_as_a_whole() {
        for (text, expected) in [
            ("connectTo", "connect connectto"),
            ("dynamo-db-table", "dynamo db tabl dynamodbt"),
            ("DynamoDB", "dynamo db dynamodb"),
            ("AWS::S3::Bucket", "aw s3 bucket awss3bucket"),
            ("How do I deploy the stack?", "deploy stack"),
            ("dead letters", "dead deadlett letter"),
            (
                "UPDATE_ROLLBACK_FAILED",
                "updat rollback fail updaterollbackfail",
            ),
            ("deploys deployed deploying", "deploy deploy deploy"),
            (
                "--framework nextjs-react",
                "framework nextj react nextjsreact",
            ),
        ] {
            assert_eq!(Analyzer::new().terms(text).join(" "), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_yields_lower_case_terms_without_spaces(text in ".{0,200}") {
            for term in Analyzer::new().terms(&text) {
                prop_assert!(!term.is_empty());
                prop_assert!(!term.contains(char::is_whitespace));
            }
        }
    }
}
