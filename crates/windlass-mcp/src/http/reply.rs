//! Refusals over HTTP: a status, and a JSON-RPC error that says the same to a client.

use axum::body::Body;
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};

use super::Response;
use crate::wire::Fault;

/// A refusal with its status.
pub fn refusal(status: StatusCode, fault: &Fault) -> Response {
    // A fault is plain strings and numbers, which always serialise.
    let body = serde_json::to_vec(fault).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Gives a bare text refusal of the inner service a JSON-RPC body, so that a client has one
/// kind of error to read. Anything that is not a text refusal passes unchanged.
pub async fn with_json_body(response: Response) -> Response {
    let status = response.status();
    let typed = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| !kind.as_bytes().starts_with(b"text/plain"));
    if !(status.is_client_error() || status.is_server_error()) || typed {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = axum::body::to_bytes(body, 4096).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let reason = if status.is_server_error() {
        tracing::error!(%status, text, "the MCP endpoint failed");
        "internal error".to_owned()
    } else {
        text
    };
    let code = if status.is_server_error() {
        rmcp::model::ErrorCode::INTERNAL_ERROR
    } else {
        crate::wire::codes::INVALID_REQUEST
    };
    let body = serde_json::to_vec(&Fault::new(None, code, reason)).unwrap_or_default();
    parts
        .headers
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(http::header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(body))
}
