//! The spec as pieces: every sentence, list item, table row and heading, with its place in the
//! original text.
//!
//! Every character that is not white space lies in exactly one piece. What a piece means is not
//! decided here.

mod blocks;
mod cover;
mod sentences;

use std::rc::Rc;

use crate::model::analysis::Place;
use crate::spec::section::Section;

/// A row of a table with the names of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The first row.
    pub header: Rc<Vec<String>>,
    /// This one.
    pub cells: Vec<String>,
}

/// A piece of the spec.
#[derive(Clone, Debug)]
pub struct Piece {
    /// First byte in the original text.
    pub start: usize,
    /// Last byte, not included.
    pub end: usize,
    /// Without marks, white space collapsed.
    pub text: String,
    /// What it stands in.
    pub place: Place,
    /// The nearest heading above.
    pub heading: Option<String>,
    /// What the headings above announce.
    pub section: Section,
    /// The cells, for a table row.
    pub row: Option<Row>,
    /// The piece that announces the list it stands in: `Teachers can:`.
    pub intro: Option<usize>,
    /// Pieces of one paragraph or list item have the same number.
    pub paragraph: usize,
    /// Why nothing is read from it, where nothing is.
    pub set_aside: Option<&'static str>,
}

/// All pieces, in the order of the text.
pub fn segment(spec: &str) -> Vec<Piece> {
    let blocks = blocks::read(spec);
    let mut pieces = cover::pieces(spec, blocks);
    announce_lists(&mut pieces);
    pieces
}

/// A sentence that ends in a colon announces the list items right after it.
fn announce_lists(pieces: &mut [Piece]) {
    let mut intro = None;
    for (index, piece) in pieces.iter_mut().enumerate() {
        let announces = piece.text.ends_with(':');
        match piece.place {
            Place::Bullet | Place::Sentence if announces => intro = Some(index),
            Place::Bullet => piece.intro = intro,
            _ => intro = None,
        }
    }
}

/// White space as single spaces, none around.
pub fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
