//! A file read line by line in bounded memory.

use std::io::{self, BufRead};

/// As much of a line as is kept.
pub(super) const LONGEST: usize = 16 * 1024;

/// A line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Its beginning, without the line end.
    pub bytes: Vec<u8>,
    /// How long it is.
    pub length: u64,
}

/// Calls `each` with every line and its number, from 1, until it says no. Returns whether the end was
/// reached.
pub(super) fn each(
    mut reader: impl BufRead,
    mut each: impl FnMut(u64, &Line) -> bool,
) -> io::Result<bool> {
    let mut line = Line::default();
    let mut number = 0;
    let mut is_open = false;
    loop {
        let chunk = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        if chunk.is_empty() {
            return Ok(!is_open || each(number + 1, &line));
        }
        let end = memchr::memchr(b'\n', chunk);
        let piece = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        let room = LONGEST.saturating_sub(line.bytes.len()).min(piece.len());
        line.bytes
            .extend_from_slice(piece.get(..room).unwrap_or_default());
        line.length += piece.len() as u64;
        let used = piece.len() + usize::from(end.is_some());
        is_open = end.is_none();
        if end.is_some() {
            number += 1;
            if line.bytes.last() == Some(&b'\r') {
                line.bytes.pop();
            }
            if !each(number, &line) {
                return Ok(false);
            }
            line.bytes.clear();
            line.length = 0;
        }
        reader.consume(used);
    }
}
