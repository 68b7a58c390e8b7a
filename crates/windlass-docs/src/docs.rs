//! The entry: a corpus, its index on first use, questions in, answers out.

use std::sync::OnceLock;

use windlass_types::Problem;

use crate::{
    abstain, answer, asked,
    concepts::concepts,
    corpus,
    errors::Explained,
    focus::focus,
    index::{Hit, Index},
    page::{DocType, Page},
    query::{Answer, Query},
    rank::rank,
    unsupported,
};

/// A pasted log may be long; only its error messages are looked for in all of it.
const LONGEST_QUESTION: usize = 1 << 20;
pub(crate) const MOST_ITEMS: u32 = 20;

/// Documentation that can be asked.
pub struct Docs<'a> {
    pages: &'a [Page],
    index: OnceLock<Index<'a>>,
}

impl Docs<'static> {
    /// The documentation in this binary. Cheap: the index is made by the first question.
    pub fn embedded() -> Result<Self, Problem> {
        let pages = corpus::pages().map_err(|error| Problem::internal("docs", error))?;
        Ok(Self::of(pages))
    }
}

impl<'a> Docs<'a> {
    pub(crate) fn of(pages: &'a [Page]) -> Self {
        Self {
            pages,
            index: OnceLock::new(),
        }
    }

    /// Answers a question. The same question always gets the same answer.
    pub fn query(&self, query: &Query) -> Result<Answer, Problem> {
        let about = self.check(query)?;
        if let Some(about) = about
            && let Some(feature) = unsupported::named(self.pages, about)
        {
            return Ok(answer::unsupported(self.pages, &feature));
        }
        let index = self.index();
        let explained = match about {
            Some(_) => Vec::new(),
            None => index.errors().find(&query.query),
        };
        let messages: Vec<_> = explained.iter().map(|place| place.at.clone()).collect();
        let question = focus(&query.query, &messages);
        let concepts = concepts(&question, index.vocabulary());
        let hits = index.search(&concepts, about);
        let ranked = rank(index, &question, &concepts, hits);
        if !explained.is_empty() {
            let ranked = explained_first(index, &explained, ranked);
            return Ok(answer::compose(index, query, &concepts, &ranked));
        }
        let best_is_about_stacks = ranked
            .first()
            .is_none_or(|best| index.entry(best).page.path.starts_with("stack/"));
        if let Some(feature) = unsupported::named(self.pages, &question)
            && (best_is_about_stacks || feature.is_outside())
        {
            return Ok(answer::unsupported(self.pages, &feature));
        }
        if abstain::nothing_fits(index, &concepts, &ranked) {
            return Ok(abstain::answer(index, about, &ranked));
        }
        Ok(answer::compose(index, query, &concepts, &ranked))
    }

    /// Builds the index now, so that the first question is as fast as the others.
    pub fn prepare(&self) {
        self.index();
    }

    /// Path, title and kind of every page, sorted by path.
    pub fn pages(&self) -> impl Iterator<Item = (&str, &str, DocType)> {
        self.pages
            .iter()
            .map(|page| (page.path.as_str(), page.title.as_str(), page.doc_type))
    }

    /// Resource types that have a page of their own, sorted.
    pub fn resource_types(&self) -> Vec<&str> {
        let mut types: Vec<&str> = self
            .pages
            .iter()
            .filter_map(|page| page.resource_type.as_deref())
            .collect();
        types.sort_unstable();
        types.dedup();
        types
    }

    /// Whether a citation, `path#heading`, names a heading of a page.
    pub fn has(&self, citation: &str) -> bool {
        citation.split_once('#').is_some_and(|(path, anchor)| {
            self.pages
                .iter()
                .filter(|page| page.path == path)
                .any(|page| page.chunks.iter().any(|chunk| chunk.anchor == anchor))
        })
    }

    fn index(&self) -> &Index<'a> {
        self.index.get_or_init(|| Index::build(self.pages))
    }

    /// Refuses what cannot be asked; returns the resource type to keep to.
    fn check<'q>(&self, query: &'q Query) -> Result<Option<&'q str>, Problem> {
        if query.query.trim().is_empty() {
            return Err(asked::invalid("query", "query is empty: ask a question"));
        }
        if query.query.chars().count() > LONGEST_QUESTION {
            return Err(asked::invalid(
                "query",
                &format!("query is longer than {LONGEST_QUESTION} characters"),
            ));
        }
        if !(1..=MOST_ITEMS).contains(&query.max_items) {
            return Err(asked::invalid(
                "maxItems",
                &format!(
                    "maxItems is {}; it must be from 1 to {MOST_ITEMS}",
                    query.max_items
                ),
            ));
        }
        let Some(about) = query.resource_type.as_deref().map(str::trim) else {
            return Ok(None);
        };
        let types = self.resource_types();
        let is_unsupported = unsupported::features(self.pages).any(|feature| feature.name == about);
        if types.contains(&about) || is_unsupported {
            return Ok(Some(about));
        }
        Err(asked::invalid(
            "resourceType",
            &format!(
                "there is no resource type {about:?}{}; known: {}",
                asked::did_you_mean(about, &types),
                types.join(", ")
            ),
        ))
    }
}

/// Places that explain an error message of the question, then the others.
fn explained_first(index: &Index<'_>, explained: &[Explained], ranked: Vec<Hit>) -> Vec<Hit> {
    let best = ranked.first().map_or(0.0, |hit| hit.score);
    let page = |entry: usize| index.entries()[entry].page.path.as_str();
    let mut all: Vec<Hit> = explained
        .iter()
        .map(|place| Hit {
            entry: place.entry,
            score: best,
            explains_error: true,
        })
        .collect();
    all.extend(ranked.into_iter().filter(|hit| {
        explained
            .iter()
            .all(|place| page(place.entry) != page(hit.entry))
    }));
    all
}

#[cfg(test)]
#[path = "docs_tests.rs"]
mod tests;
