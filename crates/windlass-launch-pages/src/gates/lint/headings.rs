//! Rules on headings.

use windlass_launch_model::{SnippetCatalog, markdown::Document};

use super::{Lint, at, blank_before, lines};

/// Headings are written with `#`.
pub(super) fn style(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for heading in &document.headings {
        let source = document.text[heading.range.clone()].trim_end();
        if source.trim_start().starts_with('#') {
            continue;
        }
        let Some((text, _)) = source.rsplit_once('\n') else {
            continue;
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let range = heading.range.start..heading.range.start + source.len();
        let by = format!("{} {text}", "#".repeat(heading.level));
        found.push(at(
            document,
            "MD003",
            "a heading underlined instead of marked with #",
            range,
            &by,
        ));
    }
    found
}

/// `#Heading` is no heading.
pub(super) fn missing_space(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for (start, line) in lines(document) {
        let hashes = line.bytes().take_while(|b| *b == b'#').count();
        let next = line[hashes..].chars().next();
        if (1..=6).contains(&hashes) && next.is_some_and(char::is_alphabetic) {
            let place = start + hashes;
            found.push(at(
                document,
                "MD018",
                "no space behind #",
                place..place,
                " ",
            ));
        }
    }
    found
}

pub(super) fn extra_space(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for heading in &document.headings {
        let source = &document.text[heading.range.clone()];
        let hashes = source.bytes().take_while(|b| *b == b'#').count();
        let spaces = source[hashes..].bytes().take_while(|b| *b == b' ').count();
        if hashes > 0 && spaces > 1 {
            let place = heading.range.start + hashes;
            found.push(at(
                document,
                "MD019",
                "several spaces behind #",
                place..place + spaces,
                " ",
            ));
        }
    }
    found
}

pub(super) fn blank_around(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let why = "no blank line around a heading";
    let mut found = Vec::new();
    for heading in &document.headings {
        if in_container(document, heading.range.start) {
            continue;
        }
        let line = document.line(heading.range.start);
        let start = document.line_range(line).start;
        if start > document.body && !document.line_text(line - 1).trim().is_empty() {
            found.push(blank_before(document, "MD022", why, start, line));
        }
        let last = document.line(heading.range.end.saturating_sub(1).max(heading.range.start));
        let next = document.line_range(last + 1);
        if next.start < document.text.len() && !document.line_text(last + 1).trim().is_empty() {
            found.push(blank_before(document, "MD022", why, next.start, line));
        }
    }
    found
}

pub(super) fn indented(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for heading in &document.headings {
        let line = document.line(heading.range.start);
        let range = document.line_range(line);
        let source = &document.text[range.clone()];
        let spaces = source.len() - source.trim_start_matches(' ').len();
        if spaces > 0 && spaces < 4 && source.trim_start().starts_with('#') {
            found.push(at(
                document,
                "MD023",
                "an indented heading",
                range.start..range.start + spaces,
                "",
            ));
        }
    }
    found
}

pub(super) fn punctuation(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for heading in &document.headings {
        let source = document.text[heading.range.clone()].trim_end();
        if !source.starts_with('#') {
            continue;
        }
        let kept = source.trim_end_matches(['.', ',', ';', ':', '!']);
        // An entity ends in a semicolon that belongs to it.
        let entity =
            source.ends_with(';') && kept.rsplit(' ').next().is_some_and(|w| w.contains('&'));
        if kept.len() < source.len() && !entity {
            let start = heading.range.start;
            let range = start + kept.len()..start + source.len();
            found.push(at(
                document,
                "MD026",
                "punctuation at the end of a heading",
                range,
                "",
            ));
        }
    }
    found
}

/// A line of nothing but bold or italic text is a heading in disguise.
pub(super) fn emphasis(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for (start, line) in lines(document) {
        let text = line.trim_end();
        let number = document.line(start);
        let alone = document.line_text(number + 1).trim().is_empty()
            && (number == 1
                || document.line_text(number - 1).trim().is_empty()
                || start == document.body);
        let inner = ["**", "__", "*", "_"].iter().find_map(|mark| {
            let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
            (!inner.is_empty() && !inner.contains(['*', '_', '`', '[', '<'])).then_some(inner)
        });
        let Some(inner) =
            inner.filter(|inner| alone && !inner.ends_with(['.', ',', ';', ':', '!', '?', '…']))
        else {
            continue;
        };
        let above = document
            .headings
            .iter()
            .rev()
            .find(|heading| heading.range.start < start);
        let level = above.map_or(2, |heading| (heading.level + 1).min(6));
        let by = format!("{} {inner}", "#".repeat(level));
        found.push(at(
            document,
            "MD036",
            "emphasis used as a heading",
            start..start + text.len(),
            &by,
        ));
    }
    found
}

fn in_container(document: &Document, place: usize) -> bool {
    let line = document.line_range(document.line(place));
    let before = &document.text[line.start..place];
    before.contains(['>', '-', '*', '+']) || before.contains(|c: char| c.is_ascii_digit())
}
