//! From blocks to pieces: sentences cut, headings carried down, nothing left uncovered.

use super::{Piece, blocks::Block, collapse, sentences};
use crate::model::analysis::Place;
use crate::spec::section::{Section, Sections};

/// A bold beginning up to this many words names what follows.
const LONGEST_LABEL: usize = 7;

/// Cuts blocks into pieces.
pub fn pieces(spec: &str, blocks: Vec<Block>) -> Vec<Piece> {
    let mut sections = Sections::default();
    let mut pieces = Vec::new();
    for (paragraph, block) in blocks.into_iter().enumerate() {
        cut(&block, paragraph, &mut sections, &mut pieces);
    }
    pieces.sort_by_key(|piece| (piece.start, piece.end));
    close_gaps(spec, pieces)
}

fn cut(block: &Block, paragraph: usize, sections: &mut Sections, pieces: &mut Vec<Piece>) {
    let piece = |range: std::ops::Range<usize>, place: Place, sections: &Sections| Piece {
        start: block.to_source(range.start, false),
        end: block.to_source(range.end, true),
        text: collapse(&block.text[range]),
        place,
        heading: sections.heading(),
        section: sections.current(),
        row: None,
        intro: None,
        paragraph,
        set_aside: block.set_aside,
    };
    if block.place == Place::Heading {
        sections.enter(block.level, collapse(&block.text));
        let mut heading = piece(0..block.text.len(), Place::Heading, sections);
        heading.start = block.source.start;
        pieces.push(heading);
        return;
    }
    if block.row.is_some() || block.set_aside.is_some() {
        let mut whole = piece(0..block.text.len(), block.place, sections);
        whole.start = block.source.start;
        whole.end = block.source.end;
        whole.row = block.row.clone();
        pieces.push(whole);
        return;
    }
    let first = pieces.len();
    let label = label_end(block);
    if label > 0 {
        let text = collapse(&block.text[..label]);
        sections.enter_label(text.trim_end_matches(['.', ':']).to_owned());
        pieces.push(piece(0..label, Place::Heading, sections));
    } else if block.place == Place::Sentence
        && (Section::of_line(&block.text).is_some() || is_short_label(&block.text))
    {
        // A line such as `Features:` that is not written as a heading but stands as one.
        let text = collapse(&block.text);
        sections.enter_label(text.trim_end_matches(':').to_owned());
        pieces.push(piece(0..block.text.len(), Place::Heading, sections));
        return;
    }
    for range in sentences::split(&block.text[label..]) {
        let range = range.start + label..range.end + label;
        let mut piece = piece(range, block.place, sections);
        if let Some(section) = Section::of_label(&piece.text) {
            piece.section = section;
        }
        pieces.push(piece);
    }
    if let Some(piece) = pieces.get_mut(first) {
        piece.start = block.source.start;
    }
}

/// `Admins:` alone on its line.
fn is_short_label(text: &str) -> bool {
    let text = text.trim();
    text.strip_suffix(':').is_some_and(|label| {
        let last = label
            .split_whitespace()
            .next_back()
            .unwrap_or_default()
            .to_lowercase();
        label.split_whitespace().count() <= 3
            && !matches!(
                last.as_str(),
                "can"
                    | "to"
                    | "may"
                    | "must"
                    | "should"
                    | "could"
                    | "will"
                    | "shall"
                    | "are"
                    | "is"
            )
    })
}

/// How much of a paragraph names it: a bold beginning that ends like a label, or all of it.
fn label_end(block: &Block) -> usize {
    if block.place != Place::Sentence || block.bold == 0 {
        return 0;
    }
    let bold = block.text[..block.bold].trim();
    let rest = &block.text[block.bold..];
    let short = bold.split_whitespace().count() <= LONGEST_LABEL;
    if !short {
        0
    } else if rest.trim().is_empty() || bold.ends_with(['.', ':']) {
        block.bold
    } else if rest.starts_with(':') {
        block.bold + 1
    } else {
        0
    }
}

/// Text between two pieces belongs to the one before it when it is only marks; else it is a piece.
fn close_gaps(spec: &str, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut closed: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut lead = 0;
    for mut piece in pieces {
        let before = closed.last().map_or(0, |last: &Piece| last.end);
        piece.start = piece.start.max(before);
        piece.end = piece.end.max(piece.start);
        fill(spec, before, piece.start, &mut closed, &mut lead);
        if closed.is_empty() && !spec[..piece.start].trim().is_empty() {
            piece.start = lead.min(piece.start);
        }
        if !spec[piece.start..piece.end].trim().is_empty() {
            closed.push(piece);
        }
    }
    let before = closed.last().map_or(0, |last| last.end);
    fill(spec, before, spec.len(), &mut closed, &mut lead);
    if closed.is_empty() && !spec.trim().is_empty() {
        closed.push(filler(spec, 0, spec.len(), None));
    }
    for piece in &mut closed {
        let text = &spec[piece.start..piece.end];
        piece.start += text.len() - text.trim_start().len();
        piece.end -= text.len() - text.trim_end().len();
    }
    closed
}

fn fill(spec: &str, from: usize, to: usize, closed: &mut Vec<Piece>, lead: &mut usize) {
    let gap = &spec[from..to];
    let trimmed = gap.trim();
    if trimmed.is_empty() {
        return;
    }
    let start = from + (gap.len() - gap.trim_start().len());
    let end = start + trimmed.len();
    if trimmed.chars().any(char::is_alphanumeric) {
        let near = closed.last().cloned();
        for part in sentences::split(&spec[start..end]) {
            closed.push(filler(
                spec,
                start + part.start,
                start + part.end,
                near.as_ref(),
            ));
        }
        if let Some(last) = closed.last_mut() {
            last.end = end;
        }
    } else if let Some(last) = closed.last_mut() {
        last.end = end;
    } else {
        *lead = start;
    }
}

fn filler(spec: &str, start: usize, end: usize, near: Option<&Piece>) -> Piece {
    Piece {
        start,
        end,
        text: collapse(&spec[start..end]),
        place: Place::Sentence,
        heading: near.and_then(|piece| piece.heading.clone()),
        section: near.map_or(Section::Unknown, |piece| piece.section),
        row: None,
        intro: None,
        paragraph: usize::MAX,
        set_aside: Some("markup, not text"),
    }
}
