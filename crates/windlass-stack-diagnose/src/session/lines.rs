//! Output of a terminal, cut into lines as it comes.

/// The longest line that is looked at; the rest of a longer one is dropped.
const LONGEST: usize = 1 << 20;

/// A line that has not ended yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// Takes bytes; returns the lines that have ended.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LONGEST.saturating_sub(self.pending.len());
            self.pending
                .extend_from_slice(&text[..text.len().min(room)]);
            if piece.ends_with(b"\n") {
                lines.push(self.end());
            }
        }
        lines
    }

    /// What is left where no line ended, if anything.
    pub(crate) fn rest(&mut self) -> Option<String> {
        (!self.pending.is_empty()).then(|| self.end())
    }

    fn end(&mut self) -> String {
        let line = String::from_utf8_lossy(&self.pending);
        let line = line.trim_end_matches('\r').to_owned();
        self.pending.clear();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_assembled_and_bounded() {
        let mut lines = Lines::default();
        let mut all = Vec::new();
        for chunk in ["on", "e\r\ntw", "o\n\nthr"] {
            all.extend(lines.feed(chunk.as_bytes()));
        }
        all.extend(lines.rest());
        assert_eq!(all, ["one", "two", "", "thr"]);
        assert_eq!(lines.rest(), None);
        lines.feed(&vec![b'x'; LONGEST + 5]);
        let long = lines.feed(b"y\nnext\n");
        assert_eq!((long[0].len(), long[1].as_str()), (LONGEST, "next"));
    }
}
