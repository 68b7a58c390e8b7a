//! Rules on lists and fenced code.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use windlass_launch_model::{
    SnippetCatalog,
    markdown::{Code, Document},
};

use super::{Lint, at, blank_before};

/// Items of an outermost list begin at the margin.
pub(super) fn list_indent(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut quotes = 0_usize;
    for (event, range) in events(document) {
        match event {
            Event::Start(Tag::List(_)) => depth += 1,
            Event::End(TagEnd::List(_)) => depth = depth.saturating_sub(1),
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
            Event::Start(Tag::Item) if depth == 1 && quotes == 0 => {
                let line = document.line_range(document.line(range.start));
                let source = &document.text[line.clone()];
                let indent = source.len() - source.trim_start_matches(' ').len();
                if indent > 0 && source[indent..].starts_with(['-', '*', '+']) {
                    let why = "an indented item of an outermost list";
                    found.push(at(
                        document,
                        "MD007",
                        why,
                        line.start..line.start + indent,
                        "",
                    ));
                }
            }
            _ => {}
        }
    }
    found
}

/// A blank line before and after fenced code.
pub(super) fn blank_around_fences(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let fenced = document
        .code
        .iter()
        .filter(|code| code.fenced && at_margin(document, code));
    let ranges: Vec<_> = fenced.map(|code| code.range.clone()).collect();
    around(
        document,
        "MD031",
        "no blank line around a code block",
        &ranges,
    )
}

/// A blank line before and after a list.
pub(super) fn blank_around_lists(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut depth = 0_usize;
    let mut lists = Vec::new();
    for (event, range) in events(document) {
        match event {
            Event::Start(Tag::List(_)) => {
                if depth == 0 {
                    lists.push(range);
                }
                depth += 1;
            }
            Event::Start(Tag::BlockQuote(_) | Tag::FootnoteDefinition(_)) => depth += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition) => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    around(document, "MD032", "no blank line around a list", &lists)
}

/// Fenced code names its language.
pub(super) fn fence_language(document: &Document, snippets: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for code in document
        .code
        .iter()
        .filter(|code| code.fenced && code.language.is_empty())
    {
        let source = &document.text[code.range.clone()];
        let fence = source
            .bytes()
            .take_while(|b| matches!(b, b'`' | b'~'))
            .count();
        let known = snippets
            .snippets
            .iter()
            .find(|snippet| snippet.code.trim() == code.text.trim());
        let language = known.map_or("text", |snippet| snippet.language.as_str());
        let place = code.range.start + fence;
        found.push(at(
            document,
            "MD040",
            "a code block without a language",
            place..place,
            language,
        ));
    }
    found
}

fn at_margin(document: &Document, code: &Code) -> bool {
    document.line_range(document.line(code.range.start)).start == code.range.start
}

fn around(
    document: &Document,
    rule: &'static str,
    why: &'static str,
    blocks: &[Range<usize>],
) -> Vec<Lint> {
    let mut found = Vec::new();
    for block in blocks {
        let first = document.line(block.start);
        let start = document.line_range(first).start;
        if start > document.body && !document.line_text(first - 1).trim().is_empty() {
            found.push(blank_before(document, rule, why, start, first));
        }
        let text = document.text[block.clone()].trim_end();
        let last = document.line((block.start + text.len()).saturating_sub(1));
        let next = document.line_range(last + 1);
        if next.start < document.text.len() && !document.line_text(last + 1).trim().is_empty() {
            found.push(blank_before(document, rule, why, next.start, last));
        }
    }
    found
}

fn events(document: &Document) -> Vec<(Event<'_>, Range<usize>)> {
    let base = document.body;
    Parser::new_ext(
        document.body_text(),
        Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES,
    )
    .into_offset_iter()
    .map(|(event, range)| (event, range.start + base..range.end + base))
    .collect()
}
