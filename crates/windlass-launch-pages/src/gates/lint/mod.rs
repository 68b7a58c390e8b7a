//! A fixed set of Markdown rules, each with its own repair. Line length (MD013), inline HTML
//! (MD033) and a first-line heading (MD041) are no rules here.
//!
//! A rule is a function from a page to its violations, with the edit that fixes each. Names follow
//! the numbers writers know from other linters.

mod blocks;
mod headings;
mod inline;
mod whitespace;

use std::ops::Range;

use windlass_launch_model::{SnippetCatalog, markdown::Document};

/// One breach of a rule and its repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// The rule.
    pub rule: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub why: &'static str,
    /// What to replace.
    pub range: Range<usize>,
    /// By what.
    pub by: String,
}

/// A rule's function.
type Rule = fn(&Document, &SnippetCatalog) -> Vec<Lint>;

/// Every rule by name.
pub const RULES: [(&str, Rule); 17] = [
    ("MD003", headings::style),
    ("MD007", blocks::list_indent),
    ("MD009", whitespace::trailing),
    ("MD010", whitespace::tabs),
    ("MD012", whitespace::blank_lines),
    ("MD018", headings::missing_space),
    ("MD019", headings::extra_space),
    ("MD022", headings::blank_around),
    ("MD023", headings::indented),
    ("MD026", headings::punctuation),
    ("MD031", blocks::blank_around_fences),
    ("MD032", blocks::blank_around_lists),
    ("MD034", inline::bare_urls),
    ("MD036", headings::emphasis),
    ("MD040", blocks::fence_language),
    ("MD042", inline::empty_links),
    ("MD047", whitespace::final_newline),
];

/// Everything that breaks a rule, by line.
pub fn lint(document: &Document, snippets: &SnippetCatalog) -> Vec<Lint> {
    let mut found: Vec<Lint> = RULES
        .iter()
        .flat_map(|(_, rule)| rule(document, snippets))
        .collect();
    found.sort_by(|a, b| (a.line, a.rule, a.range.start).cmp(&(b.line, b.rule, b.range.start)));
    found
}

/// The page with every violation fixed, and the rules that were applied.
pub fn repair(text: &str, snippets: &SnippetCatalog) -> (String, Vec<&'static str>) {
    let mut text = text.to_owned();
    let mut applied = Vec::new();
    // One repair can bring about another, e.g. a new heading needs its blank lines.
    for _ in 0..4 {
        let mut changed = false;
        for (name, rule) in RULES {
            let document = Document::parse(&text);
            let edits = rule(&document, snippets);
            if edits.is_empty() {
                continue;
            }
            let after = apply(&text, edits);
            if after != text {
                text = after;
                changed = true;
                applied.push(name);
            }
        }
        if !changed {
            break;
        }
    }
    applied.sort_unstable();
    applied.dedup();
    (text, applied)
}

fn apply(text: &str, mut edits: Vec<Lint>) -> String {
    edits.sort_by_key(|lint| (lint.range.start, lint.range.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        if edit.range.start >= at {
            out.push_str(&text[at..edit.range.start]);
            out.push_str(&edit.by);
            at = edit.range.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// The lines of the body outside code: where each begins, and its text with its end.
fn lines(document: &Document) -> impl Iterator<Item = (usize, &str)> {
    let mut at = document.body;
    document
        .body_text()
        .split_inclusive('\n')
        .filter_map(move |line| {
            let start = at;
            at += line.len();
            let probe = start + (line.len() - line.trim_start().len());
            let block = document
                .code
                .iter()
                .any(|code| code.range.contains(&probe.min(at - 1)));
            (!block).then_some((start, line))
        })
}

fn at(
    document: &Document,
    rule: &'static str,
    why: &'static str,
    range: Range<usize>,
    by: &str,
) -> Lint {
    Lint {
        rule,
        line: document.line(range.start),
        why,
        range,
        by: by.to_owned(),
    }
}

/// An empty line inserted at a place, reported for the line it protects.
fn blank_before(
    document: &Document,
    rule: &'static str,
    why: &'static str,
    place: usize,
    line: u64,
) -> Lint {
    Lint {
        line,
        ..at(document, rule, why, place..place, "\n")
    }
}

#[cfg(test)]
#[path = "lint_tests.rs"]
mod tests;
