//! Texts as sets of words: what claims are compared by.

use std::collections::BTreeSet;

/// Words that say nothing by themselves.
const STOP: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "has", "have", "in",
    "into", "is", "it", "its", "of", "on", "or", "that", "the", "their", "them", "then", "there",
    "this", "to", "was", "will", "with", "you", "your",
];

/// Words that turn a statement round.
const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "cannot",
    "never",
    "without",
    "doesn't",
    "don't",
    "can't",
    "won't",
    "isn't",
    "aren't",
    "unsupported",
    "neither",
];

/// Verbs that carry no content once a negation is taken away: "does not support" is "supports".
const AUXILIARIES: &[&str] = &["do", "does", "did", "currently", "yet", "any"];

/// The words of a text, lower-case; what is not a letter, a digit or inside a word separates.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '.' | '+' | '#' | '_' | '’')))
        .map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#'))
                .replace('’', "'")
                .to_lowercase()
        })
        .filter(|word| !word.is_empty())
}

/// A word without the ending of its plural or third person.
fn stem(word: &str) -> &str {
    if word.len() > 3 && !word.ends_with("ss") {
        word.strip_suffix('s').unwrap_or(word)
    } else {
        word
    }
}

/// The words that carry content, without negations.
pub(crate) fn content(text: &str) -> BTreeSet<String> {
    words(text)
        .filter(|word| {
            let word = word.as_str();
            !STOP.contains(&word) && !NEGATIONS.contains(&word) && !AUXILIARIES.contains(&word)
        })
        .map(|word| stem(&word).to_owned())
        .collect()
}

/// Whether a text turns a statement round.
pub(crate) fn is_negated(text: &str) -> bool {
    words(text).any(|word| NEGATIONS.contains(&word.as_str()))
}

/// What two sets share of both, in thousandths.
pub(crate) fn jaccard(left: &BTreeSet<String>, right: &BTreeSet<String>) -> u32 {
    let shared = left.intersection(right).count();
    let all = left.len() + right.len() - shared;
    thousandths(shared, all)
}

/// A ratio in thousandths; of nothing, none.
pub(crate) fn thousandths(part: usize, whole: usize) -> u32 {
    (part * 1000)
        .checked_div(whole)
        .map_or(0, |ratio| u32::try_from(ratio).unwrap_or(1000))
}

/// The words a cited passage must hold for a claim to stand on it.
pub(crate) fn keys(text: &str) -> Vec<String> {
    let mut found: Vec<String> = words(text)
        .filter(|word| word.chars().count() >= 3 && !STOP.contains(&word.as_str()))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plural_and_negation_do_not_hide_a_statement() {
        let says = content("Acme supports encrypted files.");
        let denies = content("Acme does not support encrypted files.");
        assert_eq!(says, denies);
        assert!(is_negated("Acme doesn’t support it."));
        assert!(!is_negated("Acme notes it."));
    }

    #[test]
    fn ratios() {
        let set = |text: &str| content(text);
        assert_eq!(jaccard(&set("red green"), &set("green blue")), 333);
        assert_eq!(jaccard(&set(""), &set("")), 0);
    }

    #[test]
    fn versions_and_language_names_are_one_word() {
        let found: Vec<String> = words("C++ 17, C#, Python 3.10.").collect();
        assert_eq!(found, ["c++", "17", "c#", "python", "3.10"]);
    }
}
