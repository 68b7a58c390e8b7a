//! Texts compared by what they say: their words, their numbers, whether they deny.

use std::collections::BTreeSet;

/// Words that turn a statement round.
const DENIALS: [&str; 10] = [
    "not",
    "no",
    "never",
    "cannot",
    "without",
    "nor",
    "neither",
    "none",
    "unsupported",
    "t",
];

/// The words of a text: lower case, letters and digits only.
pub fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Shared words over all words; 1 for two empty texts.
pub fn jaccard(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let all = a.union(&b).count();
    if all == 0 {
        return 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
    let share = a.intersection(&b).count() as f64 / all as f64;
    share
}

/// The numbers of a text, versions included: `3`, `3.10`, `0.168.0`.
pub fn numbers(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|number| number.trim_matches('.'))
        .filter(|number| !number.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a text says that something is not so; the `t` of `doesn't` counts.
pub fn denies(text: &str) -> bool {
    let said = words(text);
    DENIALS.iter().any(|word| said.contains(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_and_numbers() {
        assert!((jaccard("Reads DOCX files.", "reads docx FILES") - 1.0).abs() < 1e-9);
        assert!(jaccard("reads docx", "writes xlsx") < 0.1);
        assert_eq!(
            numbers("Needs 3.10. Or 4"),
            ["3.10".to_owned(), "4".to_owned()].into()
        );
        for (text, expected) in [
            ("It does not write XLSX.", true),
            ("It doesn’t write XLSX.", true),
            ("It notes everything.", false),
        ] {
            assert_eq!(denies(text), expected, "{text}");
        }
    }
}
