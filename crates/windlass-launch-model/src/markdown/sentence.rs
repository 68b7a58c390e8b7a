//! Sentences with their claim markers, cut out of runs of inline text.
//!
//! A factual sentence is every statement in a paragraph, list item, table cell or quote. A marker
//! `<!-- claim_id: X -->` covers the sentence directly before it.

use std::{collections::BTreeSet, ops::Range};

use windlass_types::Digest;

use crate::markdown::split;

/// What holds a sentence; the innermost counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Running text.
    Paragraph,
    /// An entry of a list.
    ListItem,
    /// A cell of a table.
    TableCell,
    /// A quotation.
    Quote,
}

/// What a sentence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SentenceKind {
    /// It says something, so it needs a marker unless it is registered.
    Statement,
    /// It asks.
    Question,
    /// It is a list item of nothing but links.
    Links,
    /// It is nothing but code; in a list it needs a marker, too.
    Code,
}

/// A claim marker and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// What it names; not checked.
    pub claim_id: String,
    /// The line, from 1.
    pub line: u64,
    /// The bytes of the comment.
    pub range: Range<usize>,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its text without markup; code keeps its backticks.
    pub text: String,
    /// What holds it.
    pub place: Place,
    /// What it does.
    pub kind: SentenceKind,
    /// The line it begins on, from 1.
    pub line: u64,
    /// The line it ends on.
    pub end_line: u64,
    /// Its bytes in the page, without its markers.
    pub range: Range<usize>,
    /// The markers directly after it.
    pub markers: Vec<Marker>,
}

impl Sentence {
    /// Whether it needs a marker, given the sentences that need none. A list item of nothing but
    /// code says something as well: that this is a command, a format, a dependency.
    pub fn is_factual(&self, registered: &BTreeSet<Digest>) -> bool {
        let states = match self.kind {
            SentenceKind::Statement => true,
            SentenceKind::Code => self.place == Place::ListItem,
            SentenceKind::Question | SentenceKind::Links => false,
        };
        states && !registered.contains(&sentence_digest(&self.text))
    }

    /// The bytes from its beginning to the end of its last marker.
    pub fn range_with_markers(&self) -> Range<usize> {
        let end = self
            .markers
            .last()
            .map_or(self.range.end, |marker| marker.range.end);
        self.range.start..end
    }
}

/// The digest under which a sentence is registered: of its text with single spaces.
pub fn sentence_digest(text: &str) -> Digest {
    Digest::of(single_spaced(text).as_bytes())
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a comment names, when it is a marker; it may be no id at all.
pub fn marker_claim(comment: &str) -> Option<&str> {
    let inner = comment.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
    inner.trim().strip_prefix("claim_id:").map(str::trim)
}

/// A stretch of inline text, with the way back to its bytes.
#[derive(Default)]
pub(crate) struct Run {
    text: String,
    pieces: Vec<Piece>,
    /// Markers with the length the text had when they came.
    markers: Vec<(usize, Marker)>,
    /// Whether any text stood outside links.
    pub plain: bool,
}

struct Piece {
    text: Range<usize>,
    bytes: Range<usize>,
}

impl Run {
    pub(crate) fn push(&mut self, text: &str, bytes: Range<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece {
            text: start..self.text.len(),
            bytes,
        });
    }

    pub(crate) fn mark(&mut self, marker: Marker) {
        self.markers.push((self.text.len(), marker));
    }

    /// The byte of the page at which the character at `at` begins (or, for an end, ends).
    fn byte(&self, at: usize, end: bool) -> usize {
        let piece = self.pieces.iter().find(|piece| {
            if end {
                piece.text.start < at && at <= piece.text.end
            } else {
                piece.text.start <= at && at < piece.text.end
            }
        });
        match piece {
            Some(piece) if piece.text.len() == piece.bytes.len() => {
                piece.bytes.start + (at - piece.text.start)
            }
            // Escapes and entities are longer than what they stand for: take all of it.
            Some(piece) if end => piece.bytes.end,
            Some(piece) => piece.bytes.start,
            None => self.pieces.last().map_or(0, |piece| piece.bytes.end),
        }
    }

    /// Its sentences and, at their places among them, its markers.
    pub(crate) fn parts(self, place: Place) -> Vec<Part> {
        let only_links = place == Place::ListItem && !self.plain && !self.pieces.is_empty();
        let mut parts = Vec::new();
        let mut from = 0;
        let ends = self.markers.iter().map(|(at, _)| *at);
        for (index, end) in ends.chain([self.text.len()]).enumerate() {
            for found in split::sentences(&without_shortcodes(&self.text[from..end])) {
                let found = from + found.start..from + found.end;
                let range = self.byte(found.start, false)..self.byte(found.end, true);
                let text = single_spaced(&self.text[found]);
                let kind = if only_links {
                    SentenceKind::Links
                } else {
                    kind_of(&text)
                };
                parts.push(Part::Sentence(Sentence {
                    kind,
                    text,
                    place,
                    line: 0,
                    end_line: 0,
                    range,
                    markers: Vec::new(),
                }));
            }
            from = end;
            let marker = self.markers.get(index);
            parts.extend(marker.map(|(_, marker)| Part::Marker(marker.clone())));
        }
        parts
    }
}

/// What a run is made of. Its lines are numbered by who knows the page.
pub(crate) enum Part {
    Sentence(Sentence),
    Marker(Marker),
}

/// The text with Hugo's shortcodes blanked out, at the same length.
fn without_shortcodes(text: &str) -> String {
    let mut clean = text.to_owned();
    while let Some(start) = clean.find("{{") {
        let end = clean[start..]
            .find("}}")
            .map_or(clean.len(), |at| start + at + 2);
        clean.replace_range(start..end, &" ".repeat(end - start));
    }
    clean
}

fn kind_of(text: &str) -> SentenceKind {
    let outside_code = text.split('`').step_by(2);
    if !outside_code.flat_map(str::chars).any(char::is_alphanumeric) {
        return SentenceKind::Code;
    }
    let ends_asking = text
        .trim_end_matches(['"', '\'', ')', '”', '’', '*', '_'])
        .ends_with(['?', '？']);
    if ends_asking {
        SentenceKind::Question
    } else {
        SentenceKind::Statement
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
