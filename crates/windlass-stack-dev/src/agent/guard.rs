//! Who may call the HTTP API: a caller on this machine who knows the token, and no web page.

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use subtle::ConstantTimeEq as _;

use super::App;
use crate::envelope::Envelope;
use crate::lock::locked;

fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    (status, axum::Json(Envelope::failed(code, message, None))).into_response()
}

pub(crate) async fn check(State(stack): State<App>, request: Request, next: Next) -> Response {
    match refused(&stack, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

fn refused(stack: &App, request: &Request) -> Option<Response> {
    let (port, token) = {
        let session = locked(&stack.session);
        (session.port, session.token.clone())
    };
    let header = |name: header::HeaderName| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    // A name that a web page made point here is not ours: the request is a browser's.
    let is_our_host = header(header::HOST).is_some_and(|host| {
        [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
            .iter()
            .any(|own| own == host)
    });
    if !is_our_host {
        return Some(refusal(
            StatusCode::FORBIDDEN,
            "READ_ONLY_VIOLATION",
            "the Host header must be 127.0.0.1 or localhost with this port",
        ));
    }
    if request.headers().contains_key(header::ORIGIN) || request.method() == Method::OPTIONS {
        return Some(refusal(
            StatusCode::FORBIDDEN,
            "READ_ONLY_VIOLATION",
            "requests of web pages are refused",
        ));
    }
    let is_open = request.method() == Method::GET && request.uri().path() == "/health";
    let given = header(header::AUTHORIZATION)
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default();
    if !is_open && !bool::from(given.as_bytes().ct_eq(token.as_bytes())) {
        return Some(refusal(
            StatusCode::UNAUTHORIZED,
            "AUTH_ERROR",
            "the bearer token of the session file is missing or wrong",
        ));
    }
    None
}
