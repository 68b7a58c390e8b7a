//! A secret that was found once in a line is hidden wherever that line has it again, also where
//! nothing announces it: `token = 'x' | 'x'`, a value that is assigned and then printed.

use std::ops::Range;

use memchr::memmem;

use crate::{rules::PLACEHOLDER, work};

/// Longer lines are data, where a repetition says little and a search costs much.
const LONGEST_LINE: usize = 16 * 1024;
/// How many secrets of one line are looked for.
const MOST: usize = 8;
/// Shorter values occur by chance.
const SHORTEST: usize = 8;

/// Where the found secrets occur again, each with its number; `found` is in order.
pub(crate) fn of(text: &[u8], found: &[Range<usize>]) -> Vec<(usize, Range<usize>)> {
    let mut repeats = Vec::new();
    let mut at = 0;
    while at < found.len() {
        let line = line_around(text, &found[at]);
        let begin_in_line = |range: &&Range<usize>| range.start < line.end;
        let in_line = found[at..].iter().take_while(begin_in_line).count().max(1);
        let secrets = &found[at..at + in_line];
        if line.len() <= LONGEST_LINE && in_line <= MOST {
            let is_apart = |range: &Range<usize>| {
                let is_before = |other: &Range<usize>| other.end <= range.start;
                let mut others = secrets.iter();
                others.all(|other| is_before(other) || range.end <= other.start)
            };
            for (index, secret) in secrets.iter().enumerate() {
                let value = &text[secret.clone()];
                if !is_distinct(value) {
                    continue;
                }
                work::note(line.len());
                let hits = memmem::find_iter(&text[line.clone()], value)
                    .map(|start| line.start + start..line.start + start + value.len())
                    .filter(|range| stands_alone(text, range) && is_apart(range));
                repeats.extend(hits.map(|range| (at + index, range)));
            }
        }
        at += in_line;
    }
    repeats
}

/// The line that a range begins in; at most a little more than is searched.
fn line_around(text: &[u8], range: &Range<usize>) -> Range<usize> {
    let floor = range.start.saturating_sub(LONGEST_LINE);
    let ceiling = text.len().min(range.end + LONGEST_LINE);
    let before = memchr::memrchr(b'\n', &text[floor..range.start]);
    let after = memchr::memchr(b'\n', &text[range.end..ceiling]);
    before.map_or(floor, |at| floor + at + 1)..after.map_or(ceiling, |at| range.end + at)
}

/// Whether a value is long and mixed enough not to occur by chance.
fn is_distinct(value: &[u8]) -> bool {
    value.len() >= SHORTEST
        && (value.len() >= 16 || value.iter().any(u8::is_ascii_digit))
        && value.iter().any(|byte| *byte != value[0])
}

/// Whether it is no part of a longer word or of an earlier replacement.
fn stands_alone(text: &[u8], range: &Range<usize>) -> bool {
    let is_word = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(u8::is_ascii_alphanumeric)
    };
    !is_word(range.start.checked_sub(1))
        && !is_word(Some(range.end))
        && !text[..range.start].ends_with(PLACEHOLDER.as_bytes())
}
