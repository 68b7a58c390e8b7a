//! Error messages: which place of the documentation explains one that was pasted.
//!
//! Pages list the messages they explain in their front matter (`errors`), by heading. A question is
//! searched for them before its words are weighed, however much else was pasted with it. Reading is
//! linear: every word is looked up once, and each attempt to match is bounded.

mod pattern;
mod tokens;

use std::{collections::HashMap, ops::Range};

use pattern::Pattern;
use tokens::{Token, tokens};

pub(crate) use pattern::PatternError;

/// More than any answer shows.
const MOST_PLACES: usize = 3;

/// The messages of all pages.
#[derive(Default)]
pub(crate) struct ErrorIndex {
    patterns: Vec<(Pattern, usize)>,
    /// Patterns by their first word.
    by_first_word: HashMap<String, Vec<usize>>,
}

/// A place that explains a message of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explained {
    /// The entry of the index.
    pub entry: usize,
    /// Where in the question the message is.
    pub at: Range<usize>,
}

/// Whether a text of a page's front matter can be matched.
pub(crate) fn check(text: &str) -> Result<(), PatternError> {
    Pattern::read(text).map(|_| ())
}

impl ErrorIndex {
    /// Adds a message that an entry explains. One that cannot be matched was refused with its page.
    pub(crate) fn add(&mut self, text: &str, entry: usize) {
        if let Ok(pattern) = Pattern::read(text) {
            self.by_first_word
                .entry(pattern.first_word().to_owned())
                .or_default()
                .push(self.patterns.len());
            self.patterns.push((pattern, entry));
        }
    }

    /// The places that explain messages of a text, the most specific message first.
    pub(crate) fn find(&self, text: &str) -> Vec<Explained> {
        let tokens = tokens(text);
        // The first place of each pattern in the text; a log repeats its messages.
        let mut found: HashMap<usize, Range<usize>> = HashMap::new();
        for (at, token) in tokens.iter().enumerate() {
            for number in self.starting_with(token) {
                if !found.contains_key(number)
                    && let Some(end) = self.patterns[*number].0.matches(&tokens[at..])
                {
                    found.insert(*number, token.start..tokens[at + end - 1].end());
                }
            }
        }
        let mut found: Vec<(usize, Range<usize>)> = found.into_iter().collect();
        found.sort_by_key(|(number, at)| {
            let pattern = &self.patterns[*number].0;
            (
                pattern.is_general(),
                usize::MAX - pattern.specificity(),
                at.start,
                *number,
            )
        });
        let mut explained: Vec<Explained> = Vec::new();
        for (number, at) in found {
            let entry = self.patterns[number].1;
            if explained.len() < MOST_PLACES && explained.iter().all(|known| known.entry != entry) {
                explained.push(Explained { entry, at });
            }
        }
        explained
    }

    fn starting_with(&self, token: &Token<'_>) -> &[usize] {
        self.by_first_word
            .get(token.text.to_ascii_lowercase().as_str())
            .map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
#[path = "errors_tests.rs"]
mod tests;
