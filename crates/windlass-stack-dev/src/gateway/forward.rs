//! Who stands behind a route: functions, and ports of services.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};

use super::request::Incoming;
use crate::function::LocalFunction;

/// Everyone that can answer.
#[derive(Default)]
pub(crate) struct Targets {
    pub functions: BTreeMap<String, Arc<LocalFunction>>,
    /// `resource/container` and the deployed port → the local port.
    pub ports: BTreeMap<(String, u16), u16>,
}

/// Headers that are about one connection.
const OF_THE_CONNECTION: [header::HeaderName; 6] = [
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::CONTENT_LENGTH,
];

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut passed = headers.clone();
    for name in OF_THE_CONNECTION {
        passed.remove(name);
    }
    passed
}

/// Sends the request to a local port and gives back what comes.
pub(crate) async fn to_port(
    client: &reqwest::Client,
    port: u16,
    incoming: &Incoming,
) -> Result<Response<Body>, String> {
    let mark = if incoming.query.is_empty() { "" } else { "?" };
    let target = format!(
        "http://127.0.0.1:{port}{}{mark}{}",
        incoming.path, incoming.query
    );
    let mut headers = passed_on(&incoming.headers);
    for (name, value) in [
        ("x-forwarded-for", incoming.source_ip.as_str()),
        ("x-forwarded-proto", "http"),
    ] {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    }
    let answer = client
        .request(incoming.method.clone(), target)
        .headers(headers)
        .body(incoming.body.clone())
        .send()
        .await
        .map_err(|error| format!("port {port} does not answer: {error}"))?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() =
        StatusCode::from_u16(answer.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = passed_on(answer.headers());
    // Streamed, so that server-sent events arrive as they are sent.
    *response.body_mut() = Body::from_stream(answer.bytes_stream());
    Ok(response)
}
