//! What stands before the subject: conditions, places, `As a teacher, I want to`.

use std::ops::Range;

use super::Parser;
use crate::spec::{
    lexicon::small::Tags,
    phrase::{self, Phrase},
};

/// The beginning of a sentence part.
#[derive(Default)]
pub(super) struct Lead {
    /// `When a patient cancels`.
    pub condition: Option<String>,
    /// `For each patient`.
    pub place: Option<String>,
    /// `As a teacher, I want to` and the teacher.
    pub story: Option<(String, Phrase)>,
    /// Where the clause itself begins.
    pub rest: Range<usize>,
}

impl Lead {
    /// `For each patient`.
    pub fn is_each(&self) -> bool {
        self.place.as_ref().is_some_and(|place| {
            let mut words = place.split_whitespace();
            let first = words.next().map(str::to_lowercase);
            let second = words.next().map(str::to_lowercase);
            matches!(first.as_deref(), Some("for" | "of" | "about"))
                && matches!(
                    second.as_deref(),
                    Some("each" | "every" | "a" | "an" | "all")
                )
        })
    }
}

/// Words that begin a condition.
const CONDITIONS: &[&str] = &[
    "when", "if", "once", "after", "before", "while", "whenever", "unless", "until", "whilst", "as",
];

/// Adverbs that may stand before the subject.
const LEADING: &[&str] = &[
    "later",
    "optionally",
    "ideally",
    "automatically",
    "afterwards",
    "usually",
    "normally",
    "today",
    "currently",
    "eventually",
];

impl Parser<'_> {
    pub(super) fn lead(&self, chunk: Range<usize>) -> Lead {
        let mut lead = Lead {
            rest: chunk.clone(),
            ..Lead::default()
        };
        // `and`, `then`, `also`, `please` in front say nothing.
        while self.token(lead.rest.start).is_some_and(|token| {
            token.has(Tags::COORDINATOR)
                || token.is_comma()
                || token.is_any(&[
                    "then",
                    "also",
                    "please",
                    "additionally",
                    "furthermore",
                    "finally",
                    "but",
                    "however",
                ])
        }) && lead.rest.start < chunk.end
        {
            lead.rest.start += 1;
        }
        let from = lead.rest.start;
        let Some(first) = self.token(from).filter(|_| from < chunk.end) else {
            return lead;
        };
        if let Some((text, role, rest)) = self.story(from, chunk.end) {
            lead.story = Some((text, role));
            lead.rest.start = rest;
            return lead;
        }
        let conditional = first.is_any(CONDITIONS)
            && (!first.is("as")
                || self
                    .token(from + 1)
                    .is_some_and(|t| t.is_any(&["soon", "long"])));
        if conditional {
            if let Some(comma) = self.comma_before_clause(from, chunk.end) {
                lead.condition = Some(self.slice(from..comma).to_owned());
                lead.rest.start = comma + 1;
            }
        } else if first.has(Tags::PREPOSITION) || first.has(Tags::ADVERB) {
            if let Some(comma) = self.comma_before_clause(from, chunk.end) {
                lead.place = Some(self.slice(from..comma).to_owned());
                lead.rest.start = comma + 1;
            } else if first.has(Tags::PREPOSITION) {
                // `For each patient we keep …`
                let subject = (from + 1..chunk.end.min(from + 8)).find(|at| {
                    self.token(*at)
                        .is_some_and(|token| token.is_any(&["we", "they", "it", "you"]))
                });
                if let Some(subject) = subject {
                    lead.place = Some(self.slice(from..subject).to_owned());
                    lead.rest.start = subject;
                }
            } else if first.is_any(LEADING) {
                lead.place = Some(first.text.clone());
                lead.rest.start = from + 1;
            }
        }
        lead
    }

    /// The first comma that a whole clause follows.
    fn comma_before_clause(&self, from: usize, end: usize) -> Option<usize> {
        (from..end).find(|at| {
            self.token(*at).is_some_and(super::Token::is_comma)
                && (self.begins_clause(*at + 1, end) || self.imperative(*at + 1, end))
        })
    }

    /// `As a teacher, I want to`: its text, the teacher, where the verb begins.
    fn story(&self, from: usize, end: usize) -> Option<(String, Phrase, usize)> {
        if !self.token(from)?.is("as") || !self.token(from + 1)?.is_any(&["a", "an", "the"]) {
            return None;
        }
        let role = phrase::read(self.text, self.tokens.get(from + 1..end)?);
        let mut at = from + 1 + role.width;
        while self.token(at)?.is_comma() {
            at += 1;
        }
        if !self.token(at)?.is_any(&["i", "we"]) || role.is_empty() {
            return None;
        }
        Some((self.slice(from..at + 1).to_owned(), role, at))
    }
}
