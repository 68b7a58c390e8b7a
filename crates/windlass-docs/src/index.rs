//! The index: every chunk's title, tags, heading and text in memory.
//!
//! Knows terms and scores. What a question means is `concepts`, what a score is worth is `rank`.

use std::collections::{BTreeMap, HashMap, HashSet};

use tantivy::{
    Index as Tantivy, IndexReader, IndexSettings, ReloadPolicy, TantivyDocument, Term,
    collector::TopDocs,
    directory::RamDirectory,
    query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, Query, TermQuery},
    schema::{Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions},
    tokenizer::WhitespaceTokenizer,
};

use crate::{
    chunk::{Chunk, Passage},
    concepts::Concept,
    page::Page,
    words::{Analyzer, content},
};

const TITLE_WEIGHT: f32 = 10.0;
const TAGS_WEIGHT: f32 = 8.0;
const HEADING_WEIGHT: f32 = 6.0;
const BODY_WEIGHT: f32 = 1.0;

/// More than any answer looks at; ranking happens among these.
const CANDIDATES: usize = 200;
const MEMORY: usize = 64 << 20;
const TERMS: &str = "terms";

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

    /// How much a term tells: little when it is everywhere, most when it is nowhere.
    pub(crate) fn weight(&self, chunks_with: usize) -> f32 {
        let (all, with) = (self.chunks as f32, chunks_with as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

struct Fields {
    title: Field,
    tags: Field,
    heading: Field,
    body: Field,
    about: Field,
}

pub(crate) struct Index<'a> {
    entries: Vec<Entry<'a>>,
    vocabulary: Vocabulary,
    reader: IndexReader,
    fields: Fields,
}

impl<'a> Index<'a> {
    pub(crate) fn build(pages: &'a [Page]) -> tantivy::Result<Self> {
        let mut schema = Schema::builder();
        let text = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TERMS)
                .set_index_option(IndexRecordOption::WithFreqs),
        );
        let fields = Fields {
            title: schema.add_text_field("title", text.clone()),
            tags: schema.add_text_field("tags", text.clone()),
            heading: schema.add_text_field("heading", text.clone()),
            body: schema.add_text_field("body", text),
            about: schema.add_text_field("about", STRING),
        };
        let index = Tantivy::create(
            RamDirectory::create(),
            schema.build(),
            IndexSettings::default(),
        )?;
        // Terms are made by `words`; the index only has to take them apart again.
        index
            .tokenizers()
            .register(TERMS, WhitespaceTokenizer::default());
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, MEMORY)?;
        let mut analyzer = Analyzer::new();
        let mut vocabulary = Vocabulary::default();
        let mut entries = Vec::new();
        for page in pages {
            let title = analyzer.terms(&page.title);
            let tags = analyzer.terms(&page.tags.join(" "));
            for chunk in &page.chunks {
                let heading = analyzer.terms(&heading_text(page, chunk));
                let body = analyzer.terms(&body_text(chunk));
                let mut document = TantivyDocument::default();
                document.add_text(fields.title, title.join(" "));
                document.add_text(fields.tags, tags.join(" "));
                document.add_text(fields.heading, heading.join(" "));
                document.add_text(fields.body, body.join(" "));
                for name in page.resource_type.iter().chain(&page.tags) {
                    document.add_text(fields.about, name);
                }
                writer.add_document(document)?;
                let own: HashSet<String> = heading.iter().chain(&body).cloned().collect();
                let mut terms = own.clone();
                terms.extend(title.iter().chain(&tags).cloned());
                for term in &terms {
                    *vocabulary.chunks_with.entry(term.clone()).or_default() += 1;
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
        writer.commit()?;
        writer.wait_merging_threads()?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        Ok(Self {
            entries,
            vocabulary,
            reader,
            fields,
        })
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

    /// Chunks that hold any of the concepts, best first. `about` leaves only pages about that type.
    pub(crate) fn search(
        &self,
        concepts: &[Concept],
        about: Option<&str>,
    ) -> tantivy::Result<Vec<Hit>> {
        let wanted: Vec<Box<dyn Query>> = concepts
            .iter()
            .map(|concept| self.clause(concept))
            .collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let mut query: Box<dyn Query> = Box::new(BooleanQuery::union(wanted));
        if let Some(about) = about {
            let only = self.term(self.fields.about, about, 0.0);
            query = Box::new(BooleanQuery::new(vec![
                (Occur::Must, only),
                (Occur::Must, query),
            ]));
        }
        let found = self
            .reader
            .searcher()
            .search(&query, &TopDocs::with_limit(CANDIDATES).order_by_score())?;
        // One writer thread, one segment: documents are numbered in the order they were added.
        Ok(found
            .into_iter()
            .map(|(score, address)| Hit {
                entry: address.doc_id as usize,
                score,
            })
            .collect())
    }

    /// The best of a concept's alternatives counts; in it, every field.
    fn clause(&self, concept: &Concept) -> Box<dyn Query> {
        let alternatives = concept
            .alternatives
            .iter()
            .map(|alternative| {
                let fields = [
                    (self.fields.title, TITLE_WEIGHT),
                    (self.fields.tags, TAGS_WEIGHT),
                    (self.fields.heading, HEADING_WEIGHT),
                    (self.fields.body, BODY_WEIGHT),
                ]
                .into_iter()
                .map(|(field, weight)| {
                    self.term(field, &alternative.term, weight * alternative.weight)
                })
                .collect();
                Box::new(BooleanQuery::union(fields)) as Box<dyn Query>
            })
            .collect();
        Box::new(DisjunctionMaxQuery::new(alternatives))
    }

    fn term(&self, field: Field, text: &str, weight: f32) -> Box<dyn Query> {
        let query = TermQuery::new(
            Term::from_field_text(field, text),
            IndexRecordOption::WithFreqs,
        );
        Box::new(BoostQuery::new(Box::new(query), weight))
    }
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

fn body_text(chunk: &Chunk) -> String {
    let passages: Vec<&str> = chunk
        .passages
        .iter()
        .map(|passage| match passage {
            Passage::Statement(text) => text.as_str(),
            Passage::Code(code) => code.text.as_str(),
        })
        .collect();
    passages.join("\n")
}
