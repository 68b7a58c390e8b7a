//! When to say that nothing fits, and what to offer instead.

use crate::{
    concepts::{Concept, coverage},
    index::{Hit, Index},
    query::Answer,
};

/// A chunk must hold this part of the question, by weight. Requiring its rarest word as well was
/// measured and is worse: that word often is a filler such as "give", and of questions with an answer
/// 7 % more got none, while no more of those without one were refused.
const LEAST_COVERAGE: f32 = 0.42;
/// Titles of general pages, for a question without a single known word.
const FIRST_STEPS: [&str; 3] = [
    "getting-started.md",
    "stack/getting-started/first-stack.md",
    "README.md",
];
const OFFERED: usize = 3;

/// Whether the best hits do not answer the question.
pub(crate) fn nothing_fits(index: &Index<'_>, concepts: &[Concept], ranked: &[Hit]) -> bool {
    ranked
        .iter()
        .take(OFFERED)
        .all(|hit| coverage(concepts, &index.entry(hit).terms) < LEAST_COVERAGE)
}

/// The answer to a question that no page answers.
pub(crate) fn answer(index: &Index<'_>, resource_type: Option<&str>, ranked: &[Hit]) -> Answer {
    let mut titles: Vec<String> = Vec::new();
    let nearest = ranked.iter().map(|hit| index.entry(hit).page);
    let general = index
        .entries()
        .iter()
        .map(|entry| entry.page)
        .filter(|page| FIRST_STEPS.contains(&page.path.as_str()));
    for page in nearest.chain(general) {
        if titles.len() < OFFERED && !titles.contains(&page.title) {
            titles.push(page.title.clone());
        }
    }
    let place = match resource_type {
        Some(name) => format!("the pages about `{name}`"),
        None => "Windlass's documentation".to_owned(),
    };
    Answer {
        answer: format!("Nothing in {place} answers this question."),
        references: Vec::new(),
        snippets: None,
        next_queries: (!titles.is_empty()).then_some(titles),
    }
}
