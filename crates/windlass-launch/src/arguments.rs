//! Reads what a tool was called with; whatever does not fit is refused in the contract's words.

use serde_json::{Map, Value};
use windlass_launch_model::ids;
use windlass_types::{Problem, RunId};

use crate::fault::{invalid, run_not_found};

/// The members of a call, each of which must be known.
pub(crate) struct Arguments {
    members: Map<String, Value>,
    /// Where they are in the call.
    place: &'static str,
}

impl Arguments {
    /// Takes a call's input; `known` are the members it may have.
    pub(crate) fn read(input: Value, known: &[&str]) -> Result<Self, Problem> {
        Self::read_at("", input, known)
    }

    /// The same for an object within the input, at a pointer.
    pub(crate) fn read_at(
        place: &'static str,
        input: Value,
        known: &[&str],
    ) -> Result<Self, Problem> {
        let members = match input {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            other => {
                let what = match place.trim_start_matches('/') {
                    "" => "the arguments are",
                    name => &format!("{name} is"),
                };
                let message = format!("{what} {}, not an object", kind(&other));
                return Err(invalid(place, "type", message));
            }
        };
        if let Some(unknown) = members.keys().find(|key| !known.contains(&key.as_str())) {
            let shown: String = unknown.chars().take(64).collect();
            let message = format!(
                "{shown:?} is not an argument of this tool; it takes {}",
                known.join(", ")
            );
            let pointer = format!("{place}{}", pointer(&shown));
            return Err(invalid(&pointer, "unknown_field", message));
        }
        Ok(Self { members, place })
    }

    /// Takes a member out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.members.remove(key).filter(|value| !value.is_null())
    }

    /// A member that must be there and be an object.
    pub(crate) fn object(&mut self, key: &str) -> Result<Value, Problem> {
        match self.take(key) {
            Some(value @ Value::Object(_)) => Ok(value),
            Some(other) => Err(invalid(
                &pointer(key),
                "type",
                format!("{key} is {}, not an object", kind(&other)),
            )),
            None => Err(missing(key)),
        }
    }

    /// A text that may be left out.
    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, Problem> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(invalid(
                &format!("{}{}", self.place, pointer(key)),
                "type",
                format!("{key} is {}, not a text", kind(&other)),
            )),
        }
    }

    /// A text that must be there.
    pub(crate) fn required_text(&mut self, key: &str) -> Result<String, Problem> {
        let text = self.text(key)?.ok_or_else(|| missing(key))?;
        if text.is_empty() {
            return Err(invalid(&pointer(key), "empty", format!("{key} is empty")));
        }
        Ok(text)
    }

    /// The run. A text that cannot be the id of one names no run, and nothing is looked up.
    pub(crate) fn run_id(&mut self) -> Result<RunId, Problem> {
        let text = self.required_text("run_id")?;
        ids::parse_run_id(&text).ok_or_else(|| run_not_found(&text))
    }
}

/// A member that is not there.
pub(crate) fn missing(key: &str) -> Problem {
    invalid(&pointer(key), "missing", format!("{key} is required"))
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// What kind of JSON a value is, for people.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
