//! Phrases in a line: found between two words' ends, and looked for only where they can be.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

/// Phrases by their first word, made when they are first needed.
pub struct Phrases(LazyLock<HashMap<&'static str, Vec<&'static str>>>);

impl Phrases {
    /// The phrases of a text; see [`phrases`].
    pub const fn new(make: fn() -> HashMap<&'static str, Vec<&'static str>>) -> Self {
        Self(LazyLock::new(make))
    }
}

/// Phrases written as one text, separated by `;`.
macro_rules! phrases {
    ($text:expr) => {
        $crate::spec::lexicon::line::Phrases::new(|| {
            $crate::spec::lexicon::line::by_first_word($text)
        })
    };
}
pub(crate) use phrases;

/// The phrases of a text by their first word.
pub fn by_first_word(text: &'static str) -> HashMap<&'static str, Vec<&'static str>> {
    let mut found: HashMap<&'static str, Vec<&'static str>> = HashMap::new();
    for phrase in text.split(';').map(str::trim) {
        if let Some(first) = words(phrase).next() {
            found.entry(first).or_default().push(phrase);
        }
    }
    found
}

/// A text in lower case that knows its words.
#[derive(Clone, Debug, Default)]
pub struct Line {
    text: String,
    words: HashSet<String>,
}

impl Line {
    /// The line of a text.
    pub fn new(text: &str) -> Self {
        let text = text.to_lowercase().replace('’', "'");
        let words = words(&text).map(str::to_owned).collect();
        Self { text, words }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a phrase stands in the line.
    pub fn has(&self, phrase: &str) -> bool {
        words(phrase)
            .next()
            .is_none_or(|first| self.words.contains(first))
            && contains(&self.text, phrase)
    }

    /// Whether one of the phrases stands in the line.
    pub fn mentions(&self, phrases: &Phrases) -> bool {
        self.words.iter().any(|word| {
            phrases
                .0
                .get(word.as_str())
                .is_some_and(|phrases| phrases.iter().any(|phrase| contains(&self.text, phrase)))
        })
    }

    /// Whether one of the phrases stands in the line.
    pub fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

fn contains(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_match_whole_words() {
        let line = Line::new("The CI/CD won’t go-live (optional) at once.");
        for (phrase, found) in [
            ("ci/cd", true),
            ("won't", true),
            ("go-live", true),
            ("go", true),
            ("optional", true),
            ("option", false),
            ("at once", true),
            ("at on", false),
            ("", true),
        ] {
            assert_eq!(line.has(phrase), found, "{phrase}");
        }
        static SAID: Phrases = phrases!("nothing; at once");
        static UNSAID: Phrases = phrases!("a; b; at one");
        assert!(line.mentions(&SAID) && !line.mentions(&UNSAID));
    }
}
