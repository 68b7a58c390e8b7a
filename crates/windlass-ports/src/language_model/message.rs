//! The conversation: turns, each of them parts in order.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The role of the speaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The one who sets the rules.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
    /// The results of calls that the model asked for.
    Tool,
}

/// One turn of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The role of the speaker.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// A piece of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    Image(Media),
    /// A file that the model reads as a whole, such as a PDF.
    Document(Media),
    /// What the model thought. Goes back to its server unchanged.
    Thinking(Thinking),
    /// A call that the model asks for.
    ToolCall(ToolCall),
    /// What came of a call.
    ToolResult(ToolResult),
}

/// Bytes of a kind.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The bytes in standard base64.
    pub data: String,
    /// A file name, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl fmt::Debug for Media {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            media_type,
            data,
            name,
        } = self;
        let size = data.len();
        write!(
            formatter,
            "Media({media_type}, {name:?}, {size} bytes of base64)"
        )
    }
}

/// What the model thought, with what its server wants back to believe it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// The thought, where it is told.
    pub text: String,
    /// The server's signature of the thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The thought in a form that only its server reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// The server's name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A call that the model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call; unique within a reply.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments exactly as they were received: usually JSON, not always valid.
    pub arguments: String,
    /// What the server wants back with the call, such as a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

impl ToolCall {
    /// A call without metadata.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            metadata: None,
        }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// The tool that was called; some servers want it back.
    pub name: String,
    /// Text, pictures and documents.
    pub parts: Vec<Part>,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolResult {
    /// The words of the result.
    pub fn text(&self) -> String {
        joined(&self.parts)
    }
}

impl Part {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl Message {
    /// A message of plain text.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            role,
            parts: match text.is_empty() {
                true => Vec::new(),
                false => vec![Part::Text { text }],
            },
        }
    }

    /// Rules.
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, text)
    }

    /// A question.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }

    /// An answer of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text)
    }

    /// The results of calls.
    pub fn results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Self {
            role: Role::Tool,
            parts: results.into_iter().map(Part::ToolResult).collect(),
        }
    }

    /// The words of the message.
    pub fn text(&self) -> String {
        joined(&self.parts)
    }

    /// The calls it asks for.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        tool_calls(&self.parts)
    }

    /// The results it holds.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

pub(super) fn joined(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub(super) fn tool_calls(parts: &[Part]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    })
}
