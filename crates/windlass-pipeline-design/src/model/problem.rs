//! Why an input is not accepted, in the words of contract 001: a field and the rule it breaks.
//!
//! Surfaces turn it into `INVALID_INPUT`; nothing here knows of HTTP or MCP.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An input that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputProblem {
    /// Which one: a member's name, or a JSON pointer into it: `/requirements/functional/0/id`.
    pub field: String,
    /// Which rule: `type`, `required`, `unique`, `known_id`, …
    pub constraint: String,
    /// What is wrong and what would be right, for a reader.
    pub message: String,
    /// More members of `details`: `allowed`, `unknown`, `known`.
    #[serde(default)]
    pub details: Map<String, Value>,
}

impl InputProblem {
    /// A problem of a field.
    pub fn new(field: impl Into<String>, constraint: &str, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            constraint: constraint.to_owned(),
            message: message.into(),
            details: Map::new(),
        }
    }

    /// The same with one more detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

impl std::fmt::Display for InputProblem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.field, self.message)
    }
}

impl std::error::Error for InputProblem {}
