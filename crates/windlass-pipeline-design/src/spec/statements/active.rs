//! What a user or thing does.

use super::{Draft, Maker};
use crate::model::{analysis::VerbKind, naming, strategy::Priority};
use crate::spec::{
    clause::Clause,
    lexicon::{line::Line, nouns, verbs},
    phrase::{self},
    priority,
    reading::Reading,
    section::Section,
};

/// Verbs that say what a product is for rather than what it does.
const GOAL_VERBS: &[&str] = &[
    "replace", "help", "make", "aim", "bring", "give", "serve", "want", "need", "save", "be",
    "feel", "look", "work", "improve", "reduce", "support", "connect", "combine", "turn", "like",
    "lose", "know", "exist", "become",
];

/// `in a category with a title and a body`: the list behind another phrase.
fn listed_behind(tail: &str) -> Option<&str> {
    let (before, list) = tail.split_once(" with ")?;
    let list = list.trim();
    let several = list.contains(',') || list.contains(" and ");
    (several && before.split_whitespace().count() <= 5 && !before.contains(',')).then_some(list)
}

impl Maker<'_> {
    pub(super) fn active(&self, clause: &Clause, found: &mut Vec<Draft>) {
        if crate::spec::classify::is_data(clause) && !self.gives_access(clause) {
            return self.data(clause, found);
        }
        if verbs::gives(&clause.base) && self.given(clause, found) {
            return;
        }
        if self.stages(clause, found) || self.builds_the_product(clause) {
            return;
        }
        let Some(actor) = self.actor(clause) else {
            return;
        };
        let kind = verbs::kind(&clause.base, !clause.object.is_empty());
        let mut draft = self.of_clause(clause, self.text(clause), kind);
        if self.gives_access(clause) {
            draft.kind = VerbKind::Read;
            draft.verb = "access".to_owned();
            let region = self
                .reading
                .tokens
                .get(clause.region.clone())
                .unwrap_or_default();
            draft.object = phrase::all_with_prepositions(&self.reading.text, region)
                .into_iter()
                .find(|(preposition, _)| preposition == "to")
                .map(|(_, noun)| noun)
                .unwrap_or_default();
        }
        let listing = ["with ", "including ", "containing ", "consisting of "]
            .iter()
            .find_map(|word| clause.tail.strip_prefix(word))
            .or_else(|| listed_behind(&clause.tail));
        // `publish recipes with a title, ingredients and steps` makes them.
        if kind == VerbKind::Other
            && crate::spec::settle::makes(&clause.base)
            && listing.is_some_and(|list| list.contains(','))
        {
            draft.kind = VerbKind::Create;
        }
        // `leave a review` makes one, `leave a team` does not.
        if matches!(clause.base.as_str(), "leave" | "give")
            && matches!(
                clause.object.head(),
                "review" | "comment" | "feedback" | "rating" | "note" | "message" | "reply"
            )
        {
            draft.kind = VerbKind::Create;
        }
        if draft.kind == VerbKind::Create || draft.manages {
            let bracketed = clause
                .object_text
                .split_once('(')
                .map(|(_, inner)| inner.trim_end_matches(')'));
            draft.list = listing.or(bracketed).map(str::to_owned);
        }
        if kind == VerbKind::Keep && !self.gives_access(clause) {
            // `The platform includes a blog`: something the product offers.
            draft.kind = VerbKind::Other;
            draft.verb = "offer".to_owned();
        }
        draft.actor = actor;
        found.push(draft);
    }

    /// `Auditors have read-only access to everything`
    pub(super) fn gives_access(&self, clause: &Clause) -> bool {
        clause.base == "have"
            && clause
                .object_text
                .split_whitespace()
                .any(|word| word == "access")
    }

    /// Who does it: `Some(None)` for nobody in particular, `None` when it is no behaviour.
    pub(super) fn actor(&self, clause: &Clause) -> Option<Option<String>> {
        let subject = &clause.subject;
        let head = subject.head();
        let text = subject.text.to_lowercase();
        if clause.modal.today {
            return None;
        }
        if subject.text.is_empty() {
            let offers = !matches!(clause.base.as_str(), "look" | "feel" | "be");
            return offers.then_some(None);
        }
        if matches!(text.as_str(), "we" | "i" | "you") {
            let wish = matches!(
                clause.base.as_str(),
                "want" | "need" | "like" | "love" | "prefer" | "expect"
            );
            let scoped = priority::of(self.reading, Some(clause)) != Priority::Must;
            let goal = GOAL_VERBS.contains(&clause.base.as_str());
            return (if wish { scoped } else { !goal }).then_some(None);
        }
        let called = self
            .product
            .is_some_and(|product| text == product.to_lowercase());
        if called || subject.is_product() || text == "it" {
            let goal = GOAL_VERBS.contains(&clause.base.as_str()) && clause.condition.is_none();
            let refused = clause.modal.negated || self.reading.section() == Section::OutOfScope;
            return (!goal || refused).then(|| Some("system".to_owned()));
        }
        if let Some(role) = self.people.role_of(subject) {
            return Some(Some(role.to_owned()));
        }
        if nouns::is_maker(head) {
            return Some(Some(head.to_owned()));
        }
        if nouns::is_ui(head) {
            return Some(None);
        }
        let everybody = matches!(
            text.split(' ').next().unwrap_or_default(),
            "everybody"
                | "everyone"
                | "anybody"
                | "anyone"
                | "nobody"
                | "people"
                | "somebody"
                | "someone"
        );
        if everybody || nouns::is_person(head) {
            return Some(None);
        }
        if nouns::is_group(head)
            || text.starts_with("our ")
            || self.reading.section() == Section::Goal
        {
            return None;
        }
        if priority::of(self.reading, Some(clause)) == Priority::Wont {
            return Some(None);
        }
        let known = clause.modal.present || clause.condition.is_some() || !clause.object.is_empty();
        let goal = GOAL_VERBS.contains(&clause.base.as_str()) && !clause.modal.present;
        (known && !goal).then(|| Some("system".to_owned()))
    }

    /// `The app lets teachers create quizzes`: the teachers do.
    pub(super) fn given(&self, clause: &Clause, found: &mut Vec<Draft>) -> bool {
        let tokens = self
            .reading
            .tokens
            .get(clause.region.clone())
            .unwrap_or_default();
        let base_at = |at: usize| {
            tokens
                .get(at)
                .and_then(|token| token.verb.as_ref())
                .is_some_and(|verb| verb.forms.has(verbs::Forms::BASE))
        };
        let Some(verb_at) = (1..tokens.len()).find(|at| {
            let after_to = tokens[at - 1].is("to");
            let after_people = nouns::is_person(&naming::singular(&tokens[at - 1].lower));
            base_at(*at) && (after_to || (after_people && clause.base != "allow"))
        }) else {
            return false;
        };
        let people_end = verb_at - usize::from(tokens[verb_at - 1].is("to"));
        let people = phrase::read(&self.reading.text, &tokens[..people_end]);
        if people.width != people_end
            || !(self.people.is_person(&people) || nouns::is_person(people.head()))
        {
            return false;
        }
        let action = crate::spec::token::slice(&self.reading.text, &tokens[verb_at..]);
        let inner = format!("{} can {action}", people.text);
        let inner_tokens = crate::spec::token::tokens(&inner);
        let before = found.len();
        let known = crate::spec::clause::Known::default();
        let sub = Reading {
            id: self.reading.id.clone(),
            piece: self.reading.piece.clone(),
            clauses: crate::spec::clause::clauses(&inner, &inner_tokens, &known),
            line: Line::new(&inner),
            text: inner,
            tokens: inner_tokens,
            label: None,
            row: None,
        };
        let maker = Maker {
            reading: &sub,
            ..*self
        };
        for inner in &sub.clauses {
            maker.active(inner, found);
        }
        let priority = priority::of(self.reading, Some(clause));
        for draft in &mut found[before..] {
            draft.priority = priority;
            draft.condition = draft.condition.take().or_else(|| clause.condition.clone());
        }
        found.len() > before
    }

    /// `Build a todo app`, `We will develop a platform`: the product, not a thing it keeps.
    pub(super) fn builds_the_product(&self, clause: &Clause) -> bool {
        let text = clause.subject.text.to_lowercase();
        matches!(
            clause.base.as_str(),
            "build"
                | "create"
                | "develop"
                | "make"
                | "design"
                | "implement"
                | "write"
                | "want"
                | "need"
        ) && matches!(text.as_str(), "" | "we" | "i")
            && !clause.modal.negated
            && (nouns::is_always_product(clause.object.head())
                || nouns::is_product(clause.object.head(), "the")
                || (!text.is_empty() && matches!(clause.base.as_str(), "build" | "develop")))
    }
}
