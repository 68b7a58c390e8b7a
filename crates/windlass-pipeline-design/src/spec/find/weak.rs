//! What the spec leaves open, says twice or contradicts. Never an error of ours.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    analysis::{QualityStatement, Statement, VerbKind, Weakness},
    strategy::Priority,
};
use crate::spec::{
    lexicon::{line::Line, qualities::VAGUE},
    reading::Reading,
};

/// Phrases that stand where something should be said.
const OPEN: &[&str] = &[
    "etc",
    "and so on",
    "and more",
    "tbd",
    "to be decided",
    "to be defined",
    "something like",
    "as needed",
    "if necessary",
];

/// All weak points, in the order of the checks.
pub fn find(
    readings: &[Reading],
    statements: &[Statement],
    qualities: &[QualityStatement],
    twice: &[(String, Vec<String>)],
) -> Vec<Weakness> {
    let mut found = Vec::new();
    for quality in qualities.iter().filter(|quality| quality.metric.is_none()) {
        vague(
            &quality.requirement,
            &quality.text,
            &quality.spans,
            &mut found,
        );
    }
    let mut seen = BTreeSet::new();
    for statement in statements {
        if statement.kind == VerbKind::Keep || !seen.insert(&statement.requirement) {
            continue;
        }
        vague(
            &statement.requirement,
            &statement.text,
            &statement.spans,
            &mut found,
        );
        let line = statement.text.to_lowercase();
        let said_otherwise = [" how ", " what ", " that ", " which ", "everything"]
            .iter()
            .any(|word| line.contains(word));
        let objectless = statement.object.is_none()
            && !said_otherwise
            && !statement.verb.contains(' ')
            && matches!(
                statement.kind,
                VerbKind::Create
                    | VerbKind::Update
                    | VerbKind::Delete
                    | VerbKind::Other
                    | VerbKind::Read
                    | VerbKind::List
            )
            && statement.priority != Priority::Wont;
        if objectless {
            found.push(weakness(
                "verb_without_object",
                format!(
                    "{}: \"{}\" does not say what",
                    statement.requirement, statement.verb
                ),
                &statement.spans,
            ));
        }
    }
    for (requirement, spans) in twice {
        found.push(weakness(
            "duplicate",
            format!("{requirement} is said more than once"),
            spans,
        ));
    }
    contradictions(statements, &mut found);
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        if let Some(phrase) = OPEN.iter().find(|phrase| reading.line.has(phrase)) {
            found.push(weakness(
                "vague",
                format!("\"{phrase}\" leaves open what is meant"),
                std::slice::from_ref(&reading.id),
            ));
        }
    }
    found
}

fn weakness(check: &str, message: String, spans: &[String]) -> Weakness {
    Weakness {
        check: check.to_owned(),
        message,
        spans: spans.to_vec(),
    }
}

/// Words without which a text would be as clear; each needs a measure.
fn vague(requirement: &str, text: &str, spans: &[String], found: &mut Vec<Weakness>) {
    let line = Line::new(text);
    let words: Vec<String> = VAGUE
        .split_whitespace()
        .filter(|word| line.has(word))
        .map(|word| format!("\"{word}\""))
        .collect();
    if !words.is_empty() {
        let verb = if words.len() == 1 { "has" } else { "have" };
        let message = format!("{requirement}: {} {verb} no measure", words.join(", "));
        found.push(weakness("no_metric", message, spans));
    }
}

/// The same actor, verb and object, once allowed and once not, without a condition that
/// distinguishes them.
fn contradictions(statements: &[Statement], found: &mut Vec<Weakness>) {
    let mut seen: BTreeMap<(&str, &str, &str), &Statement> = BTreeMap::new();
    for statement in statements
        .iter()
        .filter(|statement| statement.priority != Priority::Wont && statement.condition.is_none())
    {
        let (Some(actor), Some(object)) = (&statement.actor, &statement.object) else {
            continue;
        };
        let key = (
            actor.as_str(),
            statement.verb.as_str(),
            object.head.as_str(),
        );
        match seen.get(&key) {
            Some(before) if before.negated != statement.negated => {
                let mut spans = before.spans.clone();
                spans.extend(statement.spans.iter().cloned());
                found.push(weakness(
                    "contradiction",
                    format!(
                        "{} and {} say the opposite",
                        before.requirement, statement.requirement
                    ),
                    &spans,
                ));
            }
            Some(_) => {}
            None => {
                seen.insert(key, statement);
            }
        }
    }
}
