//! Texts with typographic characters in their plain form, and the way back.

/// A text in its plain form.
pub(super) struct Folded {
    text: String,
    /// For each byte of the plain form that begins a character, where that is in the text; and the
    /// text's end. Bytes within what one character became have none.
    origins: Vec<Option<usize>>,
}

impl Folded {
    pub(super) fn of(text: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(text.len()),
            origins: Vec::with_capacity(text.len() + 1),
        };
        let mut letters = text.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let is_crlf = letter == '\r' && letters.peek().is_some_and(|(_, next)| *next == '\n');
            if is_crlf {
                letters.next();
                folded.push(at, "\n");
            } else {
                let mut buffer = [0; 4];
                let plain = plain(letter).unwrap_or_else(|| letter.encode_utf8(&mut buffer));
                folded.push(at, plain);
            }
        }
        folded.origins.push(Some(text.len()));
        folded
    }

    fn push(&mut self, at: usize, plain: &str) {
        for index in 0..plain.len() {
            self.origins.push((index == 0).then_some(at));
        }
        self.text.push_str(plain);
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the text that became these; none if a character would be cut.
    pub(super) fn span(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let start = self.origins.get(start).copied().flatten()?;
        let end = self.origins.get(end).copied().flatten()?;
        Some((start, end))
    }
}

fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{2035}' => "'",
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{2036}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{2026}' => "...",
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            " "
        }
        _ => return None,
    })
}
