//! Why there is no answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

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
        "the model's server does not accept the API key (status {status}){}; check the variable that api_key_env names",
        after_colon(.said)
    )]
    Unauthorized {
        /// 401 or 403, or another that the server has for this.
        status: u16,
        /// What it said.
        #[serde(default)]
        said: String,
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
    /// The answer began and broke off, also when it was asked for again.
    #[error("the model's answer broke off: {cause}")]
    Cut {
        /// Why.
        cause: String,
        /// The words of the last try; calls that had begun are not among them.
        so_far: String,
    },
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
    /// An answer that broke off before any of its words were kept.
    pub fn cut(cause: impl Into<String>) -> Self {
        Self::Cut {
            cause: cause.into(),
            so_far: String::new(),
        }
    }

    /// Whether the same request may succeed later or elsewhere without a change to it.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::TimedOut(_)
            | Self::RateLimited { .. }
            | Self::Unavailable { .. }
            | Self::Suspended { .. }
            | Self::Cut { .. } => true,
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
        let words = [
            "context_length_exceeded",
            "exceed_context_size_error",
            "request_too_large",
        ];
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
            Self::Cut { .. } => "cut",
            Self::TooLarge { .. } => "too_large",
            Self::Malformed(_) => "malformed",
        }
    }
}

fn after_colon(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| {
        format!(" (it asks to wait {} s)", wait.as_secs_f64().ceil())
    })
}
