//! What a hit is worth: the index's score, weighed by what the page is and by how much of the
//! question the chunk holds. The same rule for every page.

use std::collections::HashMap;

use crate::{
    concepts::{Concept, coverage},
    index::{Hit, Index},
    page::Page,
    words::words,
};

/// By a page's priority, from 1.
const PRIORITY: [f32; 3] = [1.5, 1.0, 0.7];
/// For pages about a type that the question names.
const NAMED_TYPE: f32 = 1.3;
/// Chunks below this part of the best score are left out.
const RELATIVE_FLOOR: f32 = 0.25;
const CHUNKS_PER_PAGE: usize = 2;

/// Hits worth showing, best first.
pub(crate) fn rank(
    index: &Index<'_>,
    question: &str,
    concepts: &[Concept],
    hits: Vec<Hit>,
) -> Vec<Hit> {
    let named: Vec<String> = words(question).into_iter().map(|word| word.text).collect();
    let mut ranked: Vec<Hit> = hits
        .into_iter()
        .map(|hit| {
            let entry = index.entry(&hit);
            let mut score = hit.score * priority(entry.page) * coverage(concepts, entry);
            if names_type(&named, entry.page) {
                score *= NAMED_TYPE;
            }
            Hit { score, ..hit }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry)));
    let floor = ranked
        .first()
        .map_or(0.0, |best| best.score * RELATIVE_FLOOR);
    let mut shown: HashMap<&str, usize> = HashMap::new();
    ranked.retain(|hit| {
        let count = shown
            .entry(index.entry(hit).page.path.as_str())
            .or_default();
        *count += 1;
        hit.score >= floor && *count <= CHUNKS_PER_PAGE
    });
    ranked
}

fn priority(page: &Page) -> f32 {
    PRIORITY[usize::from(page.priority.clamp(1, 3)) - 1]
}

/// Whether the type's name stands in the question, in one word or in several.
fn names_type(asked: &[String], page: &Page) -> bool {
    let Some(resource_type) = &page.resource_type else {
        return false;
    };
    let name = resource_type.replace('-', "");
    (1..=resource_type.split('-').count())
        .any(|length| asked.windows(length).any(|window| window.concat() == name))
}
