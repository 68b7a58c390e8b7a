//! HTTP to the outside: one narrow door with timeouts and an address policy behind it.

use std::time::Duration;

use futures::future::BoxFuture;

/// A request.
#[derive(Clone, Debug)]
pub struct OutboundRequest {
    /// The method.
    pub method: String,
    /// The absolute address.
    pub url: String,
    /// Headers; values may be secret and are never logged.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How long the whole exchange may take.
    pub timeout: Duration,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct OutboundResponse {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The beginning of the body; an adapter may cut it.
    pub body: Vec<u8>,
}

impl OutboundResponse {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The address policy refuses the target; trying again will not help.
    #[error("target refused: {0}")]
    Forbidden(String),
    /// The address cannot be understood.
    #[error("not an address that can be called: {0}")]
    InvalidUrl(String),
    /// Name, connection or TLS failure, or the time ran out.
    #[error("no answer: {0}")]
    Unreachable(String),
}

/// The door.
pub trait Outbound: Send + Sync + 'static {
    /// Sends a request and reads the answer. Redirects are answers, never followed.
    fn send(
        &self,
        request: OutboundRequest,
    ) -> BoxFuture<'_, Result<OutboundResponse, OutboundError>>;

    /// Whether the policy would let the address be called, without calling it.
    fn check(&self, url: &str) -> Result<(), OutboundError>;
}
