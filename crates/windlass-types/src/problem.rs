//! The one public error: a registered code, a message for people, details for programs.
//!
//! Library crates have their own `thiserror` types and turn them into a `Problem` where
//! they meet the catalogue. Surfaces render it in the envelope of the toolset.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use crate::{
    ApprovalTerms,
    code::{self, Code},
};

/// A failure that a person or a client may see.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: &'static Code,
    message: String,
    details: Map<String, Value>,
    next_actions: Vec<String>,
}

impl Problem {
    /// A problem with a message that names the object and the cause.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: message.into(),
            details: Map::new(),
            next_actions: Vec::new(),
        }))
    }

    /// Input that does not fit: the field and the rule it breaks.
    pub fn invalid(field: &str, constraint: &str, message: impl Into<String>) -> Self {
        Self::new(&code::INVALID_INPUT, message)
            .with("field", field)
            .with("constraint", constraint)
    }

    /// An unexpected failure; `cause_class` says which part failed.
    pub fn internal(cause_class: &str, cause: impl fmt::Display) -> Self {
        Self::new(
            &code::INTERNAL,
            format!("unexpected failure in {cause_class}: {cause}"),
        )
        .with("cause_class", cause_class)
    }

    /// The same problem with one more detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(key.to_owned(), value.into());
        self
    }

    /// The same problem with the terms of the approval it is about.
    #[must_use]
    pub fn with_approval(self, terms: &ApprovalTerms) -> Self {
        let problem = self.with("approvers", terms.approvers.clone());
        let problem = match terms.quorum {
            1 => problem,
            quorum => problem.with("quorum", quorum),
        };
        match &terms.except {
            Some(except) => problem.with("except", except.as_str()),
            None => problem,
        }
    }

    /// The same problem with one more thing to do next, as a command or action name.
    #[must_use]
    pub fn next(mut self, action: impl Into<String>) -> Self {
        self.0.next_actions.push(action.into());
        self
    }

    /// The registered code.
    pub fn code(&self) -> &'static Code {
        self.0.code
    }

    /// The message for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The details for programs.
    pub fn details(&self) -> &Map<String, Value> {
        &self.0.details
    }

    /// What to do next.
    pub fn next_actions(&self) -> &[String] {
        &self.0.next_actions
    }

    /// Applies `edit` to every text a reader would see; used by the redaction pass.
    #[must_use]
    pub fn map_text(mut self, edit: &mut dyn FnMut(&str) -> String) -> Self {
        self.0.message = edit(&self.0.message);
        let details = std::mem::take(&mut self.0.details);
        self.0.details = match map_value(Value::Object(details), edit) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        for action in &mut self.0.next_actions {
            *action = edit(action);
        }
        self
    }
}

fn map_value(value: Value, edit: &mut dyn FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(edit(&text)),
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| map_value(item, edit))
                .collect(),
        ),
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, entry)| (key, map_value(entry, edit)))
                .collect(),
        ),
        other => other,
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.0.code.name, self.0.message)
    }
}

impl std::error::Error for Problem {}

/// The journal's and the wire's form of a problem.
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct ProblemView {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    details: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    next_actions: Vec<String>,
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let inner = &self.0;
        ProblemView {
            code: inner.code.name.to_owned(),
            message: inner.message.clone(),
            details: inner.details.clone(),
            next_actions: inner.next_actions.clone(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Problem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let view = ProblemView::deserialize(deserializer)?;
        let code = Code::by_name(&view.code)
            .ok_or_else(|| de::Error::custom(format!("unknown error code {}", view.code)))?;
        Ok(Self(Box::new(Inner {
            code,
            message: view.message,
            details: view.details,
            next_actions: view.next_actions,
        })))
    }
}

impl schemars::JsonSchema for Problem {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Problem".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        ProblemView::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_the_journal() {
        let problem = Problem::invalid("spec", "required", "'spec' is required")
            .next("windlass ops describe demo.plan");
        let text = serde_json::to_string(&problem).unwrap();
        insta::assert_snapshot!(text, @r#"{"code":"INVALID_INPUT","message":"'spec' is required","details":{"constraint":"required","field":"spec"},"next_actions":["windlass ops describe demo.plan"]}"#);
        assert_eq!(serde_json::from_str::<Problem>(&text).unwrap(), problem);
    }
}
