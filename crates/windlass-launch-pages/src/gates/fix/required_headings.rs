//! A planned heading that is missing is put at its place, with the claims that fit it.

use windlass_launch_model::{Page, markdown::Document};

use super::{Fixing, Rewrite};
use crate::{
    gates::{
        checks::{consistency::missing_headings, truth_lock},
        input::GateInput,
        prose,
    },
    markup, phrases,
};

/// Words in a heading and the group of claims they ask for.
const GROUPS: [(&str, &str); 10] = [
    ("limitation", "limitations"),
    ("known issue", "limitations"),
    ("install", "install_steps"),
    ("quick", "quickstart_steps"),
    ("getting started", "quickstart_steps"),
    ("feature", "key_features"),
    ("overview", "key_features"),
    ("compatib", "compatibility_notes"),
    ("requirement", "compatibility_notes"),
    ("workflow", "workflow_claims"),
];

/// How many claims a heading gets.
const MOST: usize = 3;

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let Some(page) = fixing.input.planned(fixing.path) else {
        return Rewrite::default();
    };
    let mut text = fixing.document.text.clone();
    let mut notes = Vec::new();
    for heading in missing_headings(fixing.input, fixing.path, fixing.document) {
        let document = Document::parse(&text);
        let (at, level) = place(page, &document, &heading);
        let body = body(fixing.input, page, &document, &heading);
        let section = format!("{} {heading}\n\n{body}\n", "#".repeat(level));
        text = if at >= text.len() {
            format!("{}\n\n{section}", text.trim_end())
        } else {
            format!("{}{section}\n{}", &text[..at], &text[at..])
        };
        notes.push(format!("Added “{heading}”."));
    }
    Rewrite::own(fixing, text, notes)
}

/// Where a heading belongs: before the next planned one that is there, else at the end.
fn place(page: &Page, document: &Document, heading: &str) -> (usize, usize) {
    let same = |a: &str, b: &str| a.trim().eq_ignore_ascii_case(b.trim());
    let planned = &page.required_headings;
    let own = planned
        .iter()
        .position(|other| other == heading)
        .unwrap_or(planned.len());
    let there = |wanted: &String| {
        document
            .headings
            .iter()
            .find(|found| same(&found.text, wanted))
    };
    let next = planned.iter().skip(own + 1).find_map(there);
    let level = next
        .or_else(|| planned.iter().find_map(there))
        .map_or(2, |found| found.level);
    let at = next.map_or(document.text.len(), |found| {
        document.line_range(document.line(found.range.start)).start
    });
    (at, level)
}

/// Claims of the group the heading asks for, else planned claims that share a word with it.
fn body(input: &GateInput, page: &Page, document: &Document, heading: &str) -> String {
    let cited = document.claim_ids();
    let lower = heading.to_lowercase();
    let group = GROUPS.iter().find(|(word, _)| lower.contains(word));
    let ids: Vec<&String> = match group.and_then(|(_, group)| input.facts.claim_groups.get(*group))
    {
        Some(ids) => ids.iter().collect(),
        None => {
            let words = prose::words(heading);
            let shares = |id: &&String| {
                let claim = input.claim(id).map(|claim| prose::words(&claim.claim_text));
                claim.is_some_and(|claim| words.intersection(&claim).next().is_some())
            };
            page.required_claim_ids.iter().filter(shares).collect()
        }
    };
    let quota = page.content_strategy.claim_quota.max as usize;
    let room = if quota == 0 {
        MOST
    } else {
        MOST.min(quota.saturating_sub(cited.len()))
    };
    let lines: Vec<String> = ids
        .into_iter()
        .filter(|id| !cited.contains(id.as_str()) && truth_lock::stands(input, id))
        .filter_map(|id| input.claim(id))
        .filter(|claim| markup::is_showable(&claim.claim_text))
        .take(room)
        .map(|claim| format!("- {}", markup::cited(&claim.claim_text, &claim.claim_id)))
        .collect();
    if lines.is_empty() {
        phrases::not_documented().to_owned()
    } else {
        lines.join("\n")
    }
}
