//! A marker that names no claim: the right claim is named, or the sentence goes.

use windlass_launch_model::{claim::marker, markdown::Document};

use super::{Fixing, Rewrite, cut, lookup};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let input = fixing.input;
    let document = fixing.document;
    let is_bad = |claim_id: &str| input.claim(claim_id).is_none();
    let mut text = document.text.clone();
    let mut notes = Vec::new();
    // From the end, so that earlier places stay right.
    let mut edits = Vec::new();
    for stray in document
        .stray_markers
        .iter()
        .filter(|m| is_bad(&m.claim_id) && fixing.names(m.line))
    {
        edits.push((stray.range.clone(), None));
        notes.push("Removed a marker that follows no sentence.".to_owned());
    }
    for sentence in &document.sentences {
        let bad: Vec<_> = sentence
            .markers
            .iter()
            .filter(|m| is_bad(&m.claim_id) && fixing.names(m.line))
            .collect();
        let Some(first) = bad.first() else {
            continue;
        };
        let others = sentence.markers.len() > bad.len();
        let claim = lookup::claim_for(input, &sentence.text);
        match claim.filter(|_| !others) {
            Some(claim) => {
                notes.push(format!(
                    "Named claim {} for “{}”.",
                    claim.claim_id, sentence.text
                ));
                edits.push((first.range.clone(), Some(marker(&claim.claim_id))));
                edits.extend(bad.iter().skip(1).map(|m| (m.range.clone(), None)));
            }
            None if others => {
                notes.push(format!(
                    "Removed a marker; “{}” has another.",
                    sentence.text
                ));
                edits.extend(bad.iter().map(|m| (m.range.clone(), None)));
            }
            None => {
                notes.push(format!("Removed “{}”, which no claim says.", sentence.text));
                let whole = cut::widen(document, sentence.range.clone()).start
                    ..sentence.range_with_markers().end;
                edits.push((whole, None));
            }
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut gone = Vec::new();
    let mut grown = 0_isize;
    for (range, new) in edits {
        let start = range.start.saturating_add_signed(grown);
        let end = range.end.saturating_add_signed(grown);
        match new {
            Some(new) => {
                grown += new.len().cast_signed() - range.len().cast_signed();
                text.replace_range(start..end, &new);
            }
            None => gone.push(start..end),
        }
    }
    if !gone.is_empty() {
        text = cut::cut(&Document::parse(&text), &gone);
    }
    Rewrite::own(fixing, text, notes)
}
