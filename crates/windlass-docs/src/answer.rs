//! Makes answers of chunks: statements with their places, lists of places, or code.
//!
//! Every sentence of an answer is one of a page, or says where something stands.

mod next;

use crate::{
    chunk::{Chunk, Code, Passage},
    concepts::Concept,
    index::{Entry, Hit, Index, Vocabulary},
    page::Page,
    query::{Answer, Mode, Query, Reference, Snippet},
    unsupported::{Feature, Nearest},
};

const LONGEST_ANSWER: usize = 12_000;
const LONGEST_STATEMENT: usize = 700;
const LONGEST_LINE: usize = 180;
const STATEMENTS_OF_BEST: usize = 5;
const STATEMENTS_OF_OTHERS: usize = 2;
/// Of a section that explains an error message.
const PASSAGES_OF_SECTION: usize = 10;
/// A chunk opens with what it is about.
const OPENING: f32 = 1.0;
/// Statements below this part of the best one are left out.
const STATEMENT_FLOOR: f32 = 0.5;
const SNIPPETS_OF_ANSWER: usize = 1;
const LONGEST_COMMAND: usize = 1_500;

/// Answers in the mode that was asked for.
pub(crate) fn compose(
    index: &Index<'_>,
    query: &Query,
    concepts: &[Concept],
    ranked: &[Hit],
) -> Answer {
    let most = usize::try_from(query.max_items).unwrap_or(usize::MAX);
    let pages = best_pages(index, ranked, most);
    let entries: Vec<&Entry<'_>> = ranked
        .iter()
        .map(|hit| index.entry(hit))
        .filter(|entry| pages.iter().any(|page| page.path == entry.page.path))
        .collect();
    let explains_error = ranked.first().is_some_and(|best| best.explains_error);
    let (text, snippets) = match query.mode {
        Mode::Answer => (
            statements(&entries, explains_error, concepts, index.vocabulary()),
            snippets(&entries, SNIPPETS_OF_ANSWER),
        ),
        Mode::Reference => (places(&entries, concepts, index.vocabulary()), Vec::new()),
        Mode::Snippet => code(&entries, most),
    };
    Answer {
        answer: text,
        references: pages.iter().map(|page| reference(page)).collect(),
        snippets: (!snippets.is_empty()).then_some(snippets),
        next_queries: Some(next::queries(index, query, &entries)).filter(|next| !next.is_empty()),
    }
}

/// The answer about a feature that is not there.
pub(crate) fn unsupported(pages: &[Page], feature: &Feature<'_>) -> Answer {
    let nearest = pages.iter().find(|page| match feature.nearest {
        Nearest::Type(name) => page.resource_type.as_deref() == Some(name),
        Nearest::Page(path) => page.path == path,
    });
    let named = match feature.nearest {
        Nearest::Type(name) => format!("`{}` is not supported. Nearest: `{name}`.", feature.name),
        Nearest::Page(_) => format!("Not supported: {}.", feature.name),
    };
    let mut answer = format!(
        "{named} {} {}",
        feature.advice,
        cite(feature.page, feature.anchor)
    );
    if let Some((page, chunk)) = nearest.and_then(|page| Some((page, page.chunks.first()?)))
        && let Some(first) = chunk.statements().next()
    {
        answer.push_str(&format!(
            "\n\n{} {}",
            cut(first, LONGEST_STATEMENT),
            cite(page, &chunk.anchor)
        ));
    }
    Answer {
        answer,
        references: nearest
            .into_iter()
            .chain(std::iter::once(feature.page))
            .map(reference)
            .collect(),
        snippets: None,
        next_queries: nearest
            .map(|page| vec![page.title.clone(), format!("{} example", page.title)]),
    }
}

fn best_pages<'a>(index: &Index<'a>, ranked: &[Hit], most: usize) -> Vec<&'a Page> {
    let mut pages: Vec<&Page> = Vec::new();
    for hit in ranked {
        let page = index.entry(hit).page;
        if pages.len() < most && pages.iter().all(|known| known.path != page.path) {
            pages.push(page);
        }
    }
    pages
}

fn reference(page: &Page) -> Reference {
    Reference {
        title: page.title.clone(),
        path: page.path.clone(),
        doc_type: page.doc_type,
    }
}

fn cite(page: &Page, anchor: &str) -> String {
    format!("[{}#{anchor}]", page.path)
}

/// The statements that hold most of the question, in the order of the page.
///
/// Where the best one explains an error message, all of it.
fn statements(
    entries: &[&Entry<'_>],
    explains_error: bool,
    concepts: &[Concept],
    vocabulary: &Vocabulary,
) -> String {
    let mut answer = String::new();
    for (at, entry) in entries.iter().enumerate() {
        let parts = match at {
            0 if explains_error => section(entry.chunk),
            0 => quoted(entry.chunk, concepts, vocabulary, STATEMENTS_OF_BEST, true),
            _ => quoted(
                entry.chunk,
                concepts,
                vocabulary,
                STATEMENTS_OF_OTHERS,
                false,
            ),
        };
        for part in parts {
            let part = match part {
                Passage::Statement(text) => {
                    format!(
                        "{} {}",
                        cut(text, LONGEST_STATEMENT),
                        cite(entry.page, &entry.chunk.anchor)
                    )
                }
                Passage::Code(code) => fenced(code),
            };
            if answer.chars().count() + part.chars().count() + 2 > LONGEST_ANSWER {
                return answer;
            }
            if !answer.is_empty() {
                answer.push_str("\n\n");
            }
            answer.push_str(&part);
        }
    }
    if answer.is_empty() {
        return places(entries, concepts, vocabulary);
    }
    answer
}

/// What to quote of a chunk. `whole` adds the commands that stand in it.
fn quoted<'a>(
    chunk: &'a Chunk,
    concepts: &[Concept],
    vocabulary: &Vocabulary,
    most: usize,
    whole: bool,
) -> Vec<&'a Passage> {
    let mut scored: Vec<(usize, f32)> = Vec::new();
    let mut command = (None, 0.0);
    for (at, passage) in chunk.passages.iter().enumerate() {
        match passage {
            // An introduction is nothing without what it introduces.
            Passage::Statement(text) if text.ends_with(':') => {}
            Passage::Statement(text) => {
                let opening = if at == 0 { OPENING } else { 0.0 };
                scored.push((at, opening + held(text, concepts, vocabulary)));
            }
            Passage::Code(code) if snippet_language(code).is_none() => {
                let held = held(&code.text, concepts, vocabulary);
                if held > command.1 && code.text.len() <= LONGEST_COMMAND {
                    command = (Some(at), held);
                }
            }
            Passage::Code(_) => {}
        }
    }
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let floor = scored
        .first()
        .map_or(0.0, |(_, best)| best * STATEMENT_FLOOR);
    let mut chosen: Vec<usize> = scored
        .iter()
        .filter(|(_, score)| *score >= floor)
        .take(most)
        .map(|(at, _)| *at)
        .collect();
    chosen.sort_unstable();
    // Behind the statements, so that a place stands before it.
    if whole && !chosen.is_empty() {
        chosen.extend(command.0);
    }
    chosen.into_iter().map(|at| &chunk.passages[at]).collect()
}

/// The text of a chunk, in order, without what is offered as a snippet.
fn section(chunk: &Chunk) -> Vec<&Passage> {
    chunk
        .passages
        .iter()
        .filter(|passage| match passage {
            Passage::Statement(_) => true,
            Passage::Code(code) => {
                snippet_language(code).is_none() && code.text.len() <= LONGEST_COMMAND
            }
        })
        .take(PASSAGES_OF_SECTION)
        .collect()
}

fn held(text: &str, concepts: &[Concept], vocabulary: &Vocabulary) -> f32 {
    let terms = vocabulary.terms_of(text);
    concepts
        .iter()
        .map(|concept| concept.weight * concept.held_by(|term| terms.contains(term)))
        .sum()
}

/// One line per place: title, heading, the statement that fits best.
fn places(entries: &[&Entry<'_>], concepts: &[Concept], vocabulary: &Vocabulary) -> String {
    let mut lines = Vec::new();
    for entry in entries {
        let line = quoted(entry.chunk, concepts, vocabulary, 1, false)
            .into_iter()
            .find_map(|passage| match passage {
                Passage::Statement(text) => Some(format!(": {}", cut(text, LONGEST_LINE))),
                Passage::Code(_) => None,
            })
            .unwrap_or_default();
        let name = if entry.chunk.heading == entry.page.title {
            entry.page.title.clone()
        } else {
            format!("{} › {}", entry.page.title, entry.chunk.heading)
        };
        lines.push(format!(
            "- {name}{line} {}",
            cite(entry.page, &entry.chunk.anchor)
        ));
    }
    lines.join("\n")
}

/// Code of the pages, YAML first; other languages stand in the text.
fn code(entries: &[&Entry<'_>], most: usize) -> (String, Vec<Snippet>) {
    let found = snippets(entries, most);
    let mut lines = Vec::new();
    for entry in entries {
        let Some((chunk, code)) = first_code(entry) else {
            continue;
        };
        let place = format!(
            "{} › {} {}",
            entry.page.title,
            chunk.heading,
            cite(entry.page, &chunk.anchor)
        );
        if snippet_language(code).is_some() {
            lines.push(format!("- {place}"));
        } else if code.text.len() <= LONGEST_COMMAND && lines.len() < most {
            lines.push(format!("- {place}\n\n{}\n", fenced(code)));
        }
    }
    lines.dedup();
    if lines.is_empty() {
        lines.push("The matching pages have no code:".to_owned());
        for entry in entries {
            lines.push(format!(
                "- {} › {} {}",
                entry.page.title,
                entry.chunk.heading,
                cite(entry.page, &entry.chunk.anchor)
            ));
        }
    }
    (lines.join("\n"), found)
}

fn snippets(entries: &[&Entry<'_>], most: usize) -> Vec<Snippet> {
    let mut found: Vec<Snippet> = Vec::new();
    for entry in entries {
        let Some((chunk, _)) = first_code(entry) else {
            continue;
        };
        for code in chunk.code() {
            if let Some(language) = snippet_language(code)
                && found.iter().all(|known| known.code != code.text)
            {
                found.push(Snippet {
                    language: language.to_owned(),
                    code: code.text.clone(),
                });
            }
        }
    }
    found.sort_by_key(|snippet| snippet.language != "yaml");
    found.truncate(most);
    let mut room = LONGEST_ANSWER;
    found.retain(
        |snippet| match room.checked_sub(snippet.code.chars().count()) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        },
    );
    found
}

/// The chunk whose code shows what the entry is about: its own, else the page's first YAML.
fn first_code<'a>(entry: &Entry<'a>) -> Option<(&'a Chunk, &'a Code)> {
    let own = entry
        .chunk
        .code()
        .find(|code| snippet_language(code).is_some())
        .or_else(|| entry.chunk.code().next());
    own.map(|code| (entry.chunk, code)).or_else(|| {
        entry.page.chunks.iter().find_map(|chunk| {
            chunk
                .code()
                .find(|code| snippet_language(code).is_some())
                .map(|code| (chunk, code))
        })
    })
}

/// The contract has room for two languages.
fn snippet_language(code: &Code) -> Option<&'static str> {
    match code.language.as_str() {
        "yaml" | "yml" => Some("yaml"),
        "typescript" | "ts" | "tsx" => Some("typescript"),
        _ => None,
    }
}

fn fenced(code: &Code) -> String {
    format!("```{}\n{}```", code.language, code.text)
}

/// A text within a length, cut after a sentence where one ends.
fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let head: String = text.chars().take(longest).collect();
    match head.rfind(". ") {
        Some(end) if end > longest / 3 => head[..=end].to_owned(),
        _ => format!(
            "{}…",
            head.rsplit_once(' ')
                .map_or(head.as_str(), |(head, _)| head)
        ),
    }
}
