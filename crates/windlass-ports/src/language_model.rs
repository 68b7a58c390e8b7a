//! Language models: one question, one answer, as plain data.
//!
//! One port for every provider and every caller. Not here: a provider's wire format
//! (windlass-llm), asking until an answer fits a schema (windlass-model-calls), loops with
//! tools. A request, a reply and a call are values that can be stored and read back; an
//! address holds a key and cannot.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_types::{Digest, Secret};

/// Where a model is served, and how to be let in.
#[derive(Clone, Debug)]
pub struct ModelAddress {
    /// The address that `/chat/completions` and its like are appended to; often ends in `/v1`.
    pub api_base_url: String,
    /// The model's name, as its server spells it.
    pub model: String,
    /// The key; local servers need none.
    pub api_key: Option<Secret<String>>,
    /// How long one `complete` may take, its retries and waiting included.
    pub request_timeout: Duration,
}

impl ModelAddress {
    /// The base address as it may be shown: without a user name or password.
    pub fn shown(&self) -> String {
        let Some((scheme, rest)) = self.api_base_url.split_once("://") else {
            return self.api_base_url.clone();
        };
        let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        match rest[..authority].rfind('@') {
            Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
            None => self.api_base_url.clone(),
        }
    }
}

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
    /// The result of a call that the model asked for.
    Tool,
}

/// One turn of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The role of the speaker.
    pub role: Role,
    /// The text; may be empty next to calls.
    pub text: String,
    /// The calls an assistant asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A message of plain text.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
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
}

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

/// A call that the model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call; unique within a reply.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments exactly as they were received: usually JSON, not always valid.
    pub arguments: String,
}

/// The form the answer's text must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name: letters, digits, `_` and `-`.
    pub name: String,
    /// The JSON Schema. Servers differ in how much of it they honour: check the answer.
    pub schema: Value,
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
    /// Read.
    pub prompt_tokens: u64,
    /// Written.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// The part of the read ones that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_prompt_tokens: Option<u64>,
    /// The part of the written ones that was thought, not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The text.
    pub text: String,
    /// The model's reasoning before its answer, where its server returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The calls it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// What it cost; absent when the server does not say, never estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, as its server names it.
    pub model: String,
}

/// Why there is no answer. Holds what a server said, cut short and without the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ModelError {
    /// The address policy refuses the server; nothing was sent.
    #[error("the outbound policy refuses the model's server: {0}")]
    Forbidden(String),
    /// The address or the key cannot be used as written; nothing was sent.
    #[error("the model's address cannot be used: {0}")]
    InvalidAddress(String),
    /// No connection.
    #[error("the model's server cannot be reached: {0}")]
    Unreachable(String),
    /// No complete answer in time.
    #[error("the model did not answer within {} s; allow more with request_timeout_s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// Too many requests, also after waiting.
    #[error("the model's server allows no more requests now{}: {said}", wait(*.retry_after))]
    RateLimited {
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
        /// What it said.
        said: String,
    },
    /// The key is missing, wrong or not good for this.
    #[error(
        "the model's server does not accept the API key (status {status}); check the variable that api_key_env names"
    )]
    Unauthorized {
        /// 401 or 403.
        status: u16,
    },
    /// The server does not accept the request; the same one will fail again.
    #[error("the model's server rejects the request (status {status}): {said}")]
    Rejected {
        /// The status.
        status: u16,
        /// The server's own word for it, such as `context_length_exceeded`.
        code: Option<String>,
        /// What it said.
        said: String,
    },
    /// The server failed, also after retries.
    #[error("the model's server failed (status {status}): {said}")]
    Unavailable {
        /// The status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The server has failed so often that it is left alone for a while; nothing was sent.
    #[error(
        "the model's server failed repeatedly and is not asked for another {} s",
        .retry_after.as_secs_f64().ceil()
    )]
    Suspended {
        /// When it may be asked again.
        retry_after: Duration,
    },
    /// The answer began and broke off; what was heard of it is not an answer.
    #[error("the model's answer broke off: {0}")]
    Cut(String),
    /// The answer is longer than anything sensible.
    #[error("the model's answer is longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The answer is not what the protocol says.
    #[error("the model's server answered with something other than a completion: {0}")]
    Malformed(String),
}

impl ModelError {
    /// Whether the same request may succeed later or elsewhere without a change to it.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::TimedOut(_)
            | Self::RateLimited { .. }
            | Self::Unavailable { .. }
            | Self::Suspended { .. }
            | Self::Cut(_) => true,
            Self::Forbidden(_)
            | Self::InvalidAddress(_)
            | Self::Unauthorized { .. }
            | Self::Rejected { .. }
            | Self::TooLarge { .. }
            | Self::Malformed(_) => false,
        }
    }

    /// Whether the conversation is longer than the model can read, by the server's own word and
    /// never by its prose.
    pub fn is_context_exceeded(&self) -> bool {
        let Self::Rejected { code, .. } = self else {
            return false;
        };
        let words = ["context_length_exceeded", "exceed_context_size_error"];
        code.as_deref().is_some_and(|code| words.contains(&code))
    }

    /// One word for records, metrics and error details.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Forbidden(_) => "forbidden",
            Self::InvalidAddress(_) => "invalid_address",
            Self::Unreachable(_) => "unreachable",
            Self::TimedOut(_) => "timed_out",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Rejected { .. } => "rejected",
            Self::Unavailable { .. } => "unavailable",
            Self::Suspended { .. } => "provider_unavailable",
            Self::Cut(_) => "cut",
            Self::TooLarge { .. } => "too_large",
            Self::Malformed(_) => "malformed",
        }
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| {
        format!(" (it asks to wait {} s)", wait.as_secs_f64().ceil())
    })
}

/// Receives each piece of text as it arrives.
pub type Heard<'a> = Box<dyn FnMut(&str) + Send + 'a>;

/// A way to models.
pub trait LanguageModel: Send + Sync {
    /// Asks and waits for the whole answer. With `heard`, the text is streamed and every
    /// piece is passed on; then a failure after the first piece is not retried here, since
    /// the listener cannot unhear it. Dropping the future ends the exchange.
    fn complete<'a>(
        &'a self,
        address: &'a ModelAddress,
        request: &'a ModelRequest,
        heard: Option<Heard<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> ModelAddress {
        ModelAddress {
            api_base_url: url.to_owned(),
            model: "small".to_owned(),
            api_key: Some("sk-hidden".to_owned().into()),
            request_timeout: Duration::from_secs(120),
        }
    }

    #[test]
    fn a_shown_address_contains_no_credentials() {
        for (url, shown) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("https://ada:pw@example.org/v1", "https://example.org/v1"),
            ("https://a@b:pw@example.org", "https://example.org"),
            ("https://example.org/@v1", "https://example.org/@v1"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(address(url).shown(), shown);
        }
        assert!(!format!("{:?}", address("http://x")).contains("hidden"));
    }

    #[test]
    fn a_prompt_hash_covers_model_and_request() {
        let request = ModelRequest::new(vec![Message::user("hello")]);
        let hash = request.prompt_hash("small");
        assert_eq!(hash, request.clone().prompt_hash("small"));
        assert_ne!(hash, request.prompt_hash("large"));
        let warmer = ModelRequest {
            temperature: Some(0.5),
            ..request
        };
        assert_ne!(hash, warmer.prompt_hash("small"));
    }

    #[test]
    fn values_survive_storage() {
        let reply = ModelReply {
            text: "é".to_owned(),
            reasoning: None,
            tool_calls: vec![ToolCall {
                id: "1".to_owned(),
                name: "view".to_owned(),
                arguments: "{\"a\":".to_owned(),
            }],
            finish_reason: FinishReason::Other("odd".to_owned()),
            usage: None,
            model: "small".to_owned(),
        };
        let stored = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<ModelReply>(&stored).unwrap(), reply);
    }

    #[test]
    fn errors_name_the_next_step() {
        let errors = [
            ModelError::TimedOut(Duration::from_secs(120)),
            ModelError::RateLimited {
                retry_after: Some(Duration::from_millis(1500)),
                said: "slow down".to_owned(),
            },
            ModelError::Unauthorized { status: 401 },
        ];
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "the model did not answer within 120 s; allow more with request_timeout_s",
                "the model's server allows no more requests now (it asks to wait 2 s): slow down",
                "the model's server does not accept the API key (status 401); check the variable that api_key_env names",
            ]
        );
    }
}
