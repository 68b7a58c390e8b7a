//! What to ask next: other headings of the best page, then related pages.

use crate::{
    index::{Entry, Index},
    page::{DocType, Page},
    query::Query,
};

const OFFERED: usize = 3;
const OF_THE_PAGE: usize = 2;

/// Two or three questions that have an answer.
pub(super) fn queries(index: &Index<'_>, query: &Query, entries: &[&Entry<'_>]) -> Vec<String> {
    let Some(best) = entries.first() else {
        return Vec::new();
    };
    let mut offered: Vec<String> = Vec::new();
    let mut offer = |text: String, most: usize| {
        let is_new = !text.eq_ignore_ascii_case(query.query.trim())
            && offered
                .iter()
                .all(|known| !known.eq_ignore_ascii_case(&text));
        if offered.len() < most && is_new {
            offered.push(text);
        }
    };
    for heading in siblings(best) {
        offer(format!("{} {heading}", best.page.title), OF_THE_PAGE);
    }
    for entry in &entries[1..] {
        if entry.page.path != best.page.path {
            offer(entry.page.title.clone(), OFFERED);
        }
    }
    for page in related(index, best.page) {
        offer(page.title.clone(), OFFERED);
    }
    offered
}

/// Headings after the best one first, then those before it.
fn siblings<'a>(best: &Entry<'a>) -> impl Iterator<Item = &'a str> {
    let chunks = &best.page.chunks;
    let here = chunks
        .iter()
        .position(|chunk| chunk.anchor == best.chunk.anchor)
        .unwrap_or(0);
    let (before, after) = chunks.split_at(here);
    after
        .iter()
        .skip(1)
        .chain(before.iter().skip(1))
        .map(|chunk| chunk.heading.as_str())
}

/// Pages of the types that the page uses, then pages that use its type.
fn related<'a>(index: &Index<'a>, page: &'a Page) -> impl Iterator<Item = &'a Page> {
    let used = index
        .entries()
        .iter()
        .map(|entry| entry.page)
        .filter(move |other| {
            other.path != page.path
                && other.doc_type == DocType::ConfigRef
                && other
                    .resource_type
                    .as_ref()
                    .is_some_and(|name| page.tags.contains(name))
        });
    let using = index
        .entries()
        .iter()
        .map(|entry| entry.page)
        .filter(move |other| {
            other.path != page.path
                && page
                    .resource_type
                    .as_ref()
                    .is_some_and(|name| other.tags.contains(name))
        });
    used.chain(using)
}
