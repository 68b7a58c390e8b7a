//! A factual sentence without a claim: the claim is named, or the sentence goes.

use serde_json::Value;
use windlass_launch_model::{
    claim::marker,
    markdown::{Document, frontmatter},
};

use super::{Fixing, Rewrite, cut, lookup, values};
use crate::gates::checks::truth_lock::{TEXT_KEYS, is_backed, key_line};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let mut notes = Vec::new();
    let text = in_front_matter(fixing, &mut notes);
    // Front matter stands first and its lines keep their number, unless a key was dropped.
    let document = Document::parse(&text);
    let shift = fixing
        .document
        .text
        .lines()
        .count()
        .abs_diff(text.lines().count()) as u64;
    let mut gone = Vec::new();
    let mut named = Vec::new();
    for sentence in document.uncited(&fixing.input.registered) {
        if !fixing.names(sentence.line + shift) {
            continue;
        }
        match lookup::claim_for(fixing.input, &sentence.text) {
            Some(claim) => {
                notes.push(format!(
                    "Named claim {} for “{}”.",
                    claim.claim_id, sentence.text
                ));
                named.push((
                    cut::widen(&document, sentence.range.clone()).end,
                    marker(&claim.claim_id),
                ));
            }
            None => {
                notes.push(format!("Removed “{}”, which no claim says.", sentence.text));
                gone.push(cut::widen(&document, sentence.range.clone()));
            }
        }
    }
    Rewrite::own(fixing, put_and_cut(&document, &named, &gone), notes)
}

/// Puts markers in, then takes ranges out, whose places are of the text before.
fn put_and_cut(
    document: &Document,
    named: &[(usize, String)],
    gone: &[std::ops::Range<usize>],
) -> String {
    let mut text = document.text.clone();
    let mut gone = gone.to_vec();
    for (at, marker) in named.iter().rev() {
        let put = format!(" {marker}");
        text.insert_str(*at, &put);
        for range in gone.iter_mut().filter(|range| range.start >= *at) {
            range.start += put.len();
            range.end += put.len();
        }
    }
    if gone.is_empty() {
        text
    } else {
        cut::cut(&Document::parse(&text), &gone)
    }
}

/// A description no claim says is replaced by one that does, or goes.
fn in_front_matter(fixing: &Fixing<'_>, notes: &mut Vec<String>) -> String {
    let mut text = fixing.document.text.clone();
    for key in TEXT_KEYS {
        let document = Document::parse(&text);
        let (Some(block), Some(said)) =
            (&document.front, document.key(key).and_then(Value::as_str))
        else {
            continue;
        };
        let line = key_line(fixing.document, key);
        if is_backed(fixing.input, said) || said.trim().is_empty() || !fixing.names(line) {
            continue;
        }
        let input = fixing.input;
        let required = input
            .section_contract(fixing.path)
            .required_keys
            .iter()
            .any(|name| name == key);
        let found = lookup::claim_for(input, said).map(|claim| claim.claim_text.clone());
        let new = found.or_else(|| {
            required
                .then(|| values::description(input, fixing.path))
                .flatten()
        });
        text = match new {
            Some(new) => {
                notes.push(format!("{key} is now “{new}”."));
                frontmatter::put_key(&text, block, key, &Value::String(new))
            }
            None => {
                notes.push(format!("Removed {key}, which no claim says."));
                frontmatter::remove_key(&text, block, key)
            }
        };
    }
    text
}
