//! Who uses the product.
//!
//! Subjects of can, may, must; nouns after `as a`; what a roles section lists. A user only where
//! the spec mentions one.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::analysis::{Place, Role};
use crate::spec::{
    clause::{Clause, Voice},
    lexicon::{nouns, small::Tags, verbs},
    phrase::{self, Phrase},
    reading::{Prepared, Reading},
    section::Section,
    segment::Piece,
    token,
};

/// The people of a spec.
#[derive(Default)]
pub struct People {
    /// Roles in the order of the text.
    pub roles: Vec<Role>,
    alias: BTreeMap<String, String>,
}

impl People {
    /// The role a name stands for.
    pub fn role(&self, name: &str) -> Option<&str> {
        self.alias.get(nouns::same_role(name)).map(String::as_str)
    }

    /// The role of a phrase: by its whole name, then by its last word.
    pub fn role_of(&self, phrase: &Phrase) -> Option<&str> {
        self.role(&phrase.name).or_else(|| self.role(phrase.head()))
    }

    /// Whether a phrase names people, role or not.
    pub fn is_person(&self, phrase: &Phrase) -> bool {
        self.role(&phrase.name).is_some()
            || (nouns::is_person(phrase.head()) && !nouns::is_ui(phrase.head()))
    }
}

/// What the spec declares to be people before any sentence is read: roles sections, `as a …`,
/// labels of role tables.
pub fn declared(prepared: &[Prepared], pieces: &[Piece]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (prepared, piece) in prepared.iter().zip(pieces) {
        if piece.set_aside.is_some() {
            continue;
        }
        if let Some(label) = &prepared.label {
            found.insert(label.clone());
        }
        let tokens = token::tokens(&prepared.text);
        if tokens.len() > 2 && tokens[0].is("as") && tokens[1].is_any(&["a", "an"]) {
            let role = phrase::read(&prepared.text, &tokens[1..]);
            if !role.is_empty()
                && tokens
                    .get(1 + role.width)
                    .is_some_and(|t| t.is_comma() || t.is_any(&["i", "we"]))
            {
                found.insert(role.name);
            }
        }
        if piece.section == Section::Roles && piece.place != Place::Heading && piece.row.is_none() {
            found.extend(listed(&prepared.text, &tokens));
        }
    }
    found
}

/// People named one after the other: `Patients, doctors and a clinic manager.`
fn listed(text: &str, tokens: &[token::Token]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let phrase = phrase::read(text, &tokens[at..]);
        at += phrase.width;
        let ends = tokens.get(at).is_none_or(|token| {
            token.is_comma()
                || token.has(Tags::COORDINATOR)
                || token.is_any(&[".", ":", "(", "–", "—", "-"])
        });
        let person =
            nouns::is_person(phrase.head()) || (found.is_empty() && phrase.width == tokens.len());
        if phrase.is_empty() || !ends || !person {
            break;
        }
        found.push(phrase.name);
        let stop = tokens
            .get(at)
            .is_none_or(|token| !(token.is_comma() || token.has(Tags::COORDINATOR)));
        if stop {
            break;
        }
        while tokens
            .get(at)
            .is_some_and(|token| token.is_comma() || token.has(Tags::COORDINATOR))
        {
            at += 1;
        }
    }
    found
}

/// All roles, with other names of the same role.
pub fn find(readings: &[Reading], declared: &BTreeSet<String>) -> People {
    let made = objects_of_creation(readings);
    let mut order: Vec<String> = Vec::new();
    let mut spans: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut called: BTreeMap<String, String> = BTreeMap::new();
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        let mut names: Vec<String> = Vec::new();
        names.extend(reading.label.clone());
        if reading.section() == Section::Roles
            && reading.clauses.is_empty()
            && reading.row.is_none()
        {
            names.extend(listed(&reading.text, &reading.tokens));
        }
        for clause in &reading.clauses {
            names.extend(candidate(clause, declared, &made));
            names.extend(agent(clause));
        }
        for name in names {
            // `admin` and `administrator` are one role, called as the spec first does.
            let name = called
                .entry(nouns::same_role(&name).to_owned())
                .or_insert_with(|| {
                    order.push(name.clone());
                    name
                })
                .clone();
            let places = spans.entry(name.clone()).or_default();
            if places.last() != Some(&reading.id) {
                places.push(reading.id.clone());
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    settle(&order, &spans, &counts, declared)
}

/// The subject of a clause, if it is a person who does something.
fn candidate(
    clause: &Clause,
    declared: &BTreeSet<String>,
    made: &BTreeSet<String>,
) -> Option<String> {
    let subject = &clause.subject;
    let head = subject.head();
    if subject.is_empty() || head.is_empty() || clause.voice != Voice::Active || clause.modal.today
    {
        return None;
    }
    if declared.contains(&subject.name) || clause.story.is_some() {
        return Some(subject.name.clone());
    }
    if nouns::is_maker(head)
        || matches!(
            head,
            "person" | "people" | "one" | "somebody" | "human" | "individual"
        )
    {
        return None;
    }
    if nouns::is_ui(head)
        || subject.is_product()
        || nouns::is_attribute(head)
        || nouns::is_weak(head)
    {
        return None;
    }
    let has_access =
        clause.base == "have" && clause.object_text.split(' ').any(|word| word == "access");
    let acts = !verbs::is_stative(&clause.base) || has_access;
    if nouns::is_person(head) && (acts || nouns::is_known_person(head)) {
        // `Suppliers have a name` says what is kept of them, not that they use the product.
        return acts.then(|| subject.name.clone());
    }
    let plain = !made.contains(&subject.name) && !nouns::is_group(head);
    let group = nouns::is_group(head) && clause.modal.present;
    (clause.modal.present
        && acts
        && !clause.object.is_empty()
        && (plain || group)
        && subject.plural)
        .then(|| subject.name.clone())
}

/// `approved by the purchasing manager`
fn agent(clause: &Clause) -> Option<String> {
    if clause.voice != Voice::Passive {
        return None;
    }
    clause
        .tail_nouns
        .iter()
        .find(|(preposition, phrase)| {
            preposition == "by"
                && nouns::is_person(phrase.head())
                && !nouns::is_maker(phrase.head())
        })
        .map(|(_, phrase)| phrase.name.clone())
}

/// What a user creates is a thing, whatever it is called.
fn objects_of_creation(readings: &[Reading]) -> BTreeSet<String> {
    readings
        .iter()
        .flat_map(|reading| &reading.clauses)
        .filter(|clause| clause.voice == Voice::Active)
        .map(|clause| clause.object.name.clone())
        .collect()
}

/// Joins names of the same role: `clerk` is the `warehouse clerk` where there is only one.
fn settle(
    order: &[String],
    spans: &BTreeMap<String, Vec<String>>,
    counts: &BTreeMap<String, usize>,
    declared: &BTreeSet<String>,
) -> People {
    let mut by_ending: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for name in order {
        for (at, _) in name.match_indices(' ') {
            by_ending.entry(&name[at + 1..]).or_default().push(name);
        }
    }
    let weight = |name: &String| {
        (
            declared.contains(name),
            counts.get(name).copied().unwrap_or(0),
        )
    };
    let mut canonical: BTreeMap<&String, &String> = order.iter().map(|name| (name, name)).collect();
    for name in order {
        if let Some([longer]) = by_ending.get(name.as_str()).map(Vec::as_slice) {
            let one = if weight(longer) >= weight(name) {
                *longer
            } else {
                name
            };
            canonical.insert(name, one);
            canonical.insert(longer, one);
        }
    }
    let mut people = People::default();
    let mut index: BTreeMap<&String, usize> = BTreeMap::new();
    for name in order {
        let one = canonical.get(name).copied().unwrap_or(name);
        people
            .alias
            .insert(nouns::same_role(name).to_owned(), one.clone());
        people.alias.insert(name.clone(), one.clone());
        let at = *index.entry(one).or_insert_with(|| {
            people.roles.push(Role {
                name: one.clone(),
                spans: Vec::new(),
            });
            people.roles.len() - 1
        });
        people.roles[at]
            .spans
            .extend(spans.get(name).into_iter().flatten().cloned());
    }
    for role in &mut people.roles {
        role.spans.sort_by_key(|id| number(id));
        role.spans.dedup();
    }
    people
}

/// The number of a span id, so that ids sort as the text goes.
pub fn number(id: &str) -> usize {
    id.trim_start_matches("S-").parse().unwrap_or(usize::MAX)
}
