//! Clauses: who does what to what, under which condition.
//!
//! A sentence is cut where another subject or another verb begins, so that `create, edit and delete
//! quizzes` is three clauses. No meaning is given to them here.

mod head;
mod lead;
mod modal;
mod predicate;

use std::{collections::BTreeSet, ops::Range};

pub use modal::Modal;

use crate::spec::{
    lexicon::verbs::VerbUse,
    phrase::Phrase,
    token::{Token, slice},
};

/// How the verb stands to its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The subject does it.
    Active,
    /// It is done to the subject.
    Passive,
    /// The subject is something.
    Copula,
}

/// One clause.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Who or what; empty for an imperative.
    pub subject: Phrase,
    /// `As a teacher, I want to`: how a story begins; the subject is the teacher.
    pub story: Option<String>,
    /// Modal words, adverbs and negation.
    pub modal: Modal,
    /// How the verb stands to the subject.
    pub voice: Voice,
    /// The verb, base form with its particle: `sign in`.
    pub base: String,
    /// The verb as written.
    pub verb: String,
    /// What it is done to; empty for none.
    pub object: Phrase,
    /// The object as written, with a preposition before it.
    pub object_text: String,
    /// What stands between object and condition.
    pub tail: String,
    /// The noun phrases in the tail.
    pub tail_nouns: Vec<(String, Phrase)>,
    /// When, if, before, with that word.
    pub condition: Option<String>,
    /// `so that …`, `because …`.
    pub purpose: Option<String>,
    /// What stood before the subject without being a condition: `For each patient`.
    pub lead: Option<String>,
    /// Everything behind the verb up to the condition, as tokens of the piece.
    pub region: Range<usize>,
}

impl Clause {
    /// `For each patient we keep …`: what is kept, not what a user does.
    pub fn is_each_lead(&self) -> bool {
        const KEEPING: &[&str] = &[
            "keep", "store", "record", "save", "need", "have", "hold", "collect", "track", "know",
        ];
        self.lead.as_ref().is_some_and(|lead| {
            let lead = lead.to_lowercase();
            lead.starts_with("for each ")
                || lead.starts_with("for every ")
                || lead.starts_with("of each ")
        }) && KEEPING.contains(&self.base.as_str())
            && self.voice == Voice::Active
    }

    /// The patient of `For each patient`.
    pub fn lead_noun(&self) -> Phrase {
        let Some(lead) = &self.lead else {
            return Phrase::default();
        };
        let tokens = crate::spec::token::tokens(lead);
        crate::spec::phrase::read(lead, tokens.get(1..).unwrap_or_default())
    }
}

/// What is known before clauses are read.
#[derive(Default)]
pub struct Known {
    /// Roles, singular: their plural before an unknown word makes that a verb.
    pub people: BTreeSet<String>,
}

/// The clauses of a piece. Empty when it has no verb.
pub fn clauses(text: &str, tokens: &[Token], known: &Known) -> Vec<Clause> {
    let parser = Parser {
        text,
        tokens,
        known,
    };
    let mut found = Vec::new();
    for chunk in chunks(tokens) {
        parser.chunk(chunk, &mut found);
    }
    found
}

/// Reads one piece.
struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    known: &'a Known,
}

impl Parser<'_> {
    fn slice(&self, range: Range<usize>) -> &str {
        self.tokens
            .get(range)
            .map_or("", |tokens| slice(self.text, tokens))
    }

    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn verb(&self, at: usize) -> Option<&VerbUse> {
        self.tokens.get(at).and_then(|token| token.verb.as_ref())
    }

    fn chunk(&self, chunk: Range<usize>, found: &mut Vec<Clause>) {
        let lead = self.lead(chunk.clone());
        let mut from = lead.rest.start;
        let mut first = true;
        while from < chunk.end {
            let Some(head) = self.head(from..chunk.end, &lead, first) else {
                break;
            };
            let next = self.predicate(&head, &lead, chunk.end, found);
            first = false;
            if next <= from {
                break;
            }
            from = next;
        }
    }
}

/// The parts of a sentence that stand on their own: cut at semicolons and dashes, and behind a
/// label such as `Admin:`.
fn chunks(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.lower.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            ";" | "–" | "—" | "|" if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            // `an application in which patients book …`: what they do there.
            "where" if depth == 0 && at > start + 1 => {
                found.push(start..at);
                start = at + 1;
            }
            "which" if depth == 0 && at > start + 1 && tokens[at - 1].is_any(&["in", "on"]) => {
                found.push(start..at - 1);
                start = at + 1;
            }
            ":" if depth == 0 && is_label(&tokens[start..at]) => {
                found.push(start..at);
                start = at + 1;
            }
            "." | "!" | "?" if at + 1 == tokens.len() => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(start..tokens.len());
    found.retain(|range| !range.is_empty());
    found
}

/// Whether the words before a colon name what follows rather than say something.
fn is_label(before: &[Token]) -> bool {
    use crate::spec::lexicon::small::Tags;
    before.len() <= 8
        && !before.iter().any(|token| {
            token.has(Tags::BE) || token.has(Tags::MODAL) || token.is_any(&["has", "have", "with"])
        })
}

#[cfg(test)]
#[path = "clause_tests.rs"]
mod tests;
