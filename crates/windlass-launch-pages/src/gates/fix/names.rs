//! Wrong names and addresses are written right, outside code.

use std::ops::Range;

use windlass_launch_model::markdown::frontmatter::{find, put_key};

use super::{Fixing, Rewrite};
use crate::gates::checks::{
    consistency::{self, wrong_canonical_keys, wrong_canonicals, wrong_names, wrong_repos},
    truth_lock::key_line,
};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let (input, document) = (fixing.input, fixing.document);
    let mut edits: Vec<(Range<usize>, String)> = match fixing.issue.error_code.as_deref() {
        Some(consistency::NAME) => wrong_names(input, document)
            .into_iter()
            .map(|range| (range, input.facts.product_name.clone()))
            .collect(),
        Some(consistency::REPO) => wrong_repos(input, document),
        _ => wrong_canonicals(input, document),
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
    if fixing.issue.error_code.as_deref() == Some(consistency::CANONICAL) {
        for (key, right) in wrong_canonical_keys(input, fixing.path, document) {
            let block = find(&text).filter(|_| fixing.names(key_line(document, key)));
            if let Some(block) = block {
                notes.push(format!("{key} is now {right}."));
                text = put_key(&text, &block, key, &right.into());
            }
        }
    }
    Rewrite::own(fixing, text, notes)
}
