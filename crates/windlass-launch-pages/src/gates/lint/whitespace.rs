//! Rules on white space: trailing spaces, tabs, blank lines, the end of the file.

use windlass_launch_model::{SnippetCatalog, markdown::Document};

use super::{Lint, at, lines};

pub(super) fn trailing(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for (start, line) in lines(document) {
        let content = line.trim_end_matches(['\n', '\r']);
        let kept = content.trim_end();
        let extra = &content[kept.len()..];
        // Two spaces behind text are a line break on purpose.
        if extra.is_empty() || (extra == "  " && !kept.is_empty()) {
            continue;
        }
        let range = start + kept.len()..start + content.len();
        found.push(at(
            document,
            "MD009",
            "spaces at the end of the line",
            range,
            "",
        ));
    }
    found
}

pub(super) fn tabs(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for (start, line) in lines(document) {
        for (offset, _) in line.match_indices('\t') {
            let place = start + offset;
            if !document.in_code(place) {
                found.push(at(document, "MD010", "a tab", place..place + 1, "    "));
            }
        }
    }
    found
}

pub(super) fn blank_lines(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    let mut blank_end = None;
    for (start, line) in lines(document) {
        let is_blank = line.trim().is_empty();
        if is_blank && blank_end == Some(start) && start > document.body {
            found.push(at(
                document,
                "MD012",
                "more than one blank line",
                start..start + line.len(),
                "",
            ));
        }
        blank_end = is_blank.then_some(start + line.len());
    }
    found
}

pub(super) fn final_newline(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let text = document.text.as_str();
    let kept = text.trim_end_matches(['\n', '\r']).len();
    let why = "the file does not end in exactly one line end";
    if text.is_empty() || matches!(&text[kept..], "\n" | "\r\n") {
        return Vec::new();
    }
    vec![at(document, "MD047", why, kept..text.len(), "\n")]
}
