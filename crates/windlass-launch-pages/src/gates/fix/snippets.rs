//! Code that is not the product's is replaced by a snippet of the catalogue, or removed.

use std::ops::Range;

use windlass_launch_model::{
    Snippet,
    markdown::{Code, Document},
};

use windlass_launch_scout::syntax::canonical;

use super::{Fixing, Rewrite, cut};
use crate::{
    gates::checks::snippet_syntax::{from_catalogue, is_install},
    markup::fence,
};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let (input, document) = (fixing.input, fixing.document);
    let mut notes = Vec::new();
    let mut shown: Vec<&str> = document
        .code
        .iter()
        .filter_map(|code| from_catalogue(input, &code.text))
        .map(|snippet| snippet.snippet_id.as_str())
        .collect();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut gone = Vec::new();
    for code in &document.code {
        let known = from_catalogue(input, &code.text).is_some() || is_install(input, &code.text);
        if known || !fixing.names(document.line(code.range.start)) {
            continue;
        }
        match instead(fixing, code, &shown) {
            Some(snippet) => {
                shown.push(&snippet.snippet_id);
                notes.push(format!("Shows {} instead.", snippet.source.path));
                edits.push((code.range.clone(), block(snippet)));
            }
            None => {
                notes.push("Removed code that is not the product's.".to_owned());
                gone.push(with_lead_in(document, code));
            }
        }
    }
    let mut text = document.text.clone();
    for (range, new) in edits.iter().rev() {
        let shift = new.len().cast_signed() - range.len().cast_signed();
        for later in gone
            .iter_mut()
            .filter(|later: &&mut Range<usize>| later.start >= range.end)
        {
            later.start = later.start.saturating_add_signed(shift);
            later.end = later.end.saturating_add_signed(shift);
        }
        text.replace_range(range.clone(), new);
    }
    if !gone.is_empty() {
        text = cut::cut(&Document::parse(&text), &gone);
    }
    Rewrite::own(fixing, text, notes)
}

/// A snippet with the tags the page asks for, in the fence's language, not on the page yet.
fn instead<'a>(fixing: &Fixing<'a>, code: &Code, shown: &[&str]) -> Option<&'a Snippet> {
    let tags = &fixing.input.planned(fixing.path)?.required_snippet_tags;
    fixing.input.snippets.snippets.iter().find(|snippet| {
        canonical(&snippet.language) == canonical(&code.language)
            && snippet.validation.syntax_ok != Some(false)
            && tags.iter().any(|tag| snippet.tags.contains(tag))
            && !shown.contains(&snippet.snippet_id.as_str())
    })
}

fn block(snippet: &Snippet) -> String {
    let fence = fence(&snippet.code);
    format!(
        "{fence}{}\n{}\n{fence}",
        snippet.language,
        snippet.code.trim_matches('\n')
    )
}

/// The code and the line before it that announces it.
fn with_lead_in(document: &Document, code: &Code) -> Range<usize> {
    let first = document.line(code.range.start);
    let mut before = first.saturating_sub(1);
    while before > 0 && document.line_text(before).trim().is_empty() {
        before -= 1;
    }
    let text = document.line_text(before).trim_end();
    let shown = text
        .rsplit_once("<!--")
        .map_or(text, |(shown, _)| shown.trim_end());
    let announces = shown.ends_with(':') && document.line_range(before).start >= document.body;
    let start = if announces {
        document.line_range(before).start
    } else {
        code.range.start
    };
    start..code.range.end
}
