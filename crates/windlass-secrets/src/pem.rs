//! Private key blocks: the one secret that spans lines.
//!
//! Fed line by line, so that a stream and a whole text are treated alike. A block that is
//! cut short ends at the first line that cannot belong to it.

use std::ops::Range;

use crate::rules::{PLACEHOLDER, PRIVATE_KEY};

pub(crate) const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

/// Where in a block the stream stands.
#[derive(Default)]
pub(crate) struct Blocks {
    open: bool,
    /// The newline before the current line was held back with the block.
    newline_owed: bool,
}

impl Blocks {
    /// Whether the stream stands inside a block.
    pub(crate) fn are_open(&self) -> bool {
        self.open
    }

    /// Appends the line, without private keys, to `out`.
    pub(crate) fn feed(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let mut rest = line;
        if self.open {
            if let Some(end) = marker_end(rest, END) {
                self.close();
                rest = &rest[end..];
            } else if belongs(rest) {
                self.newline_owed = rest.ends_with(b"\n");
                return;
            } else {
                self.finish(out);
            }
        }
        while let Some((start, after)) = begin(rest) {
            out.extend_from_slice(&rest[..start]);
            out.extend_from_slice(PLACEHOLDER.as_bytes());
            out.extend_from_slice(PRIVATE_KEY.as_bytes());
            out.push(b']');
            rest = &rest[after..];
            if let Some(end) = marker_end(rest, END) {
                rest = &rest[end..];
                continue;
            }
            let tail = &rest[body_length(rest)..];
            if tail.is_empty() || tail == b"\n" || tail == b"\r\n" {
                self.open = true;
                self.newline_owed = tail.ends_with(b"\n");
                return;
            }
            rest = tail;
        }
        out.extend_from_slice(rest);
    }

    /// Ends the text: a held-back newline is given out.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        if self.newline_owed {
            out.push(b'\n');
        }
        self.close();
    }

    fn close(&mut self) {
        *self = Self::default();
    }
}

/// Where the blocks of one line lie; one that is not closed reaches as far as its body.
pub(crate) fn spans(line: &[u8]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some((start, after)) = begin(&line[from..]) {
        let body = &line[from + after..];
        let length = marker_end(body, END).unwrap_or_else(|| body_length(body));
        spans.push(from + start..from + after + length);
        from += after + length;
    }
    spans
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
        .take_while(|byte| **byte != b'-' && **byte != b'\n')
        .count();
    line[start + name..]
        .starts_with(b"-----")
        .then_some(start + name + 5)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
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
    at
}

fn belongs(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    body_length(line) == line.len()
        || [&b"Proc-Type:"[..], b"DEK-Info:", b"Version:", b"Comment:"]
            .iter()
            .any(|name| line.starts_with(name))
}
