//! The table of secret formats, `kinds.txt`: one line per kind.
//!
//! The compiler reads it, so that no process does when it starts, and its rows hold places in the
//! text instead of pointers, which would have to be filled in at every start.

use crate::rules::{Charset, Looks, Rule, Shape, Token};

const TABLE: &str = include_str!("kinds.txt");
static TEXT: &str = TABLE;
const BYTES: &[u8] = TABLE.as_bytes();
const _: () = assert!(
    TABLE.len() < u16::MAX as usize,
    "places in the table have 16 bits"
);

/// How many rules the table has: one for each prefix and each context word.
pub(crate) const COUNT: usize = read([]).1;

static ROWS: [Row; COUNT] = read([Row::EMPTY; COUNT]).0;

/// The rule of a number.
pub(crate) fn rule(index: usize) -> Rule {
    let row = &ROWS[index];
    let token = Token {
        body: row.body,
        min: row.min as usize,
        max: match row.max {
            UNLIMITED => usize::MAX,
            max => max as usize,
        },
        looks: row.looks,
    };
    Rule {
        label: row.label.text(),
        anchor: row.anchor.text(),
        shape: match row.is_context {
            true => Shape::Context(token),
            false => Shape::Token(token),
        },
    }
}

/// The label of that rule.
pub(crate) fn label(index: usize) -> &'static str {
    ROWS[index].label.text()
}

/// The anchor of that rule.
pub(crate) const fn anchor(index: usize) -> &'static str {
    ROWS[index].anchor.text()
}

/// The most of a length without a limit.
const UNLIMITED: u16 = u16::MAX;

/// One anchor of a line.
#[derive(Clone, Copy)]
struct Row {
    label: Place,
    anchor: Place,
    body: Charset,
    looks: Looks,
    is_context: bool,
    min: u16,
    max: u16,
}

impl Row {
    const EMPTY: Self = Self {
        label: Place { start: 0, end: 0 },
        anchor: Place { start: 0, end: 0 },
        body: Charset::Digit,
        looks: Looks::Any,
        is_context: false,
        min: 0,
        max: 0,
    };
}

/// Where a word stands in the table.
#[derive(Clone, Copy)]
struct Place {
    start: u16,
    end: u16,
}

impl Place {
    const fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u16,
            end: end as u16,
        }
    }

    const fn text(self) -> &'static str {
        TEXT.split_at(self.end as usize)
            .0
            .split_at(self.start as usize)
            .1
    }

    const fn is(self, other: &str) -> bool {
        let other = other.as_bytes();
        let (start, len) = (self.start as usize, (self.end - self.start) as usize);
        let mut at = 0;
        while at < len && at < other.len() && BYTES[start + at] == other[at] {
            at += 1;
        }
        at == len && at == other.len()
    }
}

/// Fills in the rows there is room for, and counts all. A comment or a line of another form has none.
const fn read<const ROOM: usize>(mut rows: [Row; ROOM]) -> ([Row; ROOM], usize) {
    let (mut count, mut at) = (0, 0);
    while at < BYTES.len() {
        if let Some((row, after)) = kind(at) {
            at = after;
            while let Some(word) = word(at) {
                at = word.end as usize;
                let is_context = BYTES[word.start as usize] == b'~';
                if count < ROOM {
                    rows[count] = Row {
                        anchor: Place::new(word.start as usize + is_context as usize, at),
                        is_context,
                        ..row
                    };
                }
                count += 1;
            }
        }
        while at < BYTES.len() && BYTES[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    (rows, count)
}

/// The next word of the line.
const fn word(mut at: usize) -> Option<Place> {
    while at < BYTES.len() && (BYTES[at] == b' ' || BYTES[at] == b'\t') {
        at += 1;
    }
    let start = at;
    while at < BYTES.len() && !BYTES[at].is_ascii_whitespace() {
        at += 1;
    }
    match at > start {
        true => Some(Place::new(start, at)),
        false => None,
    }
}

/// `kind alphabet length looks`, and where the anchors begin.
const fn kind(at: usize) -> Option<(Row, usize)> {
    let Some(label) = word(at) else { return None };
    if BYTES[label.start as usize] == b'#' {
        return None;
    }
    let Some(body) = word(label.end as usize) else {
        return None;
    };
    let Some(length) = word(body.end as usize) else {
        return None;
    };
    let Some(looks) = word(length.end as usize) else {
        return None;
    };
    let row = match (charset_of(body), length_of(length), looks_of(looks)) {
        (Some(body), Some((min, max)), Some(looks)) => Row {
            label,
            body,
            looks,
            min,
            max,
            ..Row::EMPTY
        },
        _ => return None,
    };
    Some((row, looks.end as usize))
}

const CHARSETS: [(&str, Charset); 12] = [
    ("digit", Charset::Digit),
    ("hex", Charset::Hex),
    ("lower", Charset::Lower),
    ("upper", Charset::Upper),
    ("alnum", Charset::Alphanumeric),
    ("word", Charset::Word),
    ("url", Charset::Url),
    ("dotted", Charset::Dotted),
    ("base64", Charset::Base64),
    ("path", Charset::Path),
    ("loose", Charset::Loose),
    ("crypt", Charset::Crypt),
];

const fn charset_of(word: Place) -> Option<Charset> {
    let mut at = 0;
    while at < CHARSETS.len() {
        if word.is(CHARSETS[at].0) {
            return Some(CHARSETS[at].1);
        }
        at += 1;
    }
    None
}

const LOOKS: [(&str, Looks); 6] = [
    ("any", Looks::Any),
    ("digit", Looks::Digit),
    ("mixed", Looks::Mixed),
    ("capital", Looks::Capital),
    ("random", Looks::Random),
    ("parts", Looks::Parts),
];

const fn looks_of(word: Place) -> Option<Looks> {
    let mut at = 0;
    while at < LOOKS.len() {
        if word.is(LOOKS[at].0) {
            return Some(LOOKS[at].1);
        }
        at += 1;
    }
    None
}

/// `min..max` or `min..`
const fn length_of(word: Place) -> Option<(u16, u16)> {
    let (min, mut at) = number(word.start as usize);
    let end = word.end as usize;
    if at == word.start as usize || at + 2 > end || BYTES[at] != b'.' || BYTES[at + 1] != b'.' {
        return None;
    }
    at += 2;
    if at == end {
        return Some((min, UNLIMITED));
    }
    let (max, after) = number(at);
    match after == end {
        true => Some((min, max)),
        false => None,
    }
}

const fn number(mut at: usize) -> (u16, usize) {
    let mut number = 0_u16;
    while at < BYTES.len() && BYTES[at].is_ascii_digit() {
        number = number
            .saturating_mul(10)
            .saturating_add((BYTES[at] - b'0') as u16);
        at += 1;
    }
    (number, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::LOOK;

    fn lines() -> impl Iterator<Item = &'static str> {
        TABLE
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
    }

    #[test]
    fn every_line_is_read_as_it_is_written() {
        let mut rows = ROWS.iter();
        for line in lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            assert!(words.len() > 4, "a kind has an anchor: {line}");
            for anchor in &words[4..] {
                let row = rows.next().unwrap_or_else(|| panic!("{line}"));
                assert_eq!(row.label.text(), words[0], "{line}");
                assert_eq!(row.anchor.text(), anchor.trim_start_matches('~'), "{line}");
                assert_eq!(row.is_context, anchor.starts_with('~'), "{line}");
                let named = CHARSETS.iter().find(|(name, _)| *name == words[1]);
                assert_eq!(row.body, named.unwrap().1, "{line}");
                let named = LOOKS.iter().find(|(name, _)| *name == words[3]);
                assert_eq!(row.looks, named.unwrap().1, "{line}");
                let length = match row.max {
                    UNLIMITED => format!("{}..", row.min),
                    max => format!("{}..{max}", row.min),
                };
                assert_eq!(length, words[2], "{line}");
            }
        }
        assert!(rows.next().is_none());
    }

    #[test]
    fn every_row_has_an_anchor_of_three_bytes_and_a_length_that_is_looked_at() {
        for row in &ROWS {
            let (label, anchor) = (row.label.text(), row.anchor.text());
            let is_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(label.bytes().all(is_word), "{label}");
            assert!(row.min <= row.max, "{label} {anchor}");
            let is_looked_at = row.max == UNLIMITED || usize::from(row.max) < LOOK;
            assert!(is_looked_at, "{label} {anchor}");
            assert!(anchor.len() >= 3 && anchor.is_ascii(), "{label} {anchor}");
        }
    }

    #[test]
    fn no_anchor_stands_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for row in &ROWS {
            let anchor = (row.is_context, row.anchor.text());
            assert!(seen.insert(anchor), "{anchor:?}");
        }
    }

    #[test]
    fn the_table_knows_hundreds_of_kinds() {
        let kinds: std::collections::BTreeSet<_> = (0..COUNT).map(label).collect();
        assert!(kinds.len() >= 200, "{}", kinds.len());
    }
}
