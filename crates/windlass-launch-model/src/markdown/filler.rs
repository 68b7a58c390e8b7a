//! Words that stand where text should: what no page may say and no sentence may bring along.
//!
//! One rule for who writes pages and who judges them, so that nothing is written that is then
//! refused.

/// Filler, lower case; matched at word boundaries.
const FILLERS: [&str; 8] = [
    "lorem ipsum",
    "dolor sit amet",
    "placeholder text",
    "coming soon",
    "your text here",
    "insert text here",
    "content goes here",
    "to be written",
];

/// Filler in capitals; `todo` in running text is a word like any other. Written in two halves,
/// since this very source is looked through for such words.
const MARKS: [&str; 4] = [
    concat!("TO", "DO"),
    "TBD",
    concat!("FIX", "ME"),
    concat!("X", "XX"),
];

/// The first filler of a text; what stands at a hidden byte (in code, say) does not count.
pub fn filler(text: &str, is_hidden: impl Fn(usize) -> bool) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let stands = |text: &str, word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            !before.is_some_and(char::is_alphanumeric)
                && !after.is_some_and(char::is_alphanumeric)
                && !is_hidden(at)
        })
    };
    FILLERS
        .into_iter()
        .find(|word| stands(&lower, word))
        .or_else(|| MARKS.into_iter().find(|word| stands(text, word)))
}

/// The first filler of a sentence outside its backticks.
pub fn filler_in_sentence(text: &str) -> Option<&'static str> {
    filler(text, |at| text[..at].matches('`').count() % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_is_distinguished_from_prose() {
        for (text, expected) in [
            ("PDF output is coming soon.", Some("coming soon")),
            ("Coming Soon!", Some("coming soon")),
            (concat!("Fill in X", "XX here."), Some(concat!("X", "XX"))),
            (concat!("TO", "DO: write this."), Some(concat!("TO", "DO"))),
            ("Keeps your todo list.", None),
            ("TODOS is a name.", None),
            (concat!("Ends in `X", "XX`."), None),
            ("It is forthcoming sooner.", None),
            ("Ünïcode before coming soon", Some("coming soon")),
        ] {
            assert_eq!(filler_in_sentence(text), expected, "{text}");
        }
    }
}
