//! The index: every chunk's title, tags, heading and text in memory.
//!
//! Knows terms and scores. What a question means is `concepts`, what a score is worth is `rank`.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    bm25::Field,
    chunk::{Chunk, Passage},
    concepts::Concept,
    errors::ErrorIndex,
    examples,
    page::Page,
    words::{Analyzer, content},
};

const TITLE_WEIGHT: f32 = 10.0;
const TAGS_WEIGHT: f32 = 8.0;
const HEADING_WEIGHT: f32 = 6.0;
const BODY_WEIGHT: f32 = 1.0;

/// More than any answer looks at; ranking happens among these.
const CANDIDATES: usize = 200;

/// A chunk and what is known of it without the index.
pub(crate) struct Entry<'a> {
    pub page: &'a Page,
    pub chunk: &'a Chunk,
    /// Every term of title, tags, headings and text.
    pub terms: HashSet<String>,
    /// Those of its own headings and text.
    pub own: HashSet<String>,
}

/// A chunk that holds some of what was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    pub entry: usize,
    pub score: f32,
    /// It explains an error message that the question holds.
    pub explains_error: bool,
}

/// The words of the corpus.
#[derive(Default)]
pub(crate) struct Vocabulary {
    /// In how many chunks a term is.
    chunks_with: HashMap<String, usize>,
    /// Words as they are written, with their terms; sorted, so corrections are always the same.
    written: BTreeMap<String, String>,
    chunks: usize,
}

impl Vocabulary {
    pub(crate) fn chunks_with(&self, term: &str) -> usize {
        self.chunks_with.get(term).copied().unwrap_or(0)
    }

    /// The terms of a text of the corpus.
    pub(crate) fn terms_of<'t>(&'t self, text: &str) -> HashSet<&'t str> {
        content(text)
            .iter()
            .filter_map(|word| self.written.get(word))
            .map(String::as_str)
            .collect()
    }

    pub(crate) fn written(&self) -> &BTreeMap<String, String> {
        &self.written
    }

    /// How informative a term is: least when it is everywhere, most when it is nowhere.
    pub(crate) fn weight(&self, chunks_with: usize) -> f32 {
        let (all, with) = (self.chunks as f32, chunks_with as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

pub(crate) struct Index<'a> {
    entries: Vec<Entry<'a>>,
    vocabulary: Vocabulary,
    /// Title, tags, heading and text, each with what a word in it is worth.
    fields: [(Field, f32); 4],
    errors: ErrorIndex,
}

impl<'a> Index<'a> {
    pub(crate) fn build(pages: &'a [Page]) -> Self {
        let [mut titles, mut tag_lists, mut headings, mut bodies] = [(); 4].map(|()| Field::new());
        let mut analyzer = Analyzer::new();
        let mut vocabulary = Vocabulary::default();
        let mut entries = Vec::new();
        let mut errors = ErrorIndex::default();
        for page in pages {
            let title = analyzer.terms(&page.title);
            let tags = analyzer.terms(&page.tags.join(" "));
            for chunk in &page.chunks {
                let heading = analyzer.terms(&heading_text(page, chunk));
                let body = analyzer.terms(&body_text(page, chunk));
                titles.push(&title);
                tag_lists.push(&tags);
                headings.push(&heading);
                bodies.push(&body);
                let own: HashSet<String> = heading.into_iter().chain(body).collect();
                let mut terms = own.clone();
                terms.extend(title.iter().chain(&tags).cloned());
                for term in &terms {
                    *vocabulary.chunks_with.entry(term.clone()).or_default() += 1;
                }
                for text in page.errors.get(&chunk.heading).into_iter().flatten() {
                    errors.add(text, entries.len());
                }
                entries.push(Entry {
                    page,
                    chunk,
                    terms,
                    own,
                });
            }
        }
        vocabulary.chunks = entries.len();
        vocabulary.written = analyzer.into_words();
        Self {
            entries,
            vocabulary,
            fields: [
                (titles, TITLE_WEIGHT),
                (tag_lists, TAGS_WEIGHT),
                (headings, HEADING_WEIGHT),
                (bodies, BODY_WEIGHT),
            ],
            errors,
        }
    }

    pub(crate) fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    pub(crate) fn entry(&self, hit: &Hit) -> &Entry<'a> {
        &self.entries[hit.entry]
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(crate) fn errors(&self) -> &ErrorIndex {
        &self.errors
    }

    /// Chunks that hold any of the concepts, best first. `about` leaves only pages about that type.
    pub(crate) fn search(&self, concepts: &[Concept], about: Option<&str>) -> Vec<Hit> {
        let mut scores = vec![0.0; self.entries.len()];
        for concept in concepts {
            self.add_scores(concept, &mut scores);
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .enumerate()
            .filter(|(entry, score)| {
                *score > 0.0 && about.is_none_or(|about| is_about(self.entries[*entry].page, about))
            })
            .map(|(entry, score)| Hit {
                entry,
                score,
                explains_error: false,
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry)));
        hits.truncate(CANDIDATES);
        hits
    }

    /// The best of a concept's alternatives counts; in it, every field.
    fn add_scores(&self, concept: &Concept, scores: &mut [f32]) {
        let mut best: HashMap<usize, f32> = HashMap::new();
        for alternative in &concept.alternatives {
            let mut of_this: HashMap<usize, f32> = HashMap::new();
            for (field, weight) in &self.fields {
                for (entry, score) in field.scores(&alternative.term) {
                    *of_this.entry(entry).or_default() += score * weight * alternative.weight;
                }
            }
            for (entry, score) in of_this {
                let best = best.entry(entry).or_default();
                *best = best.max(score);
            }
        }
        for (entry, score) in best {
            scores[entry] += score;
        }
    }
}

fn is_about(page: &Page, name: &str) -> bool {
    page.resource_type.as_deref() == Some(name) || page.tags.iter().any(|tag| tag == name)
}

/// The heading and those above it. A page's own heading repeats its title and counts there.
fn heading_text(page: &Page, chunk: &Chunk) -> String {
    let mut text = chunk.parents.join(" ");
    if chunk.heading != page.title {
        text.push(' ');
        text.push_str(&chunk.heading);
    }
    text
}

/// The text, the code without our own example questions, and the messages it explains.
fn body_text(page: &Page, chunk: &Chunk) -> String {
    let mut text = String::new();
    for passage in &chunk.passages {
        match passage {
            Passage::Statement(statement) => text.push_str(statement),
            Passage::Code(code) => text.push_str(&examples::without_questions(&code.text)),
        }
        text.push('\n');
    }
    for message in page.errors.get(&chunk.heading).into_iter().flatten() {
        text.push_str(message);
        text.push('\n');
    }
    text
}
