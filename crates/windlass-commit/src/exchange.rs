//! Calls of a service over HTTP: sent again after a pause when the failure may pass.
//!
//! Every call that comes through here may arrive twice; the services are called in a way that
//! makes this harmless.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use serde_json::Value;
use windlass_ports::commit_service::{ServiceFault, Stage};
use windlass_ports::{Clock, Outbound, OutboundError, OutboundRequest, OutboundResponse};
use windlass_types::{Secret, retry::Backoff};

use crate::answer::Answer;
use crate::guard::fault;

/// How long one exchange may take.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// No answer that is of use is longer: the longest repeat the text of a pull request.
const LONGEST_ANSWER: usize = 8 << 20;
/// How often a call is sent again.
const RETRIES: u32 = 3;
/// A service that wants to be left alone for longer is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const PAUSES: Backoff = Backoff {
    first: Duration::from_secs(1),
    longest: LONGEST_PAUSE,
};

/// A service's interface.
pub struct Api {
    pub adapter: &'static str,
    pub outbound: Arc<dyn Outbound>,
    pub clock: Arc<dyn Clock>,
    /// Its address, without a `/` at the end.
    pub base: String,
    pub token: Option<Secret<String>>,
    /// Sent with every call.
    pub headers: Vec<(String, String)>,
    pub timeout: Duration,
}

/// One call.
pub struct Ask<'a> {
    pub stage: Stage,
    pub method: &'static str,
    /// What follows the interface's address.
    pub path: String,
    pub body: Option<Value>,
    pub idempotency_key: Option<&'a str>,
}

impl Ask<'_> {
    pub fn new(stage: Stage, method: &'static str, path: impl Into<String>) -> Self {
        Self {
            stage,
            method,
            path: path.into(),
            body: None,
            idempotency_key: None,
        }
    }

    #[must_use]
    pub fn with(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}

impl Api {
    /// Sends a call and gives its answer, whatever it says. No answer, 5xx and 429 are tried
    /// again and are a fault in the end.
    pub async fn send(&self, ask: Ask<'_>) -> Result<Answer, ServiceFault> {
        let request = self.request(&ask);
        let mut tries = 0;
        loop {
            let (mut fault, asked_pause) = match self.exchange(request.clone()).await {
                Ok(response) => {
                    let answer = Answer {
                        adapter: self.adapter,
                        stage: ask.stage,
                        asked: shown(&ask),
                        response,
                        token: self.token.clone(),
                    };
                    if !answer.is_transient() {
                        return Ok(answer);
                    }
                    (answer.fault(), answer.retry_after(self.clock.now()))
                }
                Err(error) => (self.no_answer(&ask, &error), None),
            };
            fault.retry_after = asked_pause;
            let pause = asked_pause.unwrap_or_else(|| PAUSES.pause(tries + 1));
            if !fault.retryable || tries == RETRIES || pause > LONGEST_PAUSE {
                return Err(fault);
            }
            tries += 1;
            let until = self.clock.now().after(pause);
            self.clock.sleep_until(until).await;
        }
    }

    async fn exchange(&self, request: OutboundRequest) -> Result<OutboundResponse, OutboundError> {
        let mut stream = self
            .outbound
            .send_streaming(request, LONGEST_ANSWER)
            .await?;
        let mut body = Vec::new();
        while let Some(piece) = stream.body.next().await {
            body.extend_from_slice(&piece?);
        }
        Ok(OutboundResponse {
            status: stream.status,
            headers: stream.headers,
            body,
            address: None,
        })
    }

    fn request(&self, ask: &Ask<'_>) -> OutboundRequest {
        let mut headers = self.headers.clone();
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        if let Some(token) = &self.token {
            add(
                "authorization",
                format!("Bearer {}", token.expose_secret().trim()),
            );
        }
        if let Some(key) = ask.idempotency_key {
            add("idempotency-key", key.to_owned());
        }
        let body = ask.body.as_ref().map(Value::to_string);
        if body.is_some() {
            add("content-type", "application/json".to_owned());
        }
        OutboundRequest {
            method: ask.method.to_owned(),
            url: format!("{}{}", self.base, ask.path),
            headers,
            body: body.unwrap_or_default().into_bytes(),
            timeout: self.timeout,
        }
    }

    fn no_answer(&self, ask: &Ask<'_>, error: &OutboundError) -> ServiceFault {
        let mut fault = fault(
            self.adapter,
            ask.stage,
            format!("{} failed: {error}", shown(ask)),
        );
        fault.retryable = matches!(
            error,
            OutboundError::Unreachable(_) | OutboundError::TimedOut(_)
        );
        fault
    }
}

/// Method and path without the query, for messages.
fn shown(ask: &Ask<'_>) -> String {
    let path = ask.path.split('?').next().unwrap_or_default();
    format!("{} {path}", ask.method)
}
