//! Where a model is served.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_types::Secret;

/// The interface that a model's server offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireFormat {
    /// OpenAI-compatible chat completions, also of gateways and local servers.
    #[default]
    ChatCompletions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini.
    Gemini,
}

impl WireFormat {
    /// The word for records and settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }
}

/// Where a model is served, and how to be let in.
#[derive(Clone, Debug)]
pub struct ModelAddress {
    /// The interface it is served by.
    pub wire: WireFormat,
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
