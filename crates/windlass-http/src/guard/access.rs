//! The access log: one line for each answer, without query, headers or body.

use std::time::Duration;

use http::{HeaderValue, Method, StatusCode};

use super::is_probe;

/// What the line says.
pub(super) struct Answered<'a> {
    pub(super) request_id: Option<&'a HeaderValue>,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) status: StatusCode,
    pub(super) caller: &'a str,
    /// Until the head of the answer; a stream goes on after it.
    pub(super) took: Duration,
}

/// Probes ask every few seconds, so theirs is a line for debugging.
pub(super) fn log(answered: &Answered<'_>) {
    let Answered {
        request_id,
        method,
        path,
        status,
        caller,
        took,
    } = answered;
    let request_id = request_id.and_then(|id| id.to_str().ok());
    let (method, status) = (method.as_str(), status.as_u16());
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if is_probe(path) {
        tracing::debug!(
            method,
            path,
            status,
            duration_ms,
            caller,
            request_id,
            "answered"
        );
    } else {
        tracing::info!(
            method,
            path,
            status,
            duration_ms,
            caller,
            request_id,
            "answered"
        );
    }
}
