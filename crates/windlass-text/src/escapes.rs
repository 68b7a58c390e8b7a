//! Terminal escapes taken out of what programs print.

/// Text without terminal escapes and other control characters; tabs and line ends stay.
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                // Parameters end at a letter from @ to ~.
                Some('[') => {
                    for inner in letters.by_ref() {
                        if ('@'..='~').contains(&inner) {
                            break;
                        }
                    }
                }
                // A title or a link ends at BEL or ESC \.
                Some(']' | 'P' | '_' | '^' | 'X') => {
                    while let Some(inner) = letters.next() {
                        if inner == '\u{7}' {
                            break;
                        }
                        if inner == '\u{1b}' {
                            letters.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                // A character set takes one more letter.
                Some('(' | ')' | '*' | '+') => {
                    letters.next();
                }
                Some(_) | None => {}
            },
            '\n' | '\t' => plain.push(letter),
            _ if letter.is_control() => {}
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_removed() {
        for (text, plain) in [
            ("\u{1b}[1;32mok\u{1b}[0m", "ok"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}", "link"),
            ("\u{1b}(Bplain\r\n\ttab", "plain\n\ttab"),
            ("cut \u{1b}[3", "cut "),
            ("end \u{1b}", "end "),
        ] {
            assert_eq!(without_escapes(text), plain);
        }
    }

    proptest! {
        #[test]
        fn no_control_character_is_left_and_it_is_done_once(text in "\\PC*[\u{1b}\\[\\]0-9;m(A-Z\u{7}\\\\ ]{0,40}") {
            let plain = without_escapes(&text);
            prop_assert!(plain.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')));
            prop_assert_eq!(without_escapes(&plain), plain);
        }
    }
}
