//! Language models: one question, one answer, as plain data.
//!
//! One port for every provider and every caller. Not here: a provider's wire format
//! (windlass-llm), asking until an answer fits a schema (windlass-model-calls), loops with
//! tools. A request, a reply and a call are values that can be stored and read back; an
//! address holds a key and cannot.

mod address;
mod error;
mod message;
mod reply;
mod request;

pub use address::{ModelAddress, WireFormat};
pub use error::ModelError;
use futures::future::BoxFuture;
pub use message::{Media, Message, Part, Role, Thinking, ToolCall, ToolResult};
pub use reply::{FinishReason, Listener, ModelReply, Piece, Usage};
pub use request::{Effort, ModelRequest, OutputSchema, ToolSpec};

/// A way to models.
pub trait LanguageModel: Send + Sync {
    /// Asks and waits for the whole answer. With a listener, the answer is streamed and every
    /// piece is passed on; when the server has to be asked again, the listener is told so. An
    /// answer that broke off for good is an error with the words so far. Dropping the future ends
    /// the exchange.
    fn complete<'a>(
        &'a self,
        address: &'a ModelAddress,
        request: &'a ModelRequest,
        listener: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>>;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn address(url: &str) -> ModelAddress {
        ModelAddress {
            wire: WireFormat::default(),
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
            parts: vec![
                Part::text("é"),
                Part::ToolCall(ToolCall::new("1", "view", "{\"a\":")),
            ],
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
            ModelError::Unauthorized {
                status: 401,
                said: String::new(),
            },
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
