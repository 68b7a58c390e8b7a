//! Whether a text is about a product at all.

use crate::model::analysis::{Analysis, Place, SpanClass};
use crate::model::naming;

/// Words for what is built.
const PRODUCTS: &[&str] = &[
    "api",
    "app",
    "application",
    "assistant",
    "blog",
    "board",
    "bot",
    "browser",
    "calculator",
    "calendar",
    "catalog",
    "catalogue",
    "chat",
    "cms",
    "crm",
    "dashboard",
    "database",
    "directory",
    "editor",
    "erp",
    "forum",
    "game",
    "homepage",
    "library",
    "manager",
    "marketplace",
    "newsletter",
    "network",
    "organizer",
    "organiser",
    "page",
    "planner",
    "platform",
    "player",
    "portal",
    "portfolio",
    "quiz",
    "register",
    "scheduler",
    "service",
    "shop",
    "site",
    "software",
    "store",
    "system",
    "tool",
    "tracker",
    "viewer",
    "webapp",
    "website",
    "webshop",
    "wiki",
];

/// Fewer words say nothing.
const FEWEST_WORDS: usize = 2;

/// Letters of a script without spaces that count as one word.
const LETTERS_PER_WORD: usize = 2;

fn words(text: &str) -> usize {
    let mut words = 0;
    let mut letters = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        // Scripts such as Chinese put no spaces between words.
        let unspaced = word.chars().filter(|c| *c >= '\u{2e80}').count();
        letters += unspaced;
        words += usize::from(unspaced == 0 && word.chars().any(char::is_alphabetic));
    }
    words + letters / LETTERS_PER_WORD
}

/// Words that show that a text is in English, the only language that is read.
const ENGLISH: &[&str] = &[
    "a", "an", "and", "are", "hello", "hey", "hi", "how", "http", "https", "i", "is", "it", "of",
    "please", "test", "thank", "thanks", "the", "this", "to", "what", "you",
];

/// Whether a text is in English, so that one from which nothing is read says nothing.
fn is_read(text: &str) -> bool {
    let words = naming::words(text);
    words.first().is_some_and(|word| word == "lorem")
        || words.iter().any(|word| ENGLISH.contains(&word.as_str()))
}

/// Whether a text has too few words to be about anything. Linear.
pub fn says_nothing(spec: &str) -> bool {
    words(spec) < FEWEST_WORDS
}

/// Whether what was read of a text is about a product: something it does, keeps, shows or is called.
pub fn names_a_product(spec: &str, analysis: &Analysis) -> bool {
    if !is_read(spec) {
        return true;
    }
    let found = !analysis.statements.is_empty()
        || !analysis.entities.is_empty()
        || !analysis.pages.is_empty()
        || !analysis.qualities.is_empty()
        || !analysis.bounds.is_empty()
        || analysis.product.is_some()
        || analysis
            .spans
            .iter()
            .any(|span| span.class != SpanClass::Context || span.place == Place::Heading);
    found
        || naming::words(spec)
            .iter()
            .any(|word| PRODUCTS.contains(&naming::singular(word).as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{SpecContext, analyse};

    #[test]
    fn what_is_about_no_product_is_told_apart() {
        for (spec, expected) in [
            ("A quiz app", true),
            ("Teachers create quizzes.", true),
            ("build me a habit tracker", true),
            (
                "Eine Seite für unseren Verein, auf der Mitglieder Termine sehen",
                true,
            ),
            ("一个在线商店，顾客可以浏览商品", true),
            ("", false),
            ("12345 67890", false),
            ("https://example.com", false),
            ("!!! ??? ***", false),
            ("hello", false),
            ("Hello there, how are you doing today?", false),
            (
                "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
                false,
            ),
        ] {
            let named = !says_nothing(spec)
                && names_a_product(spec, &analyse(spec, &SpecContext::default()));
            assert_eq!(named, expected, "{spec}");
        }
    }
}
