//! What came of a call.

use serde::{Deserialize, Serialize};
use windlass_agent_model::Source;
use windlass_ports::{Part, ToolCall, ToolResult};

use crate::{Code, Failure, FileChange, Questions};

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What the model is told. Of a failure: its code, then its message.
    pub parts: Vec<Part>,
    /// The code of a failure.
    pub failed: Option<Code>,
    /// What changed, in the order it was changed. Also of a failure that came halfway.
    pub changes: Vec<FileChange>,
    /// Files with output that was too long to be told.
    pub spilled: Vec<Spilled>,
    /// Where the text came from, if not from Windlass: it is no instruction.
    pub source: Option<Source>,
}

/// A file with the whole of a long output, secrets hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spilled {
    /// Where it is.
    pub path: String,
    /// How long it is.
    pub bytes: u64,
    /// How many lines it has.
    pub lines: u64,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ran {
    /// With an outcome.
    Done(Outcome),
    /// It asks the user; [`Questions::answered`] makes the outcome of the answers.
    Asks(Questions),
}

impl Outcome {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            parts: vec![Part::text(text)],
            ..Self::default()
        }
    }

    /// The result of the call for the conversation.
    pub fn result(&self, call: &ToolCall) -> ToolResult {
        ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            parts: self.parts.clone(),
            is_error: self.failed.is_some(),
        }
    }

    pub(crate) fn told_by(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self {
            parts: vec![
                Part::text(failure.code.as_str()),
                Part::text(failure.message),
            ],
            failed: Some(failure.code),
            ..Self::default()
        }
    }
}

impl From<Result<Self, Failure>> for Outcome {
    fn from(result: Result<Self, Failure>) -> Self {
        result.unwrap_or_else(Self::from)
    }
}
