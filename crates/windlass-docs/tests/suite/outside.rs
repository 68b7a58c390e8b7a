//! Questions from outside: newcomers' words, pasted error messages, and questions without an answer.
//!
//! One half may be looked at when search is changed; of the other one only the totals are printed.

use serde::Deserialize;
use windlass_docs::{Answer, Docs, Query};

/// What is asked of the half that nothing was tuned on.
const HIT_AT_3: f64 = 0.92;
const ABSTENTION: f64 = 0.9;
/// The other half was tuned on.
const TUNED_HIT_AT_3: f64 = 0.95;

#[derive(Deserialize)]
struct Outside {
    tuned: Half,
    held_out: Half,
}

#[derive(Deserialize)]
struct Half {
    answerable: Vec<Vec<String>>,
    unanswerable: Vec<String>,
}

#[derive(Default)]
struct Totals {
    first: u32,
    three: u32,
    answerable: usize,
    abstained: u32,
    unanswerable: usize,
    failed: Vec<String>,
}

impl Totals {
    fn of(half: &Half) -> Self {
        let docs = Docs::embedded().unwrap();
        let mut totals = Self {
            answerable: half.answerable.len(),
            unanswerable: half.unanswerable.len(),
            ..Self::default()
        };
        for entry in &half.answerable {
            let (question, expected) = entry.split_first().unwrap();
            for page in expected {
                assert!(
                    docs.pages().any(|(path, _, _)| path == page),
                    "{page} is no page"
                );
            }
            let answer = docs.query(&Query::new(question)).unwrap();
            let rank = answer
                .references
                .iter()
                .position(|reference| expected.contains(&reference.path));
            totals.first += u32::from(rank == Some(0));
            totals.three += u32::from(rank.is_some_and(|rank| rank < 3));
            if rank != Some(0) {
                totals
                    .failed
                    .push(format!("{rank:?} {question:?}: {}", found(&answer)));
            }
        }
        for question in &half.unanswerable {
            let answer = docs.query(&Query::new(question)).unwrap();
            let abstained = answer.references.is_empty()
                || answer.answer.to_lowercase().contains("not supported");
            totals.abstained += u32::from(abstained);
            if !abstained {
                totals
                    .failed
                    .push(format!("answered {question:?}: {}", found(&answer)));
            }
        }
        totals
    }

    fn hit_at_3(&self) -> f64 {
        f64::from(self.three) / self.answerable as f64
    }

    fn abstention(&self) -> f64 {
        f64::from(self.abstained) / self.unanswerable as f64
    }

    fn line(&self) -> String {
        format!(
            "hit@1 {:.3}, hit@3 {:.3} of {}; abstention {:.3} of {}",
            f64::from(self.first) / self.answerable as f64,
            self.hit_at_3(),
            self.answerable,
            self.abstention(),
            self.unanswerable
        )
    }
}

fn found(answer: &Answer) -> String {
    let paths: Vec<&str> = answer
        .references
        .iter()
        .map(|reference| reference.path.as_str())
        .collect();
    paths.join(", ")
}

fn outside() -> Outside {
    let outside: Outside = toml::from_str(include_str!("../outside.toml")).unwrap();
    let halves = [&outside.tuned, &outside.held_out];
    let answerable: usize = halves.iter().map(|half| half.answerable.len()).sum();
    let unanswerable: usize = halves.iter().map(|half| half.unanswerable.len()).sum();
    assert!(
        answerable >= 60 && unanswerable >= 20,
        "questions were lost"
    );
    outside
}

#[test]
fn the_half_that_was_tuned_on() {
    let totals = Totals::of(&outside().tuned);
    println!("{}\n{}", totals.failed.join("\n"), totals.line());
    assert!(totals.hit_at_3() >= TUNED_HIT_AT_3 && totals.abstention() >= ABSTENTION);
}

#[test]
fn the_half_that_was_held_out() {
    let totals = Totals::of(&outside().held_out);
    println!("{}", totals.line());
    assert!(totals.hit_at_3() >= HIT_AT_3 && totals.abstention() >= ABSTENTION);
}
