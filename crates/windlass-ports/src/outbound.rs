//! HTTP to the outside: one narrow door with timeouts and an address policy behind it.

use std::{net::SocketAddr, time::Duration};

use futures::{future::BoxFuture, stream::BoxStream};

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
    /// The address the connection went to, where the adapter knows it.
    pub address: Option<SocketAddr>,
}

impl OutboundResponse {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// An answer whose body is still arriving.
pub struct OutboundStream {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it arrives. An error is the last item: the body is incomplete. Dropping the
    /// stream ends the exchange.
    pub body: BoxStream<'static, Result<Vec<u8>, OutboundError>>,
}

impl OutboundStream {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
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
    /// Name, connection or TLS failure, also within an answer.
    #[error("no answer: {0}")]
    Unreachable(String),
    /// The time ran out before the answer was complete.
    #[error("no answer: no complete answer within {0:?}")]
    TimedOut(Duration),
    /// The body is longer than the caller takes.
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
}

/// The door.
pub trait Outbound: Send + Sync + 'static {
    /// Sends a request and reads the answer. Redirects are answers, never followed.
    fn send(
        &self,
        request: OutboundRequest,
    ) -> BoxFuture<'_, Result<OutboundResponse, OutboundError>>;

    /// Sends a request and returns once the headers of the answer are there. The body
    /// follows piece by piece; one that grows beyond `max_body` bytes ends with
    /// [`OutboundError::TooLarge`], and the request's timeout covers it too.
    fn send_streaming(
        &self,
        request: OutboundRequest,
        max_body: usize,
    ) -> BoxFuture<'_, Result<OutboundStream, OutboundError>>;

    /// Whether the policy would let the address be called, without calling it.
    fn check(&self, url: &str) -> Result<(), OutboundError>;

    /// The same after looking the name up: whether every address it has now may be called. A
    /// name that has none yet passes, since it is judged again whenever it is called.
    fn check_resolved<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<(), OutboundError>> {
        Box::pin(async move { self.check(url) })
    }

    /// The addresses a target was last found at, for a log of attempts that failed.
    fn last_addresses(&self, _url: &str) -> Vec<SocketAddr> {
        Vec::new()
    }
}
