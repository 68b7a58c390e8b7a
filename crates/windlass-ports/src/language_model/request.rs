//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_types::Digest;

use super::Message;

/// A tool that the model may ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}

/// The form the answer's text must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name: letters, digits, `_` and `-`.
    pub name: String,
    /// The JSON Schema. Servers differ in how much of it they honour: check the answer.
    pub schema: Value,
}

/// How long the model may think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    Off,
    /// Shortly.
    Low,
    /// As long as usual.
    Medium,
    /// Long.
    High,
}

impl Effort {
    /// The word for records, settings and servers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// How freely the model chooses; absent means the server's default, as below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How much of the probability mass it chooses from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The longest answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// For servers that can repeat themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The form of the answer; absent means free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<OutputSchema>,
    /// The tools on offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// How long it may think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Names the conversation, so that its server keeps what it has read of it. Without, nothing
    /// is marked for keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_key: Option<String>,
    /// For servers that recognise a repetition; no part of the question, and not stored with it.
    #[serde(skip)]
    pub idempotency_key: Option<String>,
}

impl ModelRequest {
    /// A question without settings.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    /// The hash of everything that decides the answer: the model's name and the request.
    /// The same question to the same model has the same hash wherever it is served.
    pub fn prompt_hash(&self, model: &str) -> Digest {
        Digest::of_json(&serde_json::json!({ "model": model, "request": self }))
    }
}
