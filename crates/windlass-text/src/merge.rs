//! Three-way merge by lines, with git's rules for what is a conflict.
//!
//! Changes of the two sides that overlap or touch are one region. A region that both sides
//! changed to the same lines is clean; otherwise it is a conflict, reduced to the lines in which
//! the sides differ. Conflicts with at most three common lines between them are shown as one.

use std::ops::Range;

use crate::lines::{self, Edit};

/// Common lines between two conflicts up to which one larger conflict is easier to read.
const JOIN_DISTANCE: usize = 3;

/// What the two sides are called in conflict markers.
#[derive(Clone, Copy, Debug)]
pub struct MergeLabels<'a> {
    /// After `<<<<<<<`.
    pub ours: &'a str,
    /// After `>>>>>>>`.
    pub theirs: &'a str,
}

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Both sides' changes.
    Clean(String),
    /// Changes that contradict each other.
    Conflict {
        /// The merged text; each conflict stands between markers.
        text_with_markers: String,
        /// How many there are.
        conflicts: usize,
    },
}

/// Brings the changes from `base` to `ours` and from `base` to `theirs` together.
pub fn merge3(base: &str, ours: &str, theirs: &str, labels: MergeLabels<'_>) -> Merge {
    if ours == theirs || base == theirs {
        return Merge::Clean(ours.to_owned());
    }
    if base == ours {
        return Merge::Clean(theirs.to_owned());
    }
    let base = lines::split(base);
    let (ours, theirs) = (lines::split(ours), lines::split(theirs));
    let pieces = join(pieces(&base, &ours, &theirs));
    render(&pieces, &ours, &theirs, labels)
}

/// A run of lines on both sides. The pieces of a merge follow each other without gaps.
#[derive(Debug, PartialEq)]
struct Piece {
    kind: Kind,
    ours: Range<usize>,
    theirs: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The sides have the same lines.
    Common,
    /// Only ours changed.
    Ours,
    /// Only theirs changed.
    Theirs,
    /// Both changed, differently.
    Conflict,
}

/// One side of the merge: its edits, how far they are used up, and where the side stands.
struct Side {
    edits: Vec<Edit>,
    used: usize,
    position: usize,
}

impl Side {
    fn new(base: &[&str], side: &[&str]) -> Self {
        Self {
            edits: lines::edits(base, side),
            used: 0,
            position: 0,
        }
    }

    fn next(&self) -> Option<&Edit> {
        self.edits.get(self.used)
    }

    /// Takes the next edit if it overlaps or touches the region, and widens the region by it.
    fn join(&mut self, region: &mut Range<usize>) -> bool {
        match self.edits.get(self.used) {
            Some(edit) if edit.before.start <= region.end => {
                region.end = region.end.max(edit.before.end);
                self.used += 1;
                true
            }
            _ => false,
        }
    }

    /// Moves on by a number of lines.
    fn advance(&mut self, count: usize) -> Range<usize> {
        let from = self.position;
        self.position += count;
        from..self.position
    }

    /// The side's lines for a region of the base, given the edits taken since `first`.
    fn cover(&mut self, region: &Range<usize>, first: usize) -> Range<usize> {
        let taken = &self.edits[first..self.used];
        let removed: usize = taken.iter().map(|edit| edit.before.len()).sum();
        let added: usize = taken.iter().map(|edit| edit.after.len()).sum();
        self.advance(region.len() - removed + added)
    }
}

fn pieces(base: &[&str], our_lines: &[&str], their_lines: &[&str]) -> Vec<Piece> {
    let mut ours = Side::new(base, our_lines);
    let mut theirs = Side::new(base, their_lines);
    let mut pieces = Vec::new();
    let mut done = 0;
    loop {
        let starts = [ours.next(), theirs.next()].map(|edit| edit.map(|edit| edit.before.start));
        let Some(start) = starts.into_iter().flatten().min() else {
            break;
        };
        pieces.push(Piece {
            kind: Kind::Common,
            ours: ours.advance(start - done),
            theirs: theirs.advance(start - done),
        });
        let (first_ours, first_theirs) = (ours.used, theirs.used);
        let mut region = start..start;
        while ours.join(&mut region) || theirs.join(&mut region) {}
        done = region.end;
        let (ours_changed, theirs_changed) = (ours.used > first_ours, theirs.used > first_theirs);
        let piece = Piece {
            kind: match (ours_changed, theirs_changed) {
                (true, false) => Kind::Ours,
                (false, true) => Kind::Theirs,
                _ => Kind::Conflict,
            },
            ours: ours.cover(&region, first_ours),
            theirs: theirs.cover(&region, first_theirs),
        };
        if piece.kind == Kind::Conflict {
            refine(&piece, our_lines, their_lines, &mut pieces);
        } else {
            pieces.push(piece);
        }
    }
    pieces.push(Piece {
        kind: Kind::Common,
        ours: ours.advance(base.len() - done),
        theirs: theirs.advance(base.len() - done),
    });
    pieces
}

/// Splits a region that both sides changed into what they share and what contradicts.
fn refine(region: &Piece, ours: &[&str], theirs: &[&str], pieces: &mut Vec<Piece>) {
    let (mut our_done, mut their_done) = (region.ours.start, region.theirs.start);
    let (our_lines, their_lines) = (&ours[region.ours.clone()], &theirs[region.theirs.clone()]);
    for edit in inner_edits(our_lines, their_lines) {
        let our_edit = region.ours.start + edit.before.start..region.ours.start + edit.before.end;
        let their_edit =
            region.theirs.start + edit.after.start..region.theirs.start + edit.after.end;
        pieces.push(Piece {
            kind: Kind::Common,
            ours: our_done..our_edit.start,
            theirs: their_done..their_edit.start,
        });
        (our_done, their_done) = (our_edit.end, their_edit.end);
        pieces.push(Piece {
            kind: Kind::Conflict,
            ours: our_edit,
            theirs: their_edit,
        });
    }
    pieces.push(Piece {
        kind: Kind::Common,
        ours: our_done..region.ours.end,
        theirs: their_done..region.theirs.end,
    });
}

/// The edits between the sides, inside of the lines with which both begin and end: however
/// repeated lines may be matched, those never belong to a conflict.
fn inner_edits(ours: &[&str], theirs: &[&str]) -> Vec<Edit> {
    let start = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let (ours, theirs) = (&ours[start..], &theirs[start..]);
    let both_ends = ours.iter().rev().zip(theirs.iter().rev());
    let end = both_ends.take_while(|(a, b)| a == b).count();
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    lines::edits(&ours[..ours.len() - end], &theirs[..theirs.len() - end])
        .into_iter()
        .map(|edit| Edit {
            before: shift(edit.before),
            after: shift(edit.after),
        })
        .collect()
}

/// Drops empty pieces and joins conflicts that are close to each other.
fn join(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if piece.ours.is_empty() && piece.theirs.is_empty() {
            continue;
        }
        match joined.as_mut_slice() {
            [.., last] if last.kind == Kind::Common && piece.kind == Kind::Common => {
                last.ours.end = piece.ours.end;
                last.theirs.end = piece.theirs.end;
            }
            [.., first, between]
                if first.kind == Kind::Conflict
                    && between.kind == Kind::Common
                    && between.ours.len() <= JOIN_DISTANCE
                    && piece.kind == Kind::Conflict =>
            {
                first.ours.end = piece.ours.end;
                first.theirs.end = piece.theirs.end;
                joined.pop();
            }
            _ => joined.push(piece),
        }
    }
    joined
}

fn render(pieces: &[Piece], ours: &[&str], theirs: &[&str], labels: MergeLabels<'_>) -> Merge {
    let mut text = String::new();
    let mut conflicts = 0;
    for piece in pieces {
        let (our_lines, their_lines) = (&ours[piece.ours.clone()], &theirs[piece.theirs.clone()]);
        match piece.kind {
            Kind::Common | Kind::Ours => text.extend(our_lines.iter().copied()),
            Kind::Theirs => text.extend(their_lines.iter().copied()),
            Kind::Conflict => {
                conflicts += 1;
                let first = our_lines.first().or(their_lines.first());
                let end = match first {
                    Some(line) if line.ends_with("\r\n") => "\r\n",
                    _ => "\n",
                };
                marker(&mut text, "<<<<<<<", labels.ours, end);
                side(&mut text, our_lines, end);
                marker(&mut text, "=======", "", end);
                side(&mut text, their_lines, end);
                marker(&mut text, ">>>>>>>", labels.theirs, end);
            }
        }
    }
    match conflicts {
        0 => Merge::Clean(text),
        _ => Merge::Conflict {
            text_with_markers: text,
            conflicts,
        },
    }
}

fn marker(text: &mut String, sign: &str, label: &str, end: &str) {
    text.push_str(sign);
    if !label.is_empty() {
        text.push(' ');
        // A label must not add lines that look like merged text.
        text.push_str(&label.replace(['\r', '\n'], " "));
    }
    text.push_str(end);
}

/// The lines of a side, made complete so that the next marker stands on its own line.
fn side(text: &mut String, lines: &[&str], end: &str) {
    text.extend(lines.iter().copied());
    if lines.last().is_some_and(|line| !line.ends_with('\n')) {
        text.push_str(end);
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
