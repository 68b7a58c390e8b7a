//! Applying a patch: every line of a hunk must be there, exactly; only its place may move.
//!
//! The rules are those of `git apply`. A hunk that starts the file stays at its start, and one
//! without context after its last change stays at the end. One thing is less strict: a hunk at
//! line 1 with the full three lines of context may move, because that much context places it.

use std::fmt;

use crate::lines;
use crate::patch::{Hunk, HunkLine, Patch};

/// With this many lines of context a hunk says nothing about the start of the file.
const FULL_CONTEXT: usize = 3;

/// Which hunk does not apply, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hunk {hunk} (`{header}`, patch line {patch_line}) does not apply: {reason}")]
pub struct ApplyError {
    /// The hunk, counted from 1.
    pub hunk: usize,
    /// Its header.
    pub header: String,
    /// Its line in the patch.
    pub patch_line: usize,
    /// The cause.
    pub reason: ApplyReason,
}

/// Why a hunk does not apply. Lines are those of the file before, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyReason {
    /// The lines are nowhere in the file; this is the first difference where they should be.
    Differs {
        /// The line.
        line: usize,
        /// What the patch expects there.
        expected: String,
        /// What stands there; `None` after the end of the file.
        found: Option<String>,
    },
    /// The lines are there with other ends of line.
    LineEndings {
        /// The first such line.
        line: usize,
    },
    /// The lines are in the file, but the hunk belongs to the start or the end.
    Elsewhere {
        /// The line at which they are.
        line: usize,
        /// Where they must be.
        place: &'static str,
    },
    /// The hunk only adds lines and nothing says where.
    NoContext,
}

impl fmt::Display for ApplyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs {
                line,
                expected,
                found: Some(found),
            } => write!(
                f,
                "line {line} is {found:?} where the patch expects {expected:?}"
            ),
            Self::Differs {
                line,
                expected,
                found: None,
            } => write!(
                f,
                "the file ends before line {line}, where the patch expects {expected:?}"
            ),
            Self::LineEndings { line } => write!(
                f,
                "line {line} differs only in its end of line (CRLF, LF or none)"
            ),
            Self::Elsewhere { line, place } => write!(
                f,
                "its lines are at line {line}, but by its context it belongs to the {place} of the file"
            ),
            Self::NoContext => f.write_str("it only adds lines and has no context that says where"),
        }
    }
}

impl Patch {
    /// The text with every hunk applied. Hunks may move together with the lines around them;
    /// nothing is left out and nothing is guessed.
    pub fn apply(&self, before: &str) -> Result<String, ApplyError> {
        let file = lines::split(before);
        let mut after = String::with_capacity(before.len());
        let mut done = 0;
        let mut shift: isize = 0;
        for (index, hunk) in self.hunks.iter().enumerate() {
            let wanted = hunk.before_lines();
            let stated = hunk.stated_index();
            let expected = stated.saturating_add_signed(shift).max(done);
            let at = hunk
                .place(&file, &wanted, expected, done)
                .map_err(|reason| ApplyError {
                    hunk: index + 1,
                    header: hunk.header.clone(),
                    patch_line: hunk.patch_line,
                    reason,
                })?;
            after.extend(file[done..at].iter().copied());
            for line in &hunk.lines {
                if let HunkLine::Context(text) | HunkLine::Added(text) = line {
                    after.push_str(text);
                }
            }
            done = at + wanted.len();
            // Both are indices into the same file, which is far smaller than `isize::MAX`.
            shift = at.cast_signed() - stated.cast_signed();
        }
        after.extend(file[done..].iter().copied());
        Ok(after)
    }
}

impl Hunk {
    /// Where the header places the hunk, counted from 0.
    fn stated_index(&self) -> usize {
        let adds_only = self.before_lines().is_empty();
        self.before_start - usize::from(!adds_only && self.before_start > 0)
    }

    fn place(
        &self,
        file: &[&str],
        wanted: &[&str],
        expected: usize,
        done: usize,
    ) -> Result<usize, ApplyReason> {
        if wanted.is_empty() {
            // Safe only at the very end, and there only if the last line is complete.
            let complete = file.last().is_none_or(|line| line.ends_with('\n'));
            return if expected == file.len() && complete {
                Ok(expected)
            } else {
                Err(ApplyReason::NoContext)
            };
        }
        let fits = |at: usize| file[at..].starts_with(wanted);
        let last = file.len().checked_sub(wanted.len());
        let candidates = last.filter(|last| *last >= done).map(|last| done..=last);
        let found = candidates.and_then(|range| nearest(range, expected, fits));
        let Some(found) = found else {
            return Err(difference(file, wanted, expected));
        };

        let starts_file = self.before_start <= 1 && self.leading_context() < FULL_CONTEXT;
        let ends_file = !self.has_trailing_context();
        // `found` exists, so the file is at least as long as the hunk.
        let end = file.len() - wanted.len();
        let required = match (starts_file, ends_file) {
            (false, false) => return Ok(found),
            (true, false) => 0,
            (_, true) => end,
        };
        let allowed = required >= done && (!starts_file || required == 0) && fits(required);
        if allowed {
            return Ok(required);
        }
        Err(ApplyReason::Elsewhere {
            line: found + 1,
            place: if starts_file { "start" } else { "end" },
        })
    }
}

/// The index closest to `expected` that fits.
fn nearest(
    range: std::ops::RangeInclusive<usize>,
    expected: usize,
    fits: impl Fn(usize) -> bool,
) -> Option<usize> {
    let (first, last) = (*range.start(), *range.end());
    let start = expected.clamp(first, last);
    let farthest = (start - first).max(last - start);
    (0..=farthest).find_map(|distance| {
        let later = start.checked_add(distance).filter(|at| *at <= last);
        let earlier = start.checked_sub(distance).filter(|at| *at >= first);
        [later, earlier].into_iter().flatten().find(|at| fits(*at))
    })
}

/// The first line that is not what the hunk expects at the expected place.
fn difference(file: &[&str], wanted: &[&str], expected: usize) -> ApplyReason {
    let bare = |line: &str| line.trim_end_matches(['\n', '\r']).to_owned();
    let found = |offset: usize| file.get(expected + offset).copied();
    let first = (0..wanted.len())
        .find(|&offset| found(offset) != Some(wanted[offset]))
        .unwrap_or_default();
    let only_line_endings = (0..wanted.len())
        .all(|offset| found(offset).is_some_and(|line| bare(line) == bare(wanted[offset])));
    if only_line_endings {
        return ApplyReason::LineEndings {
            line: expected + first + 1,
        };
    }
    ApplyReason::Differs {
        line: expected + first + 1,
        expected: bare(wanted[first]),
        found: found(first).map(bare),
    }
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
