//! A patch of one file: its paths and its hunks.
//!
//! Not here: how it is read (`parse.rs`) and how it is applied (`apply.rs`).

/// A change to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The path before, without `a/` or `b/`; `None` when the patch creates the file.
    pub before_path: Option<String>,
    /// The path after, without `a/` or `b/`; `None` when the patch deletes the file.
    pub after_path: Option<String>,
    /// The hunks in the order of the patch; never empty.
    pub hunks: Vec<Hunk>,
}

/// One run of changed lines with the lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The line in the patch at which the hunk starts, counted from 1.
    pub patch_line: usize,
    /// The hunk's header up to the second `@@`.
    pub header: String,
    /// The first line before the change, counted from 1. When the hunk has no lines of the
    /// file before, it is the line after which it inserts.
    pub before_start: usize,
    /// The lines with their ends of line.
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk, with its `\n` unless the file ends without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkLine {
    /// Stays.
    Context(String),
    /// Goes.
    Removed(String),
    /// Comes.
    Added(String),
}

impl Hunk {
    /// The lines that the file must have for the hunk to apply.
    pub(crate) fn before_lines(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|line| match line {
                HunkLine::Context(text) | HunkLine::Removed(text) => Some(text.as_str()),
                HunkLine::Added(_) => None,
            })
            .collect()
    }

    /// How many lines of context stand before the first change.
    pub(crate) fn leading_context(&self) -> usize {
        let is_context = |line: &&HunkLine| matches!(line, HunkLine::Context(_));
        self.lines.iter().take_while(is_context).count()
    }

    /// Whether a line of context stands after the last change.
    pub(crate) fn has_trailing_context(&self) -> bool {
        matches!(self.lines.last(), Some(HunkLine::Context(_)))
    }
}
