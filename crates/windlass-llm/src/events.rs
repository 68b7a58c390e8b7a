//! Server-sent events: bytes in any pieces become the data of whole events.
//!
//! Only what a model's stream needs: `data` is kept, other fields and comments are skipped.
//! Text is decoded a line at a time, so a character split between two reads stays whole.

/// An event or a line of one is longer than the reader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than {0} bytes")]
pub struct EventTooLong(pub usize);

/// Reads events.
pub struct EventReader {
    limit: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The data of the event that has not ended yet; `None` until its first data line.
    data: Option<String>,
    /// The last line ended with a carriage return; a line feed right after belongs to it.
    after_return: bool,
    /// No line was read yet: the first may begin with a byte order mark.
    at_start: bool,
    /// An event was too long; where the next begins is unknown.
    is_lost: bool,
}

impl EventReader {
    /// A reader that takes events of up to `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: None,
            after_return: false,
            at_start: true,
            is_lost: false,
        }
    }

    /// Reads a piece; the data of each event it completes is appended to `events`. After an
    /// error nothing more is read.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<String>) -> Result<(), EventTooLong> {
        if self.is_lost {
            return Err(EventTooLong(self.limit));
        }
        while let Some(first) = bytes.first() {
            if self.after_return {
                self.after_return = false;
                if *first == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > self.limit {
                return self.lose();
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else {
                break;
            };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.line_ended(&line, events)?;
        }
        Ok(())
    }

    /// The event that was still open when the bytes ended. Strictly it is none, but servers
    /// forget the last empty line; its content shows whether it is complete.
    pub fn finish(mut self) -> Option<String> {
        if self.is_lost {
            return None;
        }
        let line = std::mem::take(&mut self.line);
        let mut none = Vec::new();
        if !line.is_empty() {
            self.line_ended(&line, &mut none).ok()?;
        }
        self.data
    }

    fn line_ended(&mut self, line: &[u8], events: &mut Vec<String>) -> Result<(), EventTooLong> {
        let line = match std::mem::take(&mut self.at_start) {
            true => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            events.extend(self.data.take());
            return Ok(());
        }
        let Some(rest) = line.strip_prefix(b"data") else {
            return Ok(());
        };
        let value = match rest {
            [] => rest,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            _ => return Ok(()),
        };
        let value = String::from_utf8_lossy(value);
        let held = self.data.as_ref().map_or(0, |data| data.len() + 1);
        if held + value.len() > self.limit {
            return self.lose();
        }
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(&value);
            }
            None => self.data = Some(value.into_owned()),
        }
        Ok(())
    }

    fn lose(&mut self) -> Result<(), EventTooLong> {
        self.is_lost = true;
        (self.line, self.data) = (Vec::new(), None);
        Err(EventTooLong(self.limit))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The events, then the open one, then whether it got too long.
    fn read(bytes: &[u8], size: usize) -> (Vec<String>, Option<String>, bool) {
        let mut reader = EventReader::new(64);
        let mut events = Vec::new();
        let failed = bytes
            .chunks(size.max(1))
            .any(|piece| reader.push(piece, &mut events).is_err());
        (events, reader.finish(), failed)
    }

    #[test]
    fn the_table() {
        let long = format!("data: {}\n\n", "x".repeat(80));
        let many = format!("data: {0}\ndata: {0}\n\n", "x".repeat(40));
        let cases: &[(&str, &[&str], Option<&str>, bool)] = &[
            ("data: a\n\ndata: b\n\n", &["a", "b"], None, false),
            (
                "data: a\r\n\r\ndata: b\r\rdata: c\n\r\n",
                &["a", "b", "c"],
                None,
                false,
            ),
            (
                "data:a\ndata:  b\ndata\ndata:\n\n",
                &["a\n b\n\n"],
                None,
                false,
            ),
            (
                ": ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\n: no\n\n",
                &["a"],
                None,
                false,
            ),
            ("\u{feff}data: a\n\n", &["a"], None, false),
            ("\n\n\n", &[], None, false),
            ("database: a\ndat: b\n\n", &[], None, false),
            ("data: a\n\ndata: [DONE]", &["a"], Some("[DONE]"), false),
            ("data: a\n\ndata: b\n", &["a"], Some("b"), false),
            (&long, &[], None, true),
            (&many, &[], None, true),
            ("data: größer 🦀\n\n", &["größer 🦀"], None, false),
        ];
        for (text, events, open, failed) in cases {
            for size in 1..=text.len() {
                let found = read(text.as_bytes(), size);
                let expected = events.iter().map(ToString::to_string).collect();
                let open = open.map(str::to_owned);
                assert_eq!(found, (expected, open, *failed), "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn invalid_utf8_does_not_end_the_stream() {
        assert_eq!(read(b"data: a\xff\n\ndata: b\n\n", 3).0, ["a\u{fffd}", "b"]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            lines in prop::collection::vec(("(data: ?|data|:|id: )?[a-c🦀]{0,8}", "(\n|\r\n|\r|\n\n)"), 0..12),
            size in 1..9_usize,
        ) {
            let text: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
            prop_assert_eq!(read(text.as_bytes(), text.len()), read(text.as_bytes(), size));
        }
    }
}
