//! Text of servers made safe to show: no terminal escapes, nothing hidden, bounded.

use windlass_text::{is_hidden, visible, without_escapes};

/// How long a description may be; what is longer is no description.
pub(crate) const LONGEST_DESCRIPTION: usize = 16 * 1024;
/// How long a message in an error or of progress may be.
pub(crate) const LONGEST_MESSAGE: usize = 2 * 1024;

/// Joins the parts of a picture character; hides nothing between them.
const JOINER: char = '\u{200d}';

/// Lines of text. What a reader could not see is written as an escape; line ends and tabs stay.
pub(crate) fn text(raw: &str) -> String {
    if !raw
        .chars()
        .any(|letter| letter != '\n' && is_hidden(letter))
    {
        return raw.to_owned();
    }
    let plain = without_escapes(raw);
    let lines: Vec<String> = plain
        .split('\n')
        .map(|line| {
            let line = line.strip_suffix('\r').unwrap_or(line);
            let pieces: Vec<_> = line.split(JOINER).map(visible).collect();
            pieces.join("\u{200d}")
        })
        .collect();
    lines.join("\n")
}

/// One line of at most so many bytes.
pub(crate) fn line(raw: &str, most: usize) -> String {
    let cut = cut(raw, most);
    let cleaned = visible(&without_escapes(cut)).into_owned();
    match cut.len() < raw.len() {
        true => format!("{cleaned}…"),
        false => cleaned,
    }
}

/// Lines of text of at most so many bytes.
pub(crate) fn block(raw: &str, most: usize) -> String {
    let cut = cut(raw, most);
    match cut.len() < raw.len() {
        true => format!("{}…", text(cut)),
        false => text(raw),
    }
}

/// The beginning of a text, within a number of bytes.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The beginning and the end of a text within a number of bytes, and how many bytes are left out.
pub(crate) fn ends(text: &str, most: usize) -> Option<(&str, &str, u64)> {
    if text.len() <= most {
        return None;
    }
    let first = cut(text, most / 2);
    let last = &text[text.ceil_char_boundary(text.len() - most / 2)..];
    Some((first, last, (text.len() - first.len() - last.len()) as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_hidden_is_left() {
        for (raw, cleaned) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\r\nb", "a\nb"),
            ("👩\u{200d}🚀", "👩\u{200d}🚀"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(text(raw), cleaned, "{raw:?}");
        }
        assert_eq!(line("one\ntwo", 100), "one\\ntwo");
        assert_eq!(line("é".repeat(10).as_str(), 5), "éé…");
    }

    proptest! {
        #[test]
        fn ends_never_split_a_character(text in ".{0,60}", most in 0_usize..80) {
            if let Some((first, last, omitted)) = ends(&text, most) {
                prop_assert!(first.len() + last.len() <= most);
                prop_assert_eq!(first.len() + last.len() + omitted as usize, text.len());
            } else {
                prop_assert!(text.len() <= most);
            }
        }
    }
}
