//! What happens to a session.

use serde::{Deserialize, Serialize};
use windlass_agent_model::Source;
use windlass_ports::{ModelReply, Part, ToolResult};

/// Something that happened. A session is its events.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The user said something.
    User(UserMessage),
    /// The user said something that is to be sent with the next request, without ending what is
    /// under way.
    Steer(UserMessage),
    /// The user said something for when the turn has ended.
    FollowUp(UserMessage),
    /// The model answered.
    Answered(Answer),
    /// The model did not answer.
    AnswerFailed(AnswerFailure),
    /// The policy decided about calls.
    Decided(Vec<(String, Verdict)>),
    /// A person decided about calls.
    HumanDecided(Vec<HumanDecision>),
    /// A tool ended.
    ToolEnded(ToolOutcome),
    /// The user wants the turn to end.
    Cancel,
    /// The conversation goes back to what it was before an entry.
    Rewind {
        /// How many entries stay.
        keep: usize,
    },
    /// A summary takes the place of the conversation so far.
    Summarised {
        /// The summary.
        text: String,
    },
    /// The newest summary is taken back.
    SummaryUndone,
    /// Another output limit, model or set of tools from here on.
    Switched(Box<crate::Settings>),
}

/// What the user said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Text, pictures, files.
    pub parts: Vec<Part>,
    /// Where it came from, when it is not the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

impl UserMessage {
    /// Words of the user.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            parts: vec![Part::text(text)],
            source: None,
        }
    }
}

/// An answer of the model, with what arrived meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer.
    pub reply: ModelReply,
    /// The calls whose arguments are not what their tool takes, each with why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<(String, String)>,
    /// Whether it was ended by the user: its calls, if any, count for nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_interrupted: bool,
}

/// Why the model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerFailure {
    /// One word.
    pub reason: String,
    /// For people.
    pub message: String,
    /// The conversation is longer than the model reads, by the provider's own code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_context_exceeded: bool,
    /// The words before it broke off.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub so_far: String,
}

/// What the policy says about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It runs. Calls that only read may run beside each other.
    Allow {
        /// Whether it only reads.
        reads_only: bool,
    },
    /// A person decides.
    Ask {
        /// Why it is asked.
        reason: String,
    },
    /// It does not run.
    Deny {
        /// Why, and what is possible instead.
        reason: String,
    },
}

/// What a person says about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanDecision {
    /// The call.
    pub call_id: String,
    /// Yes or no.
    pub approved: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who.
    pub by: String,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// The result, as the model sees it.
    pub result: ToolResult,
    /// Where the text of the result came from; absent for what Windlass says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The files it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
}
