//! Small texts for people: durations, ages, sizes, shortened lines.

use std::{fmt::Display, time::Duration};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use windlass_types::Timestamp;

/// A duration in two significant parts: `12 ms`, `3.4 s`, `2 min 5 s`, `4 h 10 min`, `3 d 2 h`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..60 => format!("{}.{} s", seconds, duration.subsec_millis() / 100),
        60..3600 => two(seconds / 60, "min", seconds % 60, "s"),
        3600..86_400 => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// How long ago, in one part: `now`, `12 s ago`, `5 min ago`, `3 d ago`.
pub(crate) fn age(moment: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(moment).as_secs();
    match seconds {
        0 => "now".to_owned(),
        1..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// A size: `812 B`, `1.5 KiB`, `20.0 MiB`.
pub(crate) fn bytes(size: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let mut tenths = size.saturating_mul(10) / 1024;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A count and its noun: `1 file`, `2 files`.
pub(crate) fn counted<N: Display + From<u8> + PartialEq>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The parts that are not zero: `2 modified, 1 extra`.
pub(crate) fn counts(parts: &[(u64, &str)]) -> String {
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    parts.join(", ")
}

/// The columns a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to this many columns, with an ellipsis where something is missing.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        kept.push(character);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// One line, safe for a terminal: line breaks become spaces, control characters are shown as one
/// sign, format characters as escapes.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|character| match character {
            '\n' | '\r' | '\t' => ' ',
            other if other.is_control() => '\u{fffd}',
            other => other,
        })
        .collect();
    windlass_text::visible(&spaced).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations() {
        let cases = [
            (0, "0 ms"),
            (12, "12 ms"),
            (1_000, "1.0 s"),
            (3_456, "3.4 s"),
            (59_999, "59.9 s"),
            (60_000, "1 min"),
            (125_000, "2 min 5 s"),
            (3_600_000, "1 h"),
            (15_000_000, "4 h 10 min"),
            (266_400_000, "3 d 2 h"),
        ];
        for (millis, expected) in cases {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
    }

    #[test]
    fn ages_and_sizes() {
        let now = Timestamp::from_millis(1_000_000_000);
        for (seconds, expected) in [
            (0, "now"),
            (5, "5 s ago"),
            (130, "2 min ago"),
            (7_300, "2 h ago"),
            (200_000, "2 d ago"),
        ] {
            assert_eq!(age(now.before(Duration::from_secs(seconds)), now), expected);
        }
        assert_eq!(age(now.after(Duration::from_secs(9)), now), "now");
        for (size, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (20 << 20, "20.0 MiB"),
            (u64::MAX, "1677721.5 TiB"),
        ] {
            assert_eq!(bytes(size), expected);
        }
    }

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        assert_eq!(one_line("a\nb\u{1b}[31mc"), "a b\u{fffd}[31mc");
    }

    proptest! {
        #[test]
        fn shortened_text_fits(text in "\\PC{0,40}", columns in 0usize..50) {
            prop_assert!(shorten(&text, columns).width() <= columns);
        }
    }
}
