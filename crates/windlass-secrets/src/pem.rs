//! Secrets that span lines: private key blocks, and the text of an element that stands on a line
//! of its own below the element's tag.
//!
//! Fed line by line, so that a stream and a whole text are treated alike. A block that is
//! cut short ends at the first line that cannot belong to it.

use std::ops::Range;

use crate::{
    rules::{self, PLACEHOLDER, PRIVATE_KEY},
    work,
};

pub(crate) const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

/// The longest tag that is looked at.
const LONGEST_TAG: usize = 64;
/// The shortest line of a key that is written as quoted pieces.
const SHORTEST_PIECE: usize = 16;
/// The label of an element's text.
const ELEMENT: &str = "secret";

/// Where in a block the stream stands.
#[derive(Default)]
pub(crate) struct Blocks {
    open: bool,
    /// The lines of the block are quoted pieces of program text.
    is_quoted: bool,
    /// The line before opened an element that is named like a secret.
    in_element: bool,
    /// What stood between the block and the current line, held back with the block.
    owed: Vec<u8>,
}

impl Blocks {
    /// Whether the stream stands inside a block.
    pub(crate) fn are_open(&self) -> bool {
        self.open || self.in_element
    }

    /// Appends the line, without private keys, to `out`.
    pub(crate) fn feed(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let mut rest = line;
        if std::mem::take(&mut self.in_element)
            && let Some(value) = element_text(line)
        {
            out.extend_from_slice(&line[..value.start]);
            put(ELEMENT, out);
            out.extend_from_slice(&line[value.end..]);
            return;
        }
        self.in_element = line.ends_with(b"\n") && opens_element(line);
        if self.open {
            if let Some(end) = marker_end(rest, END) {
                self.close();
                rest = &rest[end..];
            } else if belongs(rest, self.is_quoted) {
                self.owed.clear();
                let newline = rest.iter().rposition(|byte| *byte == b'\n');
                self.owed.extend(newline.map(|at| rest[at]));
                return;
            } else {
                self.finish(out);
            }
        }
        let mut ends = Ends::default();
        while let Some((start, after)) = begin(rest) {
            out.extend_from_slice(&rest[..start]);
            put(PRIVATE_KEY, out);
            rest = &rest[after..];
            if let Some(end) = ends.first(line, line.len() - rest.len()) {
                rest = &line[end..];
                continue;
            }
            let tail = &rest[body_length(rest)..];
            let is_end = tail.is_empty() || tail == b"\n" || tail == b"\r\n";
            if is_end || is_seam(tail) {
                self.open = true;
                self.is_quoted = !is_end;
                self.owed = match is_end {
                    true => tail.iter().rev().take(1).copied().collect(),
                    false => tail.to_vec(),
                };
                return;
            }
            rest = tail;
        }
        out.extend_from_slice(rest);
    }

    /// Ends the block: what was held back is given out.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.owed);
        self.close();
    }

    fn close(&mut self) {
        (self.open, self.is_quoted) = (false, false);
        self.owed.clear();
    }
}

fn put(label: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(PLACEHOLDER.as_bytes());
    out.extend_from_slice(label.as_bytes());
    out.push(b']');
}

/// Whether the line ends with the opening tag of an element that is named like a secret.
pub(crate) fn opens_element(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Some(line) = line.strip_suffix(b">") else {
        return false;
    };
    let window = &line[line.len().saturating_sub(LONGEST_TAG)..];
    let Some(start) = window.iter().rposition(|byte| *byte == b'<') else {
        return false;
    };
    let name = &window[start + 1..];
    let in_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'.');
    name.first().is_some_and(u8::is_ascii_alphanumeric)
        && name.iter().all(in_name)
        && std::str::from_utf8(name).is_ok_and(rules::names_a_secret)
}

/// The one word that the line consists of, where it may be a secret.
fn element_text(line: &[u8]) -> Option<Range<usize>> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let text = line[start..].trim_ascii_end();
    let is_value = |byte: &u8| *byte > b' ' && !matches!(byte, b'<' | b'>' | b'{' | b'(' | b'"');
    let is_secret = text.len() >= 8
        && text.iter().all(is_value)
        && !matches!(text[0], b'$' | b'%' | b'*' | b'/')
        && find(text, PLACEHOLDER.as_bytes()).is_none();
    work::note(line.len());
    is_secret.then_some(start..start + text.len())
}

/// Whether only signs that join quoted pieces stand here, as in `" +`.
fn is_seam(tail: &[u8]) -> bool {
    let tail = &tail[..tail.len().min(17)];
    let is_quoted = |byte: &u8| matches!(byte, b'"' | b'\'');
    tail.len() <= 16 && tail.iter().any(is_quoted) && pieces(tail).is_empty()
}

/// A quoted piece without its quotes and the signs that join it to others.
fn pieces(line: &[u8]) -> &[u8] {
    let joins = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'+' | b',' | b'.' | b'\\')
    };
    let start = line.iter().position(|byte| !joins(byte));
    let end = line.iter().rposition(|byte| !joins(byte));
    match (start, end) {
        (Some(start), Some(end)) => &line[start..=end],
        _ => &[],
    }
}

/// Where the blocks of one line lie; one that is not closed reaches as far as its body.
pub(crate) fn spans(line: &[u8]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut ends = Ends::default();
    let mut from = 0;
    while let Some((start, after)) = begin(&line[from..]) {
        let body = from + after;
        let end = ends
            .first(line, body)
            .unwrap_or_else(|| body + body_length(&line[body..]));
        spans.push(from + start..end);
        from = end;
    }
    spans
}

/// Finds the end markers of one line, each of them once: a line may hold many beginnings and no
/// end.
#[derive(Default)]
struct Ends {
    /// Where the first marker at or after `from` begins, once looked for.
    next: Option<Option<usize>>,
}

impl Ends {
    /// Where the first end marker at or after `from` ends. `from` never decreases.
    fn first(&mut self, line: &[u8], from: usize) -> Option<usize> {
        let is_behind = |next: &Option<usize>| next.is_none_or(|start| start >= from);
        let next = match self.next.filter(is_behind) {
            Some(next) => next,
            None => find(&line[from..], END).map(|start| from + start),
        };
        self.next = Some(next);
        let start = next?;
        marker_end(&line[start..], END).map(|end| start + end)
    }
}

/// The first `-----BEGIN … PRIVATE KEY-----` of a line: where it begins and ends.
fn begin(line: &[u8]) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(found) = find(&line[from..], BEGIN) {
        let start = from + found;
        if let Some(end) = marker_end(&line[start..], BEGIN) {
            let marker = &line[start..start + end];
            if find(marker, b"PRIVATE KEY").is_some() {
                return Some((start, start + end));
            }
        }
        from = start + BEGIN.len();
    }
    None
}

/// Where the first marker of this kind ends.
fn marker_end(line: &[u8], kind: &[u8]) -> Option<usize> {
    let start = find(line, kind)? + kind.len();
    let name = line[start..]
        .iter()
        .take(64)
        // No replacement, so that redacting twice is redacting once.
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b' ')
        .count();
    line[start + name..]
        .starts_with(b"-----")
        .then_some(start + name + 5)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let found = haystack
        .windows(needle.len())
        .position(|window| window == needle);
    work::note(found.unwrap_or(haystack.len()));
    found
}

/// How much of the line is base64, with the escapes that stand for line ends and slashes
/// in quoted text.
fn body_length(line: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => {
                let escapes = line[at..].iter().take_while(|byte| **byte == b'\\').count();
                match line.get(at + escapes) {
                    Some(b'n' | b'r' | b'/') => at += escapes + 1,
                    _ => break,
                }
            }
            b'+' | b'/' | b'=' => at += 1,
            other if other.is_ascii_alphanumeric() => at += 1,
            _ => break,
        }
    }
    work::note(at);
    at
}

fn belongs(line: &[u8], is_quoted: bool) -> bool {
    if is_quoted {
        let piece = pieces(line);
        // The escape of a line end is a part of the piece.
        let length = piece.len().saturating_sub(2);
        return length >= SHORTEST_PIECE && body_length(piece) >= length;
    }
    let line = line.trim_ascii();
    body_length(line) == line.len()
        || [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:"]
            .iter()
            .any(|name| line.starts_with(name))
}
