//! Splits a byte stream into lines without ever holding more than one line's limit.
//!
//! Not here: what a line means (`frame`). A line over the limit is reported once, as soon
//! as it is known to be too long; the rest of it is skipped, not stored.

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The bytes between two newlines, without them; never blank.
    Text(&'a [u8]),
    /// The line is longer than the limit; its remaining bytes are dropped unread.
    TooLong,
}

/// Where the reader stands within the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Before the first byte: a byte-order mark may still follow.
    Start,
    /// Inside ordinary input.
    Lines,
    /// Inside a line that was reported as too long.
    Skipping,
}

/// Bytes in, lines out. The result does not depend on how the bytes were chunked.
#[derive(Debug)]
pub struct LineReader {
    buffer: Vec<u8>,
    /// Start of the line being collected; everything before it was handed out.
    start: usize,
    /// How far the search for a newline has come.
    scanned: usize,
    limit: usize,
    mode: Mode,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// What one read asks for; also the capacity an idle reader falls back to.
const CHUNK: usize = 64 * 1024;

impl LineReader {
    /// A reader that accepts lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
            mode: Mode::Start,
        }
    }

    /// Adds bytes as they come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.room().extend_from_slice(bytes);
    }

    /// The buffer to read into: append to it, change nothing that is there.
    pub fn room(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > 16 * CHUNK {
            self.buffer.shrink_to(CHUNK);
        }
        self.buffer.reserve(CHUNK);
        &mut self.buffer
    }

    /// The next complete line, if there is one.
    #[expect(
        clippy::should_implement_trait,
        reason = "the line borrows from the reader"
    )]
    pub fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let newline = self.buffer[self.scanned..]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(newline) = newline.map(|offset| self.scanned + offset) else {
                self.scanned = self.buffer.len();
                return self.overrun();
            };
            let begin = std::mem::replace(&mut self.start, newline + 1);
            self.scanned = self.start;
            if let Some(range) = self.judge(begin, newline) {
                return Some(range.map_or(Line::TooLong, |(from, to)| {
                    Line::Text(&self.buffer[from..to])
                }));
            }
        }
    }

    /// The last line when the stream ended without a newline.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        let end = self.buffer.len();
        let begin = std::mem::replace(&mut self.start, end);
        self.scanned = end;
        let range = self.judge(begin, end)?;
        Some(range.map_or(Line::TooLong, |(from, to)| {
            Line::Text(&self.buffer[from..to])
        }))
    }

    /// Reports a line that has no end in sight and is already too long.
    fn overrun(&mut self) -> Option<Line<'_>> {
        let length = self.buffer.len() - self.start;
        if self.mode == Mode::Skipping {
            self.start = self.buffer.len();
            return None;
        }
        if length <= self.limit {
            return None;
        }
        self.start = self.buffer.len();
        self.mode = Mode::Skipping;
        Some(Line::TooLong)
    }

    /// Decides over one whole line: `None` to pass over it, `Some(None)` when it is too
    /// long, else the range of its text.
    fn judge(&mut self, mut begin: usize, end: usize) -> Option<Option<(usize, usize)>> {
        let mode = std::mem::replace(&mut self.mode, Mode::Lines);
        if mode == Mode::Skipping {
            return None;
        }
        if end - begin > self.limit {
            return Some(None);
        }
        if mode == Mode::Start && self.buffer[begin..end].starts_with(BYTE_ORDER_MARK) {
            begin += BYTE_ORDER_MARK.len();
        }
        let blank = self.buffer[begin..end]
            .iter()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        (!blank).then_some(Some((begin, end)))
    }
}
