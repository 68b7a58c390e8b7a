//! A message as a page lists it: words in order, with room for what varies.
//!
//! Between two words of a pattern a few names, ids, numbers, addresses, paths or quoted words of the
//! text are passed over. `*` stands for up to twelve words of any kind, `#` for a number. A pattern that
//! starts with `~` is general: it counts after all others, because the cause is named elsewhere.

use super::tokens::{Token, tokens};

/// Varying words in a row that are passed over without a `*`.
const LONGEST_VARYING: usize = 4;
const LONGEST_GAP: usize = 12;
const GENERAL: char = '~';

/// Why a text of a page is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    /// Nothing to look up.
    #[error("an error text starts with a word")]
    NoFirstWord,
    /// It would be found in ordinary questions.
    #[error("an error text has two words, or one that is a code")]
    TooCommon,
}

#[derive(Debug, PartialEq, Eq)]
enum Element {
    /// In lower case.
    Word(String),
    /// `*`
    Gap,
    /// `#`
    Number,
}

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    first_word: String,
    rest: Vec<Element>,
    is_general: bool,
}

impl Pattern {
    pub(super) fn read(text: &str) -> Result<Self, PatternError> {
        let stripped = text.strip_prefix(GENERAL);
        let mut elements = Vec::new();
        for run in stripped.unwrap_or(text).split_whitespace() {
            match run {
                "*" => elements.push(Element::Gap),
                "#" => elements.push(Element::Number),
                _ => elements.extend(
                    tokens(run)
                        .iter()
                        .map(|token| Element::Word(token.text.to_ascii_lowercase())),
                ),
            }
        }
        let mut elements = elements.into_iter();
        let Some(Element::Word(first_word)) = elements.next() else {
            return Err(PatternError::NoFirstWord);
        };
        let rest: Vec<Element> = elements.collect();
        let is_code = text
            .trim_start_matches(GENERAL)
            .chars()
            .skip(1)
            .any(|c| c.is_uppercase() || c.is_numeric() || matches!(c, '_' | '.' | '-'));
        if rest.is_empty() && !is_code {
            return Err(PatternError::TooCommon);
        }
        Ok(Self {
            first_word,
            rest,
            is_general: stripped.is_some(),
        })
    }

    pub(super) fn first_word(&self) -> &str {
        &self.first_word
    }

    pub(super) fn is_general(&self) -> bool {
        self.is_general
    }

    /// How much text it prescribes.
    pub(super) fn specificity(&self) -> usize {
        let rest: usize = self
            .rest
            .iter()
            .map(|element| match element {
                Element::Word(word) => word.len() + 1,
                Element::Gap | Element::Number => 0,
            })
            .sum();
        self.first_word.len() + rest
    }

    /// How many tokens from the first one on it takes, if it matches there.
    pub(super) fn matches(&self, tokens: &[Token<'_>]) -> Option<usize> {
        let mut at = 1;
        let mut longest = LONGEST_VARYING;
        let mut any = false;
        for element in &self.rest {
            if *element == Element::Gap {
                (longest, any) = (LONGEST_GAP, true);
                continue;
            }
            let passed = tokens
                .get(at..)?
                .iter()
                .take(longest + 1)
                .position(|token| is(element, token))?;
            if !any && tokens[at..at + passed].iter().any(|token| !token.varies) {
                return None;
            }
            at += passed + 1;
            (longest, any) = (LONGEST_VARYING, false);
        }
        Some(at)
    }
}

fn is(element: &Element, token: &Token<'_>) -> bool {
    match element {
        Element::Word(word) => token.text.eq_ignore_ascii_case(word),
        Element::Number => token.text.starts_with(|c: char| c.is_ascii_digit()),
        Element::Gap => false,
    }
}
