//! Reads a question out of JSON: nothing unknown, nothing of a wrong type, and a refusal that names
//! the argument, what is wrong with it and what was probably meant.

use serde_json::{Map, Value};
use windlass_text::suggest;
use windlass_types::Problem;

use crate::{
    docs::MOST_ITEMS,
    query::{Mode, Query},
};

const ARGUMENTS: [&str; 4] = ["query", "mode", "resourceType", "maxItems"];
const MODES: [(&str, Mode); 3] = [
    ("answer", Mode::Answer),
    ("reference", Mode::Reference),
    ("snippet", Mode::Snippet),
];

/// The question, or why it is none.
pub(crate) fn read(input: &Value) -> Result<Query, Problem> {
    let given = input
        .as_object()
        .ok_or_else(|| invalid("query", "the input is an object with a query"))?;
    if let Some(unknown) = given.keys().find(|key| !ARGUMENTS.contains(&key.as_str())) {
        return Err(refusal(
            "unknown_argument",
            unknown,
            format!(
                "stacktape_docs does not take the argument {}{}",
                shown(unknown),
                did_you_mean(unknown, &ARGUMENTS)
            ),
        )
        .with("known", ARGUMENTS.to_vec()));
    }
    let query = text(given, "query")?.ok_or_else(|| {
        refusal(
            "missing_argument",
            "query",
            "stacktape_docs needs the argument query".to_owned(),
        )
        .next("repeat with query")
    })?;
    Ok(Query {
        mode: mode(given)?,
        resource_type: text(given, "resourceType")?,
        max_items: max_items(given)?,
        ..Query::new(query)
    })
}

fn mode(given: &Map<String, Value>) -> Result<Mode, Problem> {
    let Some(name) = text(given, "mode")? else {
        return Ok(Mode::default());
    };
    let names = MODES.map(|(name, _)| name);
    MODES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, mode)| *mode)
        .ok_or_else(|| {
            invalid(
                "mode",
                &format!(
                    "mode is one of {}, not {:?}{}",
                    names.join(", "),
                    shown(&name),
                    did_you_mean(&name, &names)
                ),
            )
            .with("allowed", names.to_vec())
        })
}

fn max_items(given: &Map<String, Value>) -> Result<u32, Problem> {
    let default = Query::new("").max_items;
    let Some(value) = present(given, "maxItems") else {
        return Ok(default);
    };
    // JSON has one kind of number: 3.0 is 3.
    let whole = value
        .as_f64()
        .filter(|number| number.fract() == 0.0)
        .ok_or_else(|| {
            invalid(
                "maxItems",
                &format!("maxItems is a whole number, not {}", noun(value)),
            )
        })?;
    if !(1.0..=f64::from(MOST_ITEMS)).contains(&whole) {
        return Err(invalid(
            "maxItems",
            &format!("maxItems is {whole}; it must be from 1 to {MOST_ITEMS}"),
        ));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and within the range, as was just seen"
    )]
    Ok(whole as u32)
}

fn text(given: &Map<String, Value>, name: &str) -> Result<Option<String>, Problem> {
    match present(given, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(invalid(
            name,
            &format!("{name} is a text, not {}", noun(other)),
        )),
    }
}

/// A value that was given; `null` is the same as nothing.
fn present<'a>(given: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    given.get(name).filter(|value| !value.is_null())
}

fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "another number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A refusal in the contract's words.
pub(crate) fn invalid(argument: &str, message: &str) -> Problem {
    refusal("invalid_argument", argument, message.to_owned())
}

fn refusal(reason: &str, argument: &str, message: String) -> Problem {
    Problem::new(&windlass_types::code::INVALID_INPUT, message)
        .with("reason", reason)
        .with("field", argument)
        .with("argument", argument)
}

/// `; did you mean "x"?`, or nothing.
pub(crate) fn did_you_mean(word: &str, known: &[&str]) -> String {
    suggest::question(word, known.iter().copied())
        .map_or_else(String::new, |question| format!("; {question}"))
}

/// A word of the caller, short enough to be repeated.
fn shown(word: &str) -> String {
    word.chars().take(60).collect()
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
