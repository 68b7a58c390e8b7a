//! Wrong names and addresses are written right, outside code.

use std::ops::Range;

use super::{Fixing, Rewrite};
use crate::gates::consistency::{self, wrong_canonicals, wrong_names, wrong_repos};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let (input, document) = (fixing.input, fixing.document);
    let mut edits: Vec<(Range<usize>, String)> = match fixing.issue.error_code.as_deref() {
        Some(consistency::NAME) => wrong_names(input, document)
            .into_iter()
            .map(|range| (range, input.facts.product_name.clone()))
            .collect(),
        Some(consistency::REPO) => wrong_repos(input, document),
        _ => wrong_canonicals(input, fixing.path, document),
    };
    edits.retain(|(range, _)| fixing.names(document.line(range.start)));
    edits.sort_by_key(|(range, _)| range.start);
    let mut text = document.text.clone();
    let mut notes = Vec::new();
    for (range, right) in edits.into_iter().rev() {
        notes.push(format!("{} is now {right}.", &document.text[range.clone()]));
        text.replace_range(range, &right);
    }
    notes.reverse();
    Rewrite::own(fixing, text, notes)
}
