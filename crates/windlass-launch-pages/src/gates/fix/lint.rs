//! Lint: each rule's own repair, wherever the page breaks it.

use super::{Fixing, Rewrite};
use crate::gates::lint::repair;

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let (text, rules) = repair(&fixing.document.text, &fixing.input.snippets);
    let notes = vec![format!("Applied {}.", rules.join(", "))];
    Rewrite::own(fixing, text, notes)
}
