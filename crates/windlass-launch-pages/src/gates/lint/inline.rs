//! Rules on links within text.

use windlass_launch_model::{SnippetCatalog, markdown::Document};

use super::{Lint, at, lines};

/// An address in running text is a link.
pub(super) fn bare_urls(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    let mut found = Vec::new();
    for (start, line) in lines(document) {
        let mut from = 0;
        while let Some(offset) = next_url(&line[from..]) {
            let place = start + from + offset;
            let url = url_at(&document.text[place..]);
            from += offset + url.len().max(1);
            let free = !document.in_code(place)
                && !document.in_html(place)
                && !document
                    .links
                    .iter()
                    .any(|link| link.range.contains(&place))
                && !in_definition(line)
                && !in_shortcode(line, place - start);
            if free {
                let range = place..place + url.len();
                found.push(at(
                    document,
                    "MD034",
                    "an address that is no link",
                    range,
                    &format!("<{url}>"),
                ));
            }
        }
    }
    found
}

/// A link that leads nowhere is text.
pub(super) fn empty_links(document: &Document, _: &SnippetCatalog) -> Vec<Lint> {
    document
        .links
        .iter()
        .filter(|link| !link.html && !link.image && link.target.trim().is_empty())
        .map(|link| {
            let by = link.text.clone();
            at(
                document,
                "MD042",
                "a link without a target",
                link.range.clone(),
                &by,
            )
        })
        .collect()
}

fn next_url(text: &str) -> Option<usize> {
    let http = text.find("http://");
    let https = text.find("https://");
    http.into_iter().chain(https).min()
}

fn url_at(text: &str) -> &str {
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | ')' | ']' | '|'))
        .unwrap_or(text.len());
    text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_'])
}

/// `[name]: https://…`
fn in_definition(line: &str) -> bool {
    line.trim_start().starts_with('[') && line.contains("]:")
}

fn in_shortcode(line: &str, offset: usize) -> bool {
    let before = &line[..offset];
    before
        .rfind("{{")
        .is_some_and(|open| !before[open..].contains("}}"))
}
