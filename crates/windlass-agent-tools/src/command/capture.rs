//! One stream of a command: its end in memory, all of it in a file once it is long.

use std::{collections::VecDeque, fs::File, io::Write as _, path::PathBuf, sync::Arc};

use crate::{Hiding, Spilled, Spills, Veil};

/// More lines or bytes than this go to a file, and only the last of them are told.
pub(super) const MOST_LINES: u64 = 300;
pub(super) const MOST_BYTES: u64 = 64 * 1024;
/// What is kept in memory: at least what is told, at most this. With a piece that is being read, a
/// stream takes less than 256 KiB.
const MOST_KEPT: usize = 128 * 1024;
/// A longer output is cut: its beginning and its end are kept.
const MOST_FILE: u64 = 4 << 30;

/// What a stream wrote.
pub(super) struct Capture {
    veil: Box<dyn Veil>,
    /// Pieces after secrets are hidden, before they are taken in.
    told: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    lines: u64,
    spills: Arc<Spills>,
    name: String,
    file: Option<(File, PathBuf)>,
    trouble: Option<String>,
}

/// What is told of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Captured {
    pub text: String,
    pub spilled: Option<Spilled>,
}

impl Capture {
    pub(super) fn new(hiding: &dyn Hiding, spills: Arc<Spills>, name: &str) -> Self {
        Self {
            veil: hiding.begin(),
            told: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
            lines: 0,
            spills,
            name: name.to_owned(),
            file: None,
            trouble: None,
        }
    }

    /// Takes a piece; hands on what can be told of it.
    pub(super) fn push(&mut self, piece: &[u8], mut tell: impl FnMut(&[u8])) {
        let mut told = std::mem::take(&mut self.told);
        self.veil.push(piece, &mut told);
        tell(&told);
        self.take(&told);
        told.clear();
        self.told = told;
    }

    /// Takes what was held back.
    pub(super) fn finish(&mut self, mut tell: impl FnMut(&[u8])) {
        let mut told = Vec::new();
        self.veil.finish(&mut told);
        tell(&told);
        self.take(&told);
    }

    fn take(&mut self, told: &[u8]) {
        self.bytes += told.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', told).count() as u64;
        let is_long = self.bytes > MOST_BYTES || self.lines > MOST_LINES;
        if is_long && self.file.is_none() && self.trouble.is_none() {
            // The tail still has all that came before.
            match self.spills.file(&self.name) {
                Ok(made) => self.file = Some(made),
                Err(error) => self.trouble = Some(error.to_string()),
            }
            let (first, second) = self.tail.as_slices();
            let earlier = [first, second].concat();
            self.write(&earlier);
        }
        self.write(told);
        let keep = told.len().min(MOST_KEPT);
        let surplus = (self.tail.len() + keep).saturating_sub(MOST_KEPT);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail
            .extend(told.get(told.len() - keep..).unwrap_or_default());
    }

    fn write(&mut self, told: &[u8]) {
        if self.trouble.is_some() {
            return;
        }
        if let Some((file, _)) = &mut self.file {
            let written = match self.bytes <= MOST_FILE {
                true => file.write_all(told).map_err(|error| error.to_string()),
                false => Err(format!("it is longer than {} GiB", MOST_FILE >> 30)),
            };
            self.trouble = written.err();
        }
    }

    /// What is told now: everything, or its last lines and where the rest is.
    pub(super) fn told(&mut self) -> Captured {
        let is_long = self.bytes > MOST_BYTES || self.lines > MOST_LINES;
        let all: &[u8] = self.tail.make_contiguous();
        if !is_long {
            return Captured {
                text: String::from_utf8_lossy(all).into_owned(),
                spilled: None,
            };
        }
        let shown = last(all);
        let lines = memchr::memchr_iter(b'\n', shown).count();
        let place = match (&self.file, &self.trouble) {
            (Some((_, path)), None) => format!("; all of it: {}", path.display()),
            (Some((_, path)), Some(trouble)) => {
                format!("; its beginning: {} ({trouble})", path.display())
            }
            (None, trouble) => format!(
                "; the rest could not be kept: {}",
                trouble.as_deref().unwrap_or("no file")
            ),
        };
        Captured {
            text: format!(
                "[{} lines, {} bytes; the last {lines} lines follow{place}]\n{}",
                self.lines,
                self.bytes,
                String::from_utf8_lossy(shown)
            ),
            spilled: self.file.as_ref().map(|(_, path)| Spilled {
                path: path.display().to_string(),
                bytes: self.bytes,
                lines: self.lines,
            }),
        }
    }
}

/// The last lines that may be told; of a single long line its end.
fn last(all: &[u8]) -> &[u8] {
    let tail = all.get(all.len().saturating_sub(MOST_BYTES as usize)..);
    let tail = tail.unwrap_or_default();
    let body = tail.strip_suffix(b"\n").unwrap_or(tail);
    let is_cut = all.len() > tail.len();
    let start = memchr::memrchr_iter(b'\n', body)
        .nth(MOST_LINES as usize - 1)
        // A line of which only the end is here is left out.
        .or_else(|| memchr::memchr(b'\n', body).filter(|_| is_cut));
    start.map_or(tail, |end| tail.get(end + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Session;

    #[test]
    fn nothing_is_lost_however_it_is_cut() {
        let session = Session::new();
        let context = &session.context;
        let all: String = (0..20_000)
            .map(|line| format!("line {line} hunter2\n"))
            .collect();
        let hidden = all.replace("hunter2", "[REDACTED_SECRET:test:aaaaaa]");
        for size in [13, 1_000, 64 * 1024, all.len()] {
            let mut capture = Capture::new(context.hiding.as_ref(), context.spills.clone(), "x");
            let mut told = Vec::new();
            for piece in all.as_bytes().chunks(size) {
                capture.push(piece, |piece| told.extend_from_slice(piece));
                assert!(capture.tail.len() <= MOST_KEPT);
            }
            capture.finish(|piece| told.extend_from_slice(piece));
            assert!(told == hidden.as_bytes());
            let captured = capture.told();
            let spilled = captured.spilled.unwrap();
            assert!(fs_err::read_to_string(spilled.path).unwrap() == hidden);
            let shown = captured.text.split_once('\n').unwrap().1;
            assert!(hidden.ends_with(shown));
            assert_eq!(shown.lines().count(), 300);
        }
    }

    #[test]
    fn the_last_lines() {
        let lines = |from: u32, to: u32| (from..=to).map(|n| format!("{n}\n")).collect::<String>();
        let long = "x".repeat(100_000);
        for (all, expected) in [
            (lines(1, 301), lines(2, 301)),
            (lines(1, 300), lines(1, 300)),
            (lines(1, 300) + "end", lines(2, 300) + "end"),
            (long.clone(), long[..MOST_BYTES as usize].to_owned()),
            (format!("{long}\na\nb"), "a\nb".to_owned()),
        ] {
            assert!(last(all.as_bytes()) == expected.as_bytes());
        }
    }
}
