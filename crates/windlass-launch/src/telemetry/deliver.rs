//! Sends runs to a telemetry service: in batches, with retries, and never for long.
//!
//! Knows the interface, not the launch: what is sent and what came of it are values. What could
//! not be sent is said, and is no failure.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use windlass_ports::{Clock, Outbound, OutboundError, OutboundRequest, OutboundResponse};
use windlass_types::Secret;

use super::run::Run;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait before each further try.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// The most that waits to be sent, in bytes.
pub(crate) const OUTBOX: usize = 10 * 1024 * 1024;
/// The most in one request.
const BATCH_RUNS: usize = 500;
const BATCH_BYTES: usize = 2 * 1024 * 1024;

/// A telemetry service.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) outbound: Arc<dyn Outbound>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) endpoint: String,
    pub(crate) token: Option<Secret<String>>,
}

/// What came of sending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// The event ids the service has now.
    pub(crate) sent: Vec<String>,
    /// Why not all of them.
    pub(crate) error: Option<String>,
    /// Whether the service could not be brought to answer, so that there is no use in going on.
    pub(crate) broken_off: bool,
}

/// What waits to be sent, oldest first, within its bounds. The first of `runs` is the launch
/// itself, which is never dropped. Returns the event ids of those that were.
pub(crate) fn bound(runs: &mut Vec<Run>, most: usize) -> Vec<String> {
    let size = |run: &Run| serde_json::to_string(run).map_or(0, |text| text.len());
    let mut total: usize = runs.iter().map(size).sum();
    let mut dropped = Vec::new();
    while total > most && runs.len() > 1 {
        let oldest = runs.remove(1);
        total -= size(&oldest);
        dropped.push(oldest.event_id);
    }
    dropped
}

impl Service {
    /// Reports runs; stops at the first request that comes to nothing.
    pub(crate) async fn report(&self, runs: &[Value]) -> Delivery {
        let mut delivery = Delivery::default();
        for batch in batches(runs) {
            let body = json!({ "runs": batch });
            match self.ask("POST", "/api/v1/runs/batch", &body).await {
                Ok(answer) => {
                    let refused = refused_items(&answer);
                    if let Some(why) = refused.first().map(|(_, why)| why) {
                        delivery.error = Some(format!(
                            "{} of {} runs were refused: {why}",
                            refused.len(),
                            batch.len()
                        ));
                    }
                    let kept = batch.iter().enumerate().filter(|(at, _)| {
                        let at = *at as u64;
                        refused.iter().all(|(index, _)| *index != at)
                    });
                    let ids = kept.filter_map(|(_, run)| run.get("event_id")?.as_str());
                    delivery.sent.extend(ids.map(str::to_owned));
                }
                Err(error) => {
                    delivery.error = Some(error);
                    delivery.broken_off = true;
                    return delivery;
                }
            }
        }
        delivery
    }

    /// Says how a run that was reported before stands now.
    pub(crate) async fn update(&self, event_id: &str, changes: &Value) -> Result<(), String> {
        let path = format!("/api/v1/runs/{event_id}");
        self.ask("PATCH", &path, changes).await.map(drop)
    }

    async fn ask(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<OutboundResponse, String> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let answered = self.outbound.send(self.request(method, path, body)).await;
            let error = match answered {
                Ok(answer) if (200..300).contains(&answer.status) => return Ok(answer),
                // The receiver keeps this run itself: it is this very home.
                Ok(answer) if answer.status == 409 && method == "PATCH" => return Ok(answer),
                Ok(answer) => {
                    let error = format!("{method} {path}: status {}", answer.status);
                    if !is_worth_another_try(answer.status) {
                        return Err(error);
                    }
                    error
                }
                Err(error @ (OutboundError::Unreachable(_) | OutboundError::TimedOut(_))) => {
                    format!("{method} {path}: {error}")
                }
                Err(error) => return Err(format!("{method} {path}: {error}")),
            };
            let Some(pause) = pauses.next() else {
                return Err(error);
            };
            let moment = self.clock.now().after(pause);
            self.clock.sleep_until(moment).await;
        }
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> OutboundRequest {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if let Some(token) = &self.token {
            let value = format!("Bearer {}", token.expose_secret());
            headers.push(("authorization".to_owned(), value));
        }
        OutboundRequest {
            method: method.to_owned(),
            url: format!("{}{path}", self.endpoint.trim_end_matches('/')),
            headers,
            body: body.to_string().into_bytes(),
            timeout: TIMEOUT,
        }
    }
}

const fn is_worth_another_try(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

fn batches(runs: &[Value]) -> Vec<&[Value]> {
    let mut batches = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (at, run) in runs.iter().enumerate() {
        let length = run.to_string().len();
        if at > from && (at - from == BATCH_RUNS || bytes + length > BATCH_BYTES) {
            batches.push(&runs[from..at]);
            (from, bytes) = (at, 0);
        }
        bytes += length;
    }
    if from < runs.len() {
        batches.push(&runs[from..]);
    }
    batches
}

/// The places of runs that the service did not take, and why. An answer that does not say took
/// them all.
fn refused_items(answer: &OutboundResponse) -> Vec<(u64, String)> {
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let errors = said.get("errors").and_then(Value::as_array);
    let place = |error: &Value| {
        let message = error.get("message").and_then(Value::as_str);
        let message = message.unwrap_or("no reason given").chars().take(200);
        Some((error.get("index")?.as_u64()?, message.collect()))
    };
    errors.map_or_else(Vec::new, |errors| errors.iter().filter_map(place).collect())
}

#[cfg(test)]
#[path = "deliver_tests.rs"]
mod tests;
