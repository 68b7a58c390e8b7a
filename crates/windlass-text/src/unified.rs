//! Unified diffs, as git writes them: three lines of context, `\ No newline at end of file`.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{DiffOp, group_diff_ops};

use crate::{lines, path};

const CONTEXT: usize = 3;

/// The difference between two texts; empty when they are equal.
///
/// The labels are written as they are after `--- ` and `+++ ` (`a/x`, `b/x`, `/dev/null`),
/// quoted only where a reader would otherwise take a part of them.
pub fn unified(before: &str, after: &str, before_label: &str, after_label: &str) -> String {
    if before == after {
        return String::new();
    }
    let (old, new) = (lines::split(before), lines::split(after));
    let mut text = format!(
        "--- {}\n+++ {}\n",
        path::write(before_label),
        path::write(after_label)
    );
    for group in group_diff_ops(lines::operations(&old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "@@ -{} +{} @@", span(&old_range), span(&new_range));
        for operation in group {
            if let DiffOp::Equal { .. } = operation {
                push(&mut text, ' ', &old[operation.old_range()]);
            } else {
                push(&mut text, '-', &old[operation.old_range()]);
                push(&mut text, '+', &new[operation.new_range()]);
            }
        }
    }
    text
}

/// A range of lines in a hunk header: counted from 1; an empty one names the line before it.
fn span(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    }
}

fn push(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
#[path = "unified_tests.rs"]
mod tests;
