//! Characters that change what a reader sees, shown as what they are.
//!
//! A title with U+202E reads backwards, a zero-width character hides a difference, a line break
//! fakes another line. Who decides by a text must see them.

use std::{borrow::Cow, fmt::Write as _};

/// The text with every control and format character written as an escape such as `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            hidden if is_hidden(hidden) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => shown.push(plain),
        }
    }
    Cow::Owned(shown)
}

/// Whether a character changes what is seen without being seen: control characters but the tab,
/// separators of lines, and the Unicode category of format characters.
pub fn is_hidden(letter: char) -> bool {
    (letter.is_control() && letter != '\t')
        || matches!(
            letter,
            '\u{ad}'
                | '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{115f}'..='\u{1160}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        for (text, shown) in [
            ("delete safe\u{202e}txt.exe", "delete safe\\u{202e}txt.exe"),
            (
                "a\u{200b}b\u{2066}c\u{feff}",
                "a\\u{200b}b\\u{2066}c\\u{feff}",
            ),
            ("one\ntwo\r\u{1b}[2J", "one\\ntwo\\r\\u{1b}[2J"),
            ("tab\there, ünïcode 日本 🙂", "tab\there, ünïcode 日本 🙂"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in "[\\x00-\u{ffff}]{0,40}") {
            prop_assert!(!visible(&text).chars().any(is_hidden));
        }
    }
}
