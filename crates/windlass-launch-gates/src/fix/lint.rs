//! Lint: each rule's own repair, in the lines the issue names.

use super::{Fixing, Rewrite};
use crate::lint::repair;

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let wanted = |page: &windlass_launch_markdown::Document, lint: &crate::lint::Lint| {
        !fixing
            .input
            .is_old_line(fixing.path, page.line_text(lint.line))
    };
    let (text, rules) = repair(&fixing.document.text, &fixing.input.snippets, wanted);
    let notes = vec![format!("Applied {}.", rules.join(", "))];
    Rewrite::own(fixing, text, notes)
}
