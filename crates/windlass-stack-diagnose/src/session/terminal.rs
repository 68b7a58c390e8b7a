//! Text of terminals made plain.

/// Text of a terminal without its colours and cursor movements, lines ended by one character.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                // Up to the letter that ends the sequence.
                Some('[') => {
                    while letters
                        .next()
                        .is_some_and(|part| !('@'..='~').contains(&part))
                    {}
                }
                Some(']') => while letters.next().is_some_and(|part| part != '\u{7}') {},
                _ => {}
            },
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            letter if letter.is_control() && !matches!(letter, '\n' | '\t') => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_are_removed() {
        for (text, expected) in [
            ("a\r\nb", "a\nb"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("10%\r20%", "10%\n20%"),
            ("tab\tbell\u{7}", "tab\tbell"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
