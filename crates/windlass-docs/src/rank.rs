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
/// How much of a chunk's place in its page depends on its own text.
const OWN_PART: f32 = 0.8;
/// For pages about a type that the question names.
const NAMED_TYPE: f32 = 1.3;
/// Chunks below this part of the best score are left out.
const RELATIVE_FLOOR: f32 = 0.25;
const CHUNKS_PER_PAGE: usize = 2;

/// Hits worth showing: the best page's first, and of each page its best chunks.
///
/// Pages compare by the best score any of their chunks has. Which chunks of a page answer is
/// decided by what stands in them, since title and tags are the same for all.
pub(crate) fn rank(
    index: &Index<'_>,
    question: &str,
    concepts: &[Concept],
    hits: Vec<Hit>,
) -> Vec<Hit> {
    let named: Vec<String> = words(question).into_iter().map(|word| word.text).collect();
    let mut pages: HashMap<&str, f32> = HashMap::new();
    let mut ranked: Vec<Hit> = Vec::new();
    for hit in hits {
        let entry = index.entry(&hit);
        let mut score = hit.score * priority(entry.page) * coverage(concepts, &entry.terms);
        if names_type(&named, entry.page) {
            score *= NAMED_TYPE;
        }
        let best = pages.entry(entry.page.path.as_str()).or_default();
        *best = best.max(score);
        let own = OWN_PART.mul_add(coverage(concepts, &entry.own), 1.0 - OWN_PART);
        ranked.push(Hit {
            score: score * own,
            ..hit
        });
    }
    let page_score = |hit: &Hit| {
        let path = index.entry(hit).page.path.as_str();
        (pages.get(path).copied().unwrap_or_default(), path)
    };
    ranked.sort_by(|a, b| {
        let ((score_a, path_a), (score_b, path_b)) = (page_score(a), page_score(b));
        score_b
            .total_cmp(&score_a)
            .then_with(|| path_a.cmp(path_b))
            .then_with(|| b.score.total_cmp(&a.score))
            .then(a.entry.cmp(&b.entry))
    });
    let floor = ranked.first().map_or(0.0, |hit| page_score(hit).0) * RELATIVE_FLOOR;
    let mut shown: HashMap<&str, usize> = HashMap::new();
    ranked.retain(|hit| {
        let (score, path) = page_score(hit);
        let count = shown.entry(path).or_default();
        *count += 1;
        let weak = *count > 1 && hit.score < floor;
        score >= floor && !weak && *count <= CHUNKS_PER_PAGE
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
