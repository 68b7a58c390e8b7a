//! Texts that fit a terminal: nothing in them moves the cursor or turns the reading direction.

use unicode_width::UnicodeWidthChar as _;

const TAB: &str = "    ";

/// A line, safe to show.
pub(crate) fn clean(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '\t' => text.push_str(TAB),
            '\n' | '\r' => text.push(' '),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                text.push('\u{fffd}');
            }
            other if other.is_control() => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    text
}

/// A text in lines of at most `width` columns, broken at spaces where there are some.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut columns = 0;
    for word in text.split_inclusive(' ') {
        let wide = columns_of(word.trim_end());
        if columns > 0 && columns + wide > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            columns = 0;
        }
        for character in word.chars() {
            let wide = character.width().unwrap_or(0);
            if columns + wide > width && columns > 0 {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                columns = 0;
                if character == ' ' {
                    continue;
                }
            }
            line.push(character);
            columns += wide;
        }
    }
    let rest = line.trim_end();
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

fn columns_of(text: &str) -> usize {
    text.chars().filter_map(|character| character.width()).sum()
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// The parts that are not zero: `2 modified, 1 extra`.
pub(crate) fn counts(parts: &[(u64, &str)]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        for (line, expected) in [
            ("plain", "plain"),
            ("\tx", "    x"),
            ("a\u{1b}[2Jb", "a\u{fffd}[2Jb"),
            ("a\r\nb", "a  b"),
            ("safe\u{202e}cod.exe", "safe\u{fffd}cod.exe"),
        ] {
            assert_eq!(clean(line), expected);
        }
    }

    #[test]
    fn long_texts_break_at_spaces_or_anywhere() {
        for (text, width, expected) in [
            ("", 10, vec![""]),
            ("one two three", 7, vec!["one two", "three"]),
            ("abcdefgh ij", 4, vec!["abcd", "efgh", "ij"]),
            ("日本語", 4, vec!["日本", "語"]),
            ("ab", 0, vec!["a", "b"]),
        ] {
            assert_eq!(wrapped(text, width), expected, "{text} in {width}");
        }
    }
}
