//! Reads the table of secret formats, `kinds.txt`: one line per kind.

use crate::rules::{Charset, Looks, Rule, Shape, Token};

const TABLE: &str = include_str!("kinds.txt");

/// The rules of the table, one for each prefix and each context word.
pub(crate) fn rules() -> impl Iterator<Item = Rule> {
    rows().filter_map(parse).flat_map(|row| {
        row.anchors
            .map(move |anchor| match anchor.strip_prefix('~') {
                Some(word) => Rule {
                    label: row.label,
                    anchor: word,
                    shape: Shape::Context(row.token),
                },
                None => Rule {
                    label: row.label,
                    anchor,
                    shape: Shape::Token(row.token),
                },
            })
    })
}

fn rows() -> impl Iterator<Item = &'static str> {
    TABLE
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

struct Row {
    label: &'static str,
    token: Token,
    anchors: std::str::SplitWhitespace<'static>,
}

/// `kind alphabet length looks anchor…`; a line of another form names no kind.
fn parse(line: &'static str) -> Option<Row> {
    let mut words = line.split_whitespace();
    let label = words.next()?;
    let body = match words.next()? {
        "digit" => Charset::Digit,
        "hex" => Charset::Hex,
        "lower" => Charset::Lower,
        "upper" => Charset::Upper,
        "alnum" => Charset::Alphanumeric,
        "word" => Charset::Word,
        "url" => Charset::Url,
        "dotted" => Charset::Dotted,
        "base64" => Charset::Base64,
        "path" => Charset::Path,
        "loose" => Charset::Loose,
        "crypt" => Charset::Crypt,
        _ => return None,
    };
    let (min, max) = match words.next()?.split_once("..") {
        Some((min, "")) => (min.parse().ok()?, usize::MAX),
        Some((min, max)) => (min.parse().ok()?, max.parse().ok()?),
        None => return None,
    };
    let looks = match words.next()? {
        "any" => Looks::Any,
        "digit" => Looks::Digit,
        "mixed" => Looks::Mixed,
        "capital" => Looks::Capital,
        "random" => Looks::Random,
        _ => return None,
    };
    Some(Row {
        label,
        token: Token {
            body,
            min,
            max,
            looks,
        },
        anchors: words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::LOOK;

    #[test]
    fn every_line_is_a_row_with_anchors_of_three_bytes() {
        for line in rows() {
            let row = parse(line).unwrap_or_else(|| panic!("{line}"));
            let label = row
                .label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            assert!(label, "a label is lower-case words: {line}");
            assert!(row.token.min <= row.token.max, "{line}");
            assert!(
                row.token.max == usize::MAX || row.token.max < LOOK,
                "{line}"
            );
            let anchors: Vec<_> = row.anchors.collect();
            assert!(!anchors.is_empty(), "{line}");
            for anchor in anchors {
                assert!(anchor.trim_start_matches('~').len() >= 3, "{line}");
                assert!(anchor.is_ascii(), "{line}");
            }
        }
    }

    #[test]
    fn no_anchor_stands_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for line in rows() {
            for anchor in parse(line).unwrap().anchors {
                assert!(seen.insert(anchor), "{anchor}");
            }
        }
    }

    #[test]
    fn the_table_knows_hundreds_of_kinds() {
        let kinds: std::collections::BTreeSet<_> =
            rows().filter_map(parse).map(|row| row.label).collect();
        assert!(kinds.len() >= 200, "{}", kinds.len());
    }
}
