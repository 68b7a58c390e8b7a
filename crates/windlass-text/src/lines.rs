//! Lines and the edits between two lists of them.
//!
//! The one place that knows the diff algorithm. Used by diffs and merges.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The lines of a text, each with its `\n`; only the last may lack it.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The operations that turn one list of lines into the other.
pub fn operations(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, before, after)
}

/// Lines of one list replaced by lines of the other; either range may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

/// The edits in order. At least one unchanged line lies between two of them.
pub fn edits(before: &[&str], after: &[&str]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for operation in operations(before, after) {
        if matches!(operation, DiffOp::Equal { .. }) {
            continue;
        }
        let edit = Edit {
            before: operation.old_range(),
            after: operation.new_range(),
        };
        match edits.last_mut() {
            Some(last)
                if last.before.end == edit.before.start && last.after.end == edit.after.start =>
            {
                last.before.end = edit.before.end;
                last.after.end = edit.after.end;
            }
            _ => edits.push(edit),
        }
    }
    edits
}
