//! A writer that redacts a stream, however it is cut into chunks.
//!
//! A line is passed on once it is complete. A line longer than the limit is passed on in
//! parts that are never cut inside a secret. What is written depends on the bytes alone,
//! not on how many arrived at once.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use crate::{Redactor, pem::Blocks, work};

/// A line is held back up to this many bytes.
const LIMIT: usize = 64 * 1024;
/// How much of an over-long line stays behind, so that a secret at its end is seen whole.
const HOLD: usize = 8 * 1024;

/// Redacts what is written through it. The end of an unfinished line stays behind until
/// its newline, [`Self::finish`] or drop; `flush` does not force it out.
pub struct RedactingWriter<W: Write> {
    /// Empty only after `finish`.
    inner: Option<W>,
    redactor: Redactor,
    held: Vec<u8>,
    /// How many of the held bytes are known to hold no newline.
    searched: usize,
    blocks: Blocks,
    /// A secret longer than the limit is being dropped up to its end.
    swallowing: bool,
}

impl<W: Write> RedactingWriter<W> {
    /// Wraps a writer.
    pub fn new(inner: W, redactor: Redactor) -> Self {
        Self {
            inner: Some(inner),
            redactor,
            held: Vec::new(),
            searched: 0,
            blocks: Blocks::default(),
            swallowing: false,
        }
    }

    /// Writes what is held back and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_tail()?;
        self.inner
            .take()
            .ok_or_else(|| io::Error::other("the writer was finished before"))
    }

    fn write_tail(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.held);
        let mut out = Vec::new();
        self.pass_part(&rest, &mut out);
        self.blocks.finish(&mut out);
        match &mut self.inner {
            Some(inner) => inner.write_all(&out).and_then(|()| inner.flush()),
            None => Ok(()),
        }
    }

    /// How many of the held bytes may go now, decided from at most the first `LIMIT`; the first
    /// `searched` hold no newline.
    fn cut(&self, held: &[u8], searched: usize) -> Option<usize> {
        let window = &held[..held.len().min(LIMIT)];
        let searched = searched.min(window.len());
        work::note(window.len() - searched);
        if let Some(newline) = window[searched..].iter().position(|byte| *byte == b'\n') {
            return Some(searched + newline + 1);
        }
        if window.len() < LIMIT {
            return None;
        }
        // A cut inside a secret moves to its end, which may lie in another secret.
        let mut spans = self.redactor.spans(window);
        spans.sort_unstable_by_key(|span| span.start);
        let mut cut = LIMIT - HOLD;
        for span in spans {
            if span.start < cut && cut < span.end {
                cut = span.end;
            }
        }
        Some(cut)
    }

    /// Redacts a part of a line and appends it to `out`.
    fn pass_part(&mut self, part: &[u8], out: &mut Vec<u8>) {
        let mut part = part;
        if self.swallowing {
            let is_end = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'');
            match part.iter().position(is_end) {
                Some(end) => {
                    self.swallowing = false;
                    part = &part[end..];
                }
                None => return,
            }
        }
        // A secret that reaches the end of a full part continues in the next one.
        if part.len() == LIMIT && !part.ends_with(b"\n") {
            self.swallowing = self
                .redactor
                .spans(part)
                .iter()
                .any(|span| span.end == LIMIT);
        }
        self.pass_lines(part, out);
    }

    /// Redacts lines, which do not depend on each other but for secrets of several, and appends
    /// them to `out`.
    fn pass_lines(&mut self, lines: &[u8], out: &mut Vec<u8>) {
        if !self.blocks.are_open() && !Redactor::may_span_lines(lines) {
            out.extend_from_slice(&self.redactor.redact_lines(Cow::Borrowed(lines)));
            return;
        }
        let mut without_keys = Vec::with_capacity(lines.len());
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.blocks.feed(line, &mut without_keys);
        }
        out.extend_from_slice(&self.redactor.redact_lines(Cow::Owned(without_keys)));
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(chunk);
        let held = std::mem::take(&mut self.held);
        let mut out = Vec::new();
        // Whole lines from `lines` to `at` wait, to be redacted in one go.
        let (mut lines, mut at) = (0, 0);
        let mut searched = std::mem::take(&mut self.searched);
        while let Some(length) = self.cut(&held[at..], searched) {
            searched = 0;
            let end = at + length;
            if self.swallowing || held[end - 1] != b'\n' {
                self.pass_lines(&held[lines..at], &mut out);
                self.pass_part(&held[at..end], &mut out);
                lines = end;
            }
            at = end;
        }
        self.pass_lines(&held[lines..at], &mut out);
        self.held = held;
        self.held.drain(..at);
        self.searched = self.held.len();
        if let Some(inner) = &mut self.inner
            && !out.is_empty()
        {
            inner.write_all(&out)?;
        }
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl<W: Write> Drop for RedactingWriter<W> {
    fn drop(&mut self) {
        // There is no caller left to report to; `finish` reports.
        let _ = self.write_tail();
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
