//! Answers of operations as what the screen shows: rows, texts, questions, sentences.

mod answers;
mod lists;
mod questions;

use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_types::Problem;

use self::{
    answers::{Change, Changes, Shown},
    lists::{drift, history, plan},
    questions::{apply_question, event_question},
};
use crate::{
    ShortPath,
    event::{Call, Reply},
    question::Ask,
    text::{clean, count},
};

/// What a call answered.
pub(crate) fn reply(call: &Call, data: &Value, short: &ShortPath) -> Result<Reply, Problem> {
    Ok(match call {
        Call::Plan => Reply::Listing(plan(parse(data)?, short)),
        Call::Drift => Reply::Listing(drift(parse(data)?, short)),
        Call::History => Reply::Listing(history(parse(data)?)),
        Call::Details(_) => Reply::Details(details(parse(data)?, short)),
        Call::TryApply => Reply::Question(apply_question(parse(data)?, short)),
        Call::TryUndo => {
            let event: Changes = parse(data)?;
            let id = event.undone.clone();
            let title = format!("Undo {}?", clean(&id));
            Reply::Question(event_question(title, Ask::Undo(id), event, short))
        }
        Call::TryRollback(id) => {
            let title = format!("Restore the state after {}?", clean(id));
            let ask = Ask::Rollback(id.clone());
            Reply::Question(event_question(title, ask, parse(data)?, short))
        }
        Call::Apply(_) | Call::Undo(_) | Call::Rollback(_) => {
            Reply::Done(done(call, &parse(data)?))
        }
    })
}

fn parse<T: DeserializeOwned>(data: &Value) -> Result<T, Problem> {
    T::deserialize(data).map_err(|error| Problem::internal("operation answer", error))
}

fn details(shown: Shown, short: &ShortPath) -> String {
    let event = &shown.snapshot;
    let fields = [
        ("snapshot", Some(event.id.clone())),
        ("kind", Some(event.kind.clone())),
        ("when", Some(minute(&event.created_at))),
        ("profile", event.profile.clone()),
        ("repository", event.repo.as_deref().map(|repo| short(repo))),
        ("project", event.project_id.clone()),
        ("back to", event.rolled_back_to.clone()),
        ("run", event.run_id.clone()),
    ];
    let mut text = String::new();
    for (name, value) in fields {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.push_str(&format!("{name:<11} {}\n", clean(&value)));
        }
    }
    text.push('\n');
    for line in lines(&event.changes, short) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn done(call: &Call, event: &Changes) -> String {
    let snapshot = event
        .snapshot_id
        .as_ref()
        .or(event.event_snapshot_id.as_ref());
    let Some(snapshot) = snapshot.filter(|_| event.applied || matches!(call, Call::Rollback(_)))
    else {
        return "Nothing to change.".to_owned();
    };
    let snapshot = clean(snapshot);
    match call {
        Call::Rollback(to) => {
            format!("Rolled back to {}; snapshot {snapshot}.", clean(to))
        }
        Call::Undo(id) => format!("Undone: {}; snapshot {snapshot}.", clean(id)),
        _ => format!(
            "Applied {}; snapshot {snapshot}. u undoes it.",
            count(event.changes.len(), "change")
        ),
    }
}

fn minute(timestamp: &str) -> String {
    timestamp
        .get(..16)
        .map_or_else(|| timestamp.to_owned(), |text| text.replace('T', " "))
}

fn lines(changes: &[Change], short: &ShortPath) -> Vec<String> {
    let line = |change: &Change| format!("{} {}", change.sign().1, clean(&short(&change.path)));
    changes.iter().map(line).collect()
}

fn cleaned(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| clean(text)).collect()
}

#[cfg(test)]
#[path = "read_tests.rs"]
pub(crate) mod tests;
