//! A sentence that says more than its claims: the claims' own words stand in its place.

use super::{Fixing, Rewrite, cut};
use crate::{gates::checks::truth_lock, markup};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let document = fixing.document;
    let mut text = document.text.clone();
    let mut notes = Vec::new();
    // From the end, so that earlier places stay right.
    for sentence in document.sentences.iter().rev() {
        if sentence.markers.is_empty()
            || !fixing.names(sentence.line)
            || truth_lock::not_supported(fixing.input, sentence).is_none()
        {
            continue;
        }
        let said = sentence.markers.iter().filter_map(|found| {
            let claim = fixing.input.claim(&found.claim_id)?;
            Some(markup::cited(&claim.claim_text, &claim.claim_id))
        });
        let said: Vec<String> = said.collect();
        let start = cut::widen(document, sentence.range.clone()).start;
        text.replace_range(start..sentence.range_with_markers().end, &said.join(" "));
        notes.push(format!("Put the claim in place of “{}”.", sentence.text));
    }
    notes.reverse();
    Rewrite::own(fixing, text, notes)
}
