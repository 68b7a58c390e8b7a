//! What watchers are told. The names are those of the event stream, on every surface.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::{ToolCall, Usage};

/// Something worth showing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Notice {
    /// A request is about to be sent.
    TurnStarted {
        /// Which, from 1.
        turn: u32,
    },
    /// The words of an answer.
    TextComplete {
        /// The words.
        text: String,
    },
    /// Calls that the model asks for.
    ToolCallsProposed {
        /// The calls.
        tool_calls: Vec<ProposedCall>,
    },
    /// Calls that wait for a person.
    WaitingForToolApproval {
        /// Which.
        pending_tool_call_ids: Vec<String>,
    },
    /// A call that does not run.
    ToolRejected {
        /// The call.
        id: String,
        /// Why.
        reason: String,
    },
    /// A call that has ended.
    ToolExecutionCompleted {
        /// The call.
        id: String,
        /// Its words.
        result: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// What a request cost.
    UsageReport {
        /// Tokens.
        usage: Usage,
        /// Money so far, in millionths of a dollar.
        spent_micros: u64,
    },
    /// Old text was cut.
    CompactionCompleted {
        /// The size before.
        tokens_before: u64,
        /// The size after.
        tokens_after: u64,
        /// Whether everything fits now.
        truncated: bool,
    },
    /// A turn has ended.
    TurnCompleted {
        /// How.
        finish_reason: FinishedTurn,
    },
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishedTurn {
    /// With an answer.
    Stop,
    /// With calls, whose results are sent next.
    ToolCalls,
    /// At the output limit.
    MaxOutputTokens,
    /// By the user.
    Cancelled,
    /// Without an answer.
    Error,
}

/// A call as watchers see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; as text where they are not JSON.
    pub arguments: Value,
}

impl From<&ToolCall> for ProposedCall {
    fn from(call: &ToolCall) -> Self {
        let arguments = serde_json::from_str(&call.arguments);
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: arguments.unwrap_or_else(|_| Value::from(call.arguments.clone())),
        }
    }
}
