//! The written set of questions: how often the right page comes first, that answers cite what exists,
//! and that questions about something else get none.

use serde::Deserialize;
use windlass_docs::{Answer, Docs, Mode, Query};

/// Slightly below what was measured, so that a change for the worse is seen.
const HIT_AT_1: f64 = 0.91;
const HIT_AT_3: f64 = 0.97;
const MEAN_RECIPROCAL_RANK: f64 = 0.94;

#[derive(Deserialize)]
struct Set {
    questions: Vec<Vec<String>>,
    off_topic: Vec<String>,
    unsupported: Vec<(String, String)>,
}

fn set() -> Set {
    toml::from_str(include_str!("../questions.toml")).unwrap()
}

/// No page, or that the thing is not supported.
fn is_refused(answer: &Answer) -> bool {
    answer.references.is_empty() || answer.answer.to_lowercase().contains("not supported")
}

fn ask(docs: &Docs<'_>, question: &str, mode: Mode) -> Answer {
    docs.query(&Query {
        mode,
        max_items: 10,
        ..Query::new(question)
    })
    .unwrap()
}

#[test]
fn the_right_page_comes_first() {
    let docs = Docs::embedded().unwrap();
    let set = set();
    assert!(
        set.questions.len() >= 120,
        "{} questions",
        set.questions.len()
    );
    let (mut first, mut three, mut reciprocal) = (0, 0, 0.0);
    let mut misses = Vec::new();
    for entry in &set.questions {
        let (question, expected) = entry.split_first().unwrap();
        for page in expected {
            assert!(
                docs.pages().any(|(path, _, _)| path == page),
                "{page} of {question:?} is no page"
            );
        }
        let answer = ask(&docs, question, Mode::Answer);
        let rank = answer
            .references
            .iter()
            .position(|reference| expected.contains(&reference.path));
        if let Some(rank) = rank {
            first += u32::from(rank == 0);
            three += u32::from(rank < 3);
            reciprocal += 1.0 / (rank as f64 + 1.0);
        }
        if rank != Some(0) {
            let found: Vec<&str> = answer
                .references
                .iter()
                .map(|r| r.path.as_str())
                .take(3)
                .collect();
            misses.push(format!("{question:?} at {rank:?}: {}", found.join(", ")));
        }
    }
    let all = set.questions.len() as f64;
    let (first, three, reciprocal) = (
        f64::from(first) / all,
        f64::from(three) / all,
        reciprocal / all,
    );
    println!("{}", misses.join("\n"));
    println!("hit@1 {first:.3}, hit@3 {three:.3}, MRR {reciprocal:.3} of {all} questions");
    assert!(first >= HIT_AT_1 && three >= HIT_AT_3 && reciprocal >= MEAN_RECIPROCAL_RANK);
}

#[test]
fn other_topics_get_no_answer() {
    let docs = Docs::embedded().unwrap();
    let set = set();
    assert!(set.off_topic.len() >= 20);
    let mut wrong = Vec::new();
    for question in &set.off_topic {
        let answer = ask(&docs, question, Mode::Answer);
        if !is_refused(&answer) {
            wrong.push(format!(
                "{question}: {}",
                answer.answer.chars().take(160).collect::<String>()
            ));
        }
        assert!(answer.snippets.is_none(), "{question}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn features_that_are_missing_are_named_with_the_nearest_type() {
    let docs = Docs::embedded().unwrap();
    for (question, nearest) in set().unsupported {
        let answer = ask(&docs, &question, Mode::Answer);
        assert!(
            answer.answer.contains("is not supported")
                && answer.answer.contains(&format!("Nearest: `{nearest}`")),
            "{question}: {}",
            answer.answer
        );
        let page = format!("stack/config-ref/{nearest}.md");
        assert_eq!(answer.references[0].path, page, "{question}");
    }
}

#[test]
fn every_citation_exists_and_answers_are_bounded() {
    let docs = Docs::embedded().unwrap();
    let set = set();
    let asked = set
        .questions
        .iter()
        .map(|entry| &entry[0])
        .chain(set.unsupported.iter().map(|(q, _)| q));
    for question in asked {
        for mode in [Mode::Answer, Mode::Reference, Mode::Snippet] {
            let answer = ask(&docs, question, mode);
            assert!(answer.answer.chars().count() <= 12_000, "{question}");
            assert!(!answer.references.is_empty(), "{question} got no answer");
            let cited = citations(&answer.answer);
            assert!(
                !cited.is_empty(),
                "{question} in {mode:?}: {}",
                answer.answer
            );
            for place in cited {
                assert!(docs.has(place), "{question}: [{place}] does not exist");
                let path = place.split('#').next().unwrap();
                assert!(
                    answer
                        .references
                        .iter()
                        .any(|reference| reference.path == path),
                    "{question}: {path} is cited and not listed"
                );
            }
            for snippet in answer.snippets.iter().flatten() {
                assert!(["yaml", "typescript"].contains(&snippet.language.as_str()));
                assert!(!snippet.code.trim().is_empty());
            }
            for next in answer.next_queries.iter().flatten() {
                assert_ne!(next, question);
            }
        }
    }
}

#[test]
fn what_is_offered_next_has_an_answer() {
    let docs = Docs::embedded().unwrap();
    for entry in set().questions.iter().step_by(7) {
        let answer = ask(&docs, &entry[0], Mode::Answer);
        let next = answer.next_queries.unwrap_or_default();
        assert!((1..=3).contains(&next.len()), "{:?}: {next:?}", entry[0]);
        for question in next {
            let follow_up = ask(&docs, &question, Mode::Reference);
            assert!(
                !follow_up.references.is_empty(),
                "{question:?} after {:?}",
                entry[0]
            );
        }
    }
}

/// What stands in brackets and looks like a place.
fn citations(text: &str) -> Vec<&str> {
    text.split('[')
        .skip(1)
        .filter_map(|rest| rest.split(']').next())
        .filter(|place| place.contains(".md#"))
        .collect()
}
