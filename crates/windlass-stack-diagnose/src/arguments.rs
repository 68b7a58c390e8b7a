//! Arguments of a call, read by name.

use serde_json::{Map, Value};
use windlass_stack_config::arguments::normalise;
use windlass_types::{Problem, code};

use crate::operation::Operation;

/// The arguments of one call: known names, right types, nothing missing.
#[derive(Clone)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(crate) fn read(operation: Operation, given: &Value) -> Result<Self, Problem> {
        let empty = Map::new();
        let given = match given {
            Value::Object(map) => map,
            Value::Null => &empty,
            _ => {
                return Err(invalid("args", "args is an object"));
            }
        };
        normalise(operation.name(), given, &operation.arguments()).map(Self)
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        match self.0.get(name).and_then(Value::as_str) {
            Some(text) if text.trim().is_empty() => Err(invalid(
                name,
                format!("{name} is empty; leave it out or give a value"),
            )),
            text => Ok(text),
        }
    }

    /// A text that must be there; `normalise` has seen to it where the operation says so.
    pub(crate) fn needed(&self, name: &str) -> Result<&str, Problem> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A number between two others, or the default.
    pub(crate) fn number(
        &self,
        name: &str,
        default: u64,
        allowed: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, Problem> {
        let number = match self.0.get(name) {
            None => default,
            Some(value) => value.as_u64().unwrap_or(0),
        };
        if allowed.contains(&number) {
            return Ok(number);
        }
        Err(invalid(
            name,
            format!(
                "{name} is {number}; it must be from {} to {}",
                allowed.start(),
                allowed.end()
            ),
        ))
    }

    /// A number of things.
    pub(crate) fn count(&self, name: &str, default: usize, most: usize) -> Result<usize, Problem> {
        let number = self.number(name, default as u64, 1..=most as u64)?;
        Ok(usize::try_from(number).unwrap_or(most))
    }

    /// One of some words, or the default.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        default: T,
        words: &[(&str, T)],
    ) -> Result<T, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(default);
        };
        words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                invalid(
                    name,
                    format!("{name} is {text:?}; it must be one of {}", known.join(", ")),
                )
                .with("allowed", known)
            })
    }

    /// An object, or a text that holds one.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Map<String, Value>>, Problem> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map.clone())),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(map)) => Ok(Some(map)),
                // The text itself stays out of the message: it may hold anything.
                _ => Err(invalid(
                    name,
                    format!("{name} is a text that is not a JSON object"),
                )),
            },
            Some(_) => Err(invalid(name, format!("{name} is an object"))),
        }
    }
}

/// An argument that cannot be what it is.
pub(crate) fn invalid(argument: &str, message: impl Into<String>) -> Problem {
    refusal("invalid_argument", argument, message)
}

/// An argument that is not there and must be.
pub(crate) fn missing(argument: &str) -> Problem {
    refusal(
        "missing_argument",
        argument,
        format!("the argument {argument} is missing"),
    )
    .next(format!("repeat with {argument}"))
}

fn refusal(reason: &str, argument: &str, message: impl Into<String>) -> Problem {
    Problem::new(&code::INVALID_INPUT, message)
        .with("reason", reason)
        .with("field", argument)
        .with("argument", argument)
}
