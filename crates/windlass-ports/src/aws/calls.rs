//! Calls to any service: facts about the action and JSON in, JSON out.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::{ActionShape, AwsFuture, Target};

/// A call of one action.
#[derive(Clone)]
pub struct SignedCall {
    /// The facts about the action.
    pub shape: ActionShape,
    /// Its members, with the names of the service's API; binary values as Base64 text.
    pub input: Value,
    /// How long one try may take; absent: 30 seconds.
    pub timeout: Option<Duration>,
}

impl SignedCall {
    /// A call with the usual timeout.
    pub const fn new(shape: ActionShape, input: Value) -> Self {
        Self {
            shape,
            input,
            timeout: None,
        }
    }
}

impl fmt::Debug for SignedCall {
    /// The action only: the input may hold a secret's value.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SignedCall")
            .field("action", &self.shape.permission())
            .finish_non_exhaustive()
    }
}

/// A signed request to an address of its own, such as an OpenSearch domain.
#[derive(Clone)]
pub struct SignedHttp {
    /// The name the signature is for: `es`, `execute-api`.
    pub signing_name: String,
    /// What it is called in failures: `es:ESHttpGet`.
    pub action: String,
    /// The method.
    pub method: String,
    /// The absolute address, percent-encoded.
    pub url: String,
    /// Headers besides the signature's.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How long the exchange may take.
    pub timeout: Duration,
    /// The longest body that is taken.
    pub max_body: usize,
}

/// The answer to a [`SignedHttp`], whatever its status.
#[derive(Clone, Debug)]
pub struct SignedAnswer {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Calls signed with the target's credentials.
pub trait AwsCalls: Send + Sync {
    /// Calls an action. Retried on throttling and faults of the service. Answers of XML
    /// protocols come as JSON whose scalars are text, unless the shape says otherwise.
    fn call<'a>(&'a self, target: &'a Target, call: SignedCall) -> AwsFuture<'a, Value>;

    /// Sends a request once and gives the answer as it is.
    fn send<'a>(&'a self, target: &'a Target, request: SignedHttp) -> AwsFuture<'a, SignedAnswer>;
}
