//! What is asked before something is written.

use std::collections::BTreeSet;

use super::{
    answers::{Changes, tally},
    cleaned, lines,
};
use crate::{
    ShortPath,
    question::{Ask, Question, Unmanaged, named},
    text::{clean, count},
};

pub(super) fn apply_question(plan: Changes, short: &ShortPath) -> Question {
    let unmanaged: Vec<Unmanaged> = plan
        .changes
        .iter()
        .filter(|change| change.is_adoption())
        .map(|change| Unmanaged {
            shown: clean(&short(&change.path)),
            path: change.path.clone(),
        })
        .collect();
    if plan.changes.is_empty() {
        return Question {
            title: "No file would change. Apply anyway?".to_owned(),
            lines: vec!["Manifests that are missing are written.".to_owned()],
            ask: Ask::Apply { unmanaged },
        };
    }
    let mut lines = vec![tally(&plan.changes)];
    // One file may be written for several targets.
    let edited: BTreeSet<&str> = plan.local_edits.iter().map(|edit| &*edit.path).collect();
    if !edited.is_empty() {
        let files = count(edited.len(), "file");
        lines.push(format!("{files} edited here since the last deploy:"));
        let names = edited
            .iter()
            .map(|path| format!("~ {}", clean(&short(path))));
        lines.extend(named(names.collect()));
    }
    if !unmanaged.is_empty() {
        let files = count(unmanaged.len(), "file");
        lines.push(format!("{files} not written by pack; asked about next"));
    }
    lines.extend(cleaned(plan.warnings));
    Question {
        title: format!("Apply {}?", count(plan.changes.len(), "change")),
        lines,
        ask: Ask::Apply { unmanaged },
    }
}

pub(super) fn event_question(
    title: String,
    ask: Ask,
    event: Changes,
    short: &ShortPath,
) -> Question {
    let mut shown = named(lines(&event.changes, short));
    if shown.is_empty() {
        shown.push("No file would change.".to_owned());
    }
    shown.extend(cleaned(event.warnings));
    Question {
        title,
        lines: shown,
        ask,
    }
}
