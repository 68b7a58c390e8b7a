//! What a model answers, as a whole and piece by piece.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Message, Part, Role, ToolCall,
    message::{joined, tool_calls},
};

/// Why the model stopped, as its server says. Stored as one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// The longest answer was reached; the text is cut.
    Length,
    /// It asks for calls.
    ToolCalls,
    /// It, or a filter in front of it, declines; the text may say why.
    Refused,
    /// Another word, or `unstated`.
    Other(String),
}

impl FinishReason {
    /// The word for records and reports.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::Refused => "refused",
            Self::Other(word) => word,
        }
    }
}

impl From<FinishReason> for String {
    fn from(reason: FinishReason) -> Self {
        reason.as_str().to_owned()
    }
}

impl From<String> for FinishReason {
    fn from(word: String) -> Self {
        match word.as_str() {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" => Self::ToolCalls,
            "refused" => Self::Refused,
            _ => Self::Other(word),
        }
    }
}

/// What a call cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read, from a cache or not.
    pub prompt_tokens: u64,
    /// Written, thoughts included.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// The part of the read ones that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_prompt_tokens: Option<u64>,
    /// The part of the read ones that was put into a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// The part of the written ones that was thought, not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// What it says, thinks and asks for, in order.
    pub parts: Vec<Part>,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// What it cost; absent when the server does not say, never estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, as its server names it.
    pub model: String,
}

impl ModelReply {
    /// An answer of words.
    pub fn of_text(model: &str, text: impl Into<String>) -> Self {
        Self {
            parts: Message::assistant(text).parts,
            finish_reason: FinishReason::Stop,
            usage: None,
            model: model.to_owned(),
        }
    }

    /// The words.
    pub fn text(&self) -> String {
        joined(&self.parts)
    }

    /// The model's reasoning before its answer, where its server returns it.
    pub fn reasoning(&self) -> String {
        let thoughts = self.parts.iter().filter_map(|part| match part {
            Part::Thinking(thinking) => Some(thinking.text.as_str()),
            _ => None,
        });
        thoughts.collect()
    }

    /// The calls it asks for.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        tool_calls(&self.parts)
    }

    /// The answer as a turn of the conversation.
    pub fn into_message(self) -> Message {
        Message {
            role: Role::Assistant,
            parts: self.parts,
        }
    }
}

/// A piece of an answer as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Words.
    Text(&'a str),
    /// A thought.
    Thinking(&'a str),
    /// A call begins; its arguments come with the complete answer.
    Call {
        /// The call.
        id: &'a str,
        /// The tool.
        name: &'a str,
    },
    /// The server is asked again: the pieces so far count for nothing.
    Retry {
        /// Which try failed, from 1.
        attempt: u32,
        /// How long is waited.
        wait: Duration,
        /// One word for why.
        reason: &'a str,
    },
}

/// Receives each piece of an answer as it arrives.
pub type Listener<'a> = Box<dyn FnMut(Piece<'_>) + Send + 'a>;
