//! Addresses are asked for over https; loopback and code stay as they are.

use super::{Fixing, Rewrite};
use crate::gates::checks::external_links::is_insecure;

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let document = fixing.document;
    let mut text = document.text.clone();
    let mut notes = Vec::new();
    let insecure = document
        .links
        .iter()
        .filter(|link| is_insecure(&link.target) && fixing.names(document.line(link.range.start)));
    let mut places: Vec<usize> = insecure
        .filter_map(|link| {
            let source = &document.text[link.range.clone()];
            // The last one is the target: what stands before it is the text.
            let own = source.rfind(&link.target).map(|at| link.range.start + at);
            let definition = || {
                let written = format!("]: {}", link.target);
                document.text.find(&written).map(|at| at + "]: ".len())
            };
            own.or_else(definition)
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    for place in places.into_iter().rev() {
        text.insert(place + "http".len(), 's');
        notes.push(format!("https in line {}.", document.line(place)));
    }
    notes.reverse();
    Rewrite::own(fixing, text, notes)
}
