//! Behaviours: each clause as an actor, a verb and an object, in the spec's own words.

mod active;
mod copula;
mod data;
mod features;
mod passive;

use crate::model::{analysis::VerbKind, strategy::Priority};
use crate::spec::{
    clause::{Clause, Voice},
    people::People,
    phrase::Phrase,
    priority,
    reading::{Reading, lower_first, upper_first},
    table::Row,
};

/// A statement before entities are known.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Actor first.
    pub text: String,
    /// The reading it is from.
    pub reading: usize,
    /// Singular.
    pub actor: Option<String>,
    /// Base form.
    pub verb: String,
    /// What it does.
    pub kind: VerbKind,
    /// What it is done to.
    pub object: Phrase,
    /// Noun phrases that take part.
    pub others: Vec<(String, Phrase)>,
    /// When, if.
    pub condition: Option<String>,
    /// Must not happen.
    pub negated: bool,
    /// `only`.
    pub only: bool,
    /// How important.
    pub priority: Priority,
    /// Read as list, create, update and delete.
    pub manages: bool,
    /// What the object is said to be: `public`, `private`.
    pub state: Option<String>,
    /// What is listed as kept of the object: `a title, a description and a status (…)`.
    pub list: Option<String>,
}

/// The statements of a reading.
pub fn drafts(
    reading: &Reading,
    index: usize,
    people: &People,
    product: Option<&str>,
) -> Vec<Draft> {
    let mut found = Vec::new();
    let maker = Maker {
        reading,
        index,
        people,
        product,
    };
    if let Some(Row::Entity { .. } | Row::Field { .. }) = &reading.row {
        return vec![maker.row()];
    }
    for clause in &reading.clauses {
        maker.clause(clause, &mut found);
    }
    if found.is_empty() {
        maker.data_item(&mut found);
        maker.granted(&mut found);
    }
    if found.is_empty() {
        maker.nouns(&mut found);
    }
    if found.is_empty() && crate::spec::sign_in::is_stated(&reading.line) {
        found.push(maker.draft(
            reading.text.clone(),
            "sign in",
            VerbKind::SignIn,
            &Phrase::default(),
        ));
    }
    for draft in &mut found {
        draft.text = finish(&draft.text);
    }
    found
}

/// Without the mark at the end, with a capital, white space single.
fn finish(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    upper_first(text.trim_end_matches(['.', ';', ',', ':', '!']).trim())
}

struct Maker<'a> {
    reading: &'a Reading,
    index: usize,
    people: &'a People,
    product: Option<&'a str>,
}

impl Maker<'_> {
    fn draft(&self, text: String, verb: &str, kind: VerbKind, object: &Phrase) -> Draft {
        Draft {
            text,
            reading: self.index,
            actor: None,
            verb: verb.to_owned(),
            kind,
            object: object.clone(),
            others: Vec::new(),
            condition: None,
            negated: false,
            only: false,
            priority: priority::of(self.reading, None),
            manages: matches!(verb, "manage" | "maintain" | "administer"),
            state: None,
            list: None,
        }
    }

    fn clause(&self, clause: &Clause, found: &mut Vec<Draft>) {
        match clause.voice {
            Voice::Copula => self.copula(clause, found),
            Voice::Passive => self.passive(clause, found),
            Voice::Active => self.active(clause, found),
        }
    }

    fn of_clause(&self, clause: &Clause, text: String, kind: VerbKind) -> Draft {
        let mut draft = self.draft(text, &clause.base, kind, &clause.object);
        draft.others = clause.tail_nouns.clone();
        draft.condition.clone_from(&clause.condition);
        draft.negated = clause.modal.negated && !clause.modal.refused;
        draft.only = clause.modal.only;
        draft.priority = priority::of(self.reading, Some(clause));
        draft
    }

    /// The clause with its subject first and its condition last.
    fn text(&self, clause: &Clause) -> String {
        let subject = match &clause.story {
            Some(story) => story.clone(),
            None => clause.subject.text.clone(),
        };
        let object = &clause.object_text;
        let parts = [
            subject.as_str(),
            &clause.modal.text,
            &clause.verb,
            object,
            &clause.tail,
        ];
        let mut text = join(&parts);
        if let Some(lead) = &clause.lead {
            text = format!("{text} {}", lower_first(lead));
        }
        self.with_condition(text, clause)
    }

    fn with_condition(&self, mut text: String, clause: &Clause) -> String {
        for more in [&clause.condition, &clause.purpose].into_iter().flatten() {
            text = format!("{text} {}", lower_first(more));
        }
        text
    }
}

fn join(parts: &[&str]) -> String {
    parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
