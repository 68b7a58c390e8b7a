//! The words between subject and verb: modals, adverbs, negation.

use super::Parser;
use crate::model::strategy::Priority;
use crate::spec::lexicon::{small::Tags, verbs::Forms};

/// What the words between subject and verb say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modal {
    /// As written.
    pub text: String,
    /// How important it makes the clause; none without a modal.
    pub priority: Option<Priority>,
    /// `not`, `never`, `cannot`.
    pub negated: bool,
    /// `will not`, `won't`, `do not want`: not now rather than never.
    pub refused: bool,
    /// `only`.
    pub only: bool,
    /// `still`, `currently`: how it is today.
    pub today: bool,
    /// Whether there is any modal.
    pub present: bool,
}

/// Where the verb begins and how it is expected.
pub struct Auxiliary {
    /// What was said.
    pub modal: Modal,
    /// The first token of the verb.
    pub verb_at: usize,
    /// Whether a form of `be` stands last.
    pub be: bool,
}

impl Auxiliary {
    /// The same for a second verb: a modal stated once still applies.
    pub fn following(mut self, before: &Self) -> Self {
        if !self.modal.present && !self.be && !before.be {
            let only = self.modal.only;
            let text = if self.modal.text.is_empty() || before.modal.text.is_empty() {
                format!("{}{}", before.modal.text, self.modal.text)
            } else {
                format!("{} {}", before.modal.text, self.modal.text)
            };
            self.modal = before.modal.clone();
            self.modal.only = only;
            self.modal.text = text;
        }
        self
    }
}

/// Words that belong to a modal when `to` follows.
const WITH_TO: &[(&[&str], Priority)] = &[
    (
        &["have", "has", "need", "needs", "must", "ought"],
        Priority::Must,
    ),
    (&["want", "wants", "wish", "wishes", "like"], Priority::Must),
];

/// Words that belong to a modal after `be` and before `to`.
const AFTER_BE: &[&str] = &[
    "able",
    "allowed",
    "permitted",
    "required",
    "expected",
    "supposed",
    "free",
    "going",
];

impl Parser<'_> {
    /// Reads from the first token after the subject.
    pub(super) fn auxiliary(&self, from: usize, end: usize) -> Auxiliary {
        let mut modal = Modal::default();
        let mut at = from;
        let mut be = false;
        while at < end {
            let Some(token) = self.token(at) else { break };
            let next = self.token(at + 1).map(|token| token.lower.as_str());
            let after = self.token(at + 2).map(|token| token.lower.as_str());
            let word = token.lower.as_str();
            if be && AFTER_BE.contains(&word) && next == Some("to") {
                be = false;
                modal.present = true;
                modal.priority.get_or_insert(Priority::Must);
                at += 2;
            } else if let Some((_, priority)) = WITH_TO
                .iter()
                .find(|(words, _)| words.contains(&word) && next == Some("to") && after.is_some())
            {
                modal.present = true;
                modal.priority.get_or_insert(*priority);
                at += 2;
            } else if token.has(Tags::MODAL) && (modal.present || !token.is_any(&["need", "needs"]))
            {
                modal.present = true;
                modal.priority = Some(priority_of(word));
                modal.negated |= token.has(Tags::NEGATION);
                modal.refused |= word == "won't" || (word == "will" && next == Some("not"));
                at += 1;
            } else if matches!(word, "do" | "does" | "did") && next == Some("not") {
                modal.negated = true;
                at += 2;
            } else if token.has(Tags::NEGATION) && !token.has(Tags::PRONOUN) {
                modal.negated = true;
                be |= token.has(Tags::BE);
                at += 1;
            } else if token.has(Tags::BE) {
                be = true;
                at += 1;
            } else if token.has(Tags::ADVERB) && !self.adverb_is_verb(at) {
                note_adverb(&mut modal, word);
                at += 1;
            } else if token.is("both") {
                at += 1;
            } else {
                break;
            }
        }
        modal.text = self.slice(from..at).to_owned();
        Auxiliary {
            modal,
            verb_at: at,
            be,
        }
    }

    fn adverb_is_verb(&self, at: usize) -> bool {
        self.verb(at)
            .is_some_and(|verb| verb.forms.has(Forms::BASE))
    }
}

fn note_adverb(modal: &mut Modal, word: &str) {
    match word {
        "only" => modal.only = true,
        "never" => modal.negated = true,
        "still" | "currently" | "today" | "already" => modal.today = true,
        "optionally" | "possibly" | "maybe" | "perhaps" => modal.priority = Some(Priority::Could),
        "ideally" => modal.priority = Some(Priority::Should),
        "later" => modal.priority = Some(Priority::Wont),
        _ => {}
    }
}

/// The priority of a modal.
fn priority_of(word: &str) -> Priority {
    match word.trim_end_matches("n't") {
        "should" => Priority::Should,
        "could" | "may" | "might" | "would" if word != "may" => Priority::Could,
        "may" => Priority::Could,
        _ => Priority::Must,
    }
}
