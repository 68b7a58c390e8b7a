//! The words the rules know, as tables. What is done with them is decided elsewhere.

pub mod line;
pub mod nouns;
pub mod qualities;
pub mod small;
pub mod units;
pub mod verbs;

use std::{collections::HashSet, sync::LazyLock};

/// A set of words, written as one text.
pub type Words = LazyLock<HashSet<&'static str>>;

/// The words of a text, separated by white space; `_` stands for a space within a phrase.
pub fn set(text: &'static str) -> HashSet<&'static str> {
    text.split_whitespace().collect()
}
