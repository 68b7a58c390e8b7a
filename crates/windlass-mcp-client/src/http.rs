//! Streamable HTTP, and the requests that signing in takes, through the `Outbound` port.
//!
//! The SDK leaves the sending to an implementation of its client trait, so every request of this
//! client, also those to authorization servers that a server names, passes the same address policy
//! as other outbound traffic: judged as text, judged again when the name is resolved, and connected
//! to exactly the addresses that passed. Redirects of MCP requests are not followed.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use http::{HeaderName, HeaderValue, StatusCode};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest},
        streamable_http_client::{
            AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError,
            StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use sse_stream::{Sse, SseStream};
use url::Url;
use windlass_ports::{Outbound, OutboundError, OutboundRequest, OutboundStream};

use crate::clean;

/// How long an exchange may take at most. Calls have limits of their own; a stream of events stays
/// open as long as the connection.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(7 * 86_400);
/// The longest answer that is not a stream.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;
/// The longest answer of an authorization server.
const LONGEST_METADATA: usize = 1024 * 1024;
const MOST_REDIRECTS: usize = 5;
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "mcp-session-id";
/// Written by the transport itself.
const RESERVED: [&str; 3] = ["accept", SESSION, "last-event-id"];

/// MCP requests through the port.
#[derive(Clone)]
pub(crate) struct HttpDoor(pub Arc<dyn Outbound>);

impl fmt::Debug for HttpDoor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HttpDoor")
    }
}

type Failure = StreamableHttpError<OutboundError>;

/// A request before it is sent.
struct Draft {
    method: &'static str,
    url: Arc<str>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Draft {
    fn new(
        method: &'static str,
        url: Arc<str>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Self, Failure> {
        let mut headers = Vec::new();
        for (name, value) in custom {
            if RESERVED.contains(&name.as_str()) {
                return Err(Failure::ReservedHeaderConflict(name.to_string()));
            }
            // A token from signing in replaces the one that was configured.
            if token.is_some() && name == http::header::AUTHORIZATION {
                continue;
            }
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            headers.push((name.to_string(), value));
        }
        if let Some(token) = token {
            headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        }
        Ok(Self {
            method,
            url,
            headers,
            body: Vec::new(),
        })
    }

    fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn session(self, session: Option<&str>) -> Self {
        match session {
            Some(session) => self.header(SESSION, session),
            None => self,
        }
    }
}

impl HttpDoor {
    /// Sends; an answer that asks to sign in, or for more rights, is an error.
    async fn send(&self, draft: Draft) -> Result<OutboundStream, Failure> {
        let request = OutboundRequest {
            method: draft.method.to_owned(),
            url: draft.url.to_string(),
            headers: draft.headers,
            body: draft.body,
            timeout: LONGEST_EXCHANGE,
        };
        // A stream of events may be longer than any bound; its events are bounded instead.
        let answer = self.0.send_streaming(request, usize::MAX).await;
        let answer = answer.map_err(Failure::Client)?;
        let challenge = || answer.header("www-authenticate").map(str::to_owned);
        match (answer.status, challenge()) {
            // Servers that do not say how still mean that one has to sign in.
            (401, challenge) => Err(Failure::AuthRequired(AuthRequiredError::new(
                challenge.unwrap_or_else(|| "Bearer".to_owned()),
            ))),
            (403, Some(challenge)) => {
                let scope = scope_of(&challenge);
                Err(Failure::InsufficientScope(InsufficientScopeError::new(
                    challenge, scope,
                )))
            }
            _ => Ok(answer),
        }
    }
}

impl StreamableHttpClient for HttpDoor {
    type Error = OutboundError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            LONGEST_ANSWER,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut draft = Draft::new("POST", uri, auth_header, custom_headers)?
            .header("accept", format!("{JSON}, {EVENTS}"))
            .header("content-type", JSON)
            .session(session_id.as_deref());
        draft.body = serde_json::to_vec(&message)?;
        let answer = self.send(draft).await?;
        let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session_id.is_some() {
            return Err(Failure::SessionExpired);
        }
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        let session = answer.header(SESSION).map(str::to_owned);
        if !status.is_success() {
            return refused(answer, status, &message, session_id.is_some(), session).await;
        }
        let needs_reply = matches!(message, JsonRpcMessage::Request(_));
        if kind.starts_with(EVENTS) {
            let events = events(answer, max_sse_event_size);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let body = body(answer, LONGEST_ANSWER).await?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(reply) if kind.starts_with(JSON) => {
                Ok(StreamableHttpPostResponse::Json(reply, session))
            }
            // What is no question needs no answer, whatever a server sends.
            _ if !needs_reply => Ok(StreamableHttpPostResponse::Accepted),
            Ok(_) => Err(Failure::UnexpectedContentType(Some(clean::line(
                &kind, 200,
            )))),
            Err(_) if !kind.starts_with(JSON) => Err(Failure::UnexpectedContentType(Some(
                clean::line(&kind, 200),
            ))),
            Err(error) => Err(Failure::UnexpectedServerResponse(Cow::Owned(format!(
                "not a message: {error}: {}",
                preview(&body)
            )))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let draft =
            Draft::new("DELETE", uri, auth_header, custom_headers)?.session(Some(&session_id));
        // A server that keeps its sessions to itself says 405. Either way this side is done.
        self.send(draft).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            LONGEST_ANSWER,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut draft = Draft::new("GET", uri, auth_header, custom_headers)?
            .header("accept", EVENTS)
            .session(session_id.as_deref());
        if let Some(last) = last_event_id {
            draft = draft.header("last-event-id", last);
        }
        let answer = self.send(draft).await?;
        match answer.status {
            405 => Err(Failure::ServerDoesNotSupportSse),
            200..300 => {
                let kind = answer.header("content-type").map(str::to_owned);
                match kind {
                    Some(kind) if kind.starts_with(EVENTS) => {
                        Ok(events(answer, max_sse_event_size))
                    }
                    kind => Err(Failure::UnexpectedContentType(kind)),
                }
            }
            status => Err(HttpStatusError::new(
                status,
                answer.header("retry-after").map(str::to_owned),
            )
            .into()),
        }
    }
}

/// What an answer with a status of failure means.
async fn refused(
    answer: OutboundStream,
    status: StatusCode,
    message: &ClientJsonRpcMessage,
    has_session: bool,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let retry_after = answer.header("retry-after").map(str::to_owned);
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(HttpStatusError::new(status.as_u16(), retry_after).into());
    }
    let is_json = answer
        .header("content-type")
        .is_some_and(|kind| kind.starts_with(JSON));
    let body = body(answer, LONGEST_METADATA).await.unwrap_or_default();
    let error = match serde_json::from_slice(&body) {
        Ok(JsonRpcMessage::Error(error)) => Some::<rmcp::model::JsonRpcError>(error),
        Ok::<ServerJsonRpcMessage, _>(_) | Err(_) => None,
    };
    // A server of the older era refuses the first question of the modern one in its own way; the
    // lifecycle needs that as an answer to its question.
    if let JsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && !has_session
        && status.is_client_error()
        && status != StatusCode::FORBIDDEN
    {
        let error = error.map_or_else(
            || ErrorData::invalid_request(format!("refused with status {status}"), None),
            |error| error.error,
        );
        let reply = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(reply, None));
    }
    match error {
        Some(error) if is_json && status != StatusCode::FORBIDDEN => Ok(
            StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session),
        ),
        _ if status.is_server_error() => {
            Err(HttpStatusError::new(status.as_u16(), retry_after).into())
        }
        _ => Err(Failure::UnexpectedServerResponse(Cow::Owned(format!(
            "status {status}: {}",
            preview(&body)
        )))),
    }
}

fn preview(body: &[u8]) -> String {
    clean::line(&String::from_utf8_lossy(body), 200)
}

async fn body(mut answer: OutboundStream, most: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = answer.body.next().await {
        let piece = piece.map_err(Failure::Client)?;
        if body.len() + piece.len() > most {
            return Err(Failure::Client(OutboundError::TooLarge(most)));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn events(answer: OutboundStream, most: usize) -> BoxStream<'static, Result<Sse, SseError>> {
    let mut meter = EventMeter::default();
    let pieces = answer.body.map(move |piece| {
        let piece = piece?;
        match meter.count(&piece) <= most {
            true => Ok(Bytes::from(piece)),
            false => Err(OutboundError::TooLarge(most)),
        }
    });
    // Nothing follows an error.
    let pieces = stream::unfold(Some(pieces.boxed()), async |pieces| {
        let mut pieces = pieces?;
        match pieces.next().await? {
            Ok(piece) => Some((Ok(piece), Some(pieces))),
            Err(error) => Some((Err(error), None)),
        }
    });
    SseStream::from_bytes_stream(pieces.boxed()).boxed()
}

/// Counts the bytes of the event that is arriving: an event ends at an empty line.
#[derive(Default)]
struct EventMeter {
    event: usize,
    line: usize,
    after_return: bool,
}

impl EventMeter {
    /// The size of the largest event that ends in the piece, or is still open after it.
    fn count(&mut self, piece: &[u8]) -> usize {
        let mut largest = 0;
        for byte in piece {
            self.event += 1;
            largest = largest.max(self.event);
            let is_second_half = *byte == b'\n' && self.after_return;
            self.after_return = *byte == b'\r';
            if is_second_half {
                continue;
            }
            if matches!(byte, b'\r' | b'\n') {
                if self.line == 0 {
                    self.event = 0;
                }
                self.line = 0;
            } else {
                self.line += 1;
            }
        }
        largest
    }
}

/// The rights that a challenge asks for.
pub(crate) fn scope_of(challenge: &str) -> Option<String> {
    let at = challenge
        .to_ascii_lowercase()
        .match_indices("scope=")
        // Not the end of another parameter's name.
        .find(|(at, _)| *at == 0 || matches!(challenge.as_bytes()[at - 1], b' ' | b',' | b'\t'))
        .map(|(at, word)| at + word.len())?;
    let rest = &challenge[at..];
    let scope = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([',', ' ']).next(),
    };
    scope.map(str::to_owned).filter(|scope| !scope.is_empty())
}

/// Everything that signing in asks of the world.
impl OAuthHttpClient for HttpDoor {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let limit = request.timeout.unwrap_or(Duration::from_secs(30));
            let (parts, body) = request.request.into_parts();
            let mut url = Url::parse(&parts.uri.to_string())?;
            let may_follow = matches!(request.redirect_policy, OAuthHttpRedirectPolicy::Follow)
                && parts.method == http::Method::GET;
            for _ in 0..=MOST_REDIRECTS {
                let headers = parts.headers.iter().map(|(name, value)| {
                    let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                    (name.to_string(), value)
                });
                let answer = self
                    .0
                    .send_streaming(
                        OutboundRequest {
                            method: parts.method.to_string(),
                            url: url.to_string(),
                            headers: headers
                                .filter(|(name, _)| name != "host" && name != "content-length")
                                .collect(),
                            body: body.clone(),
                            timeout: limit,
                        },
                        LONGEST_METADATA,
                    )
                    .await?;
                let next = answer.header("location").and_then(|to| url.join(to).ok());
                match next {
                    Some(next) if may_follow && (300..400).contains(&answer.status) => {
                        if next.origin() != url.origin() {
                            return Err("the redirect leads to another site".into());
                        }
                        url = next;
                    }
                    _ => return whole(answer).await,
                }
            }
            Err("too many redirects".into())
        })
    }
}

async fn whole(
    answer: OutboundStream,
) -> Result<http::Response<Vec<u8>>, Box<dyn std::error::Error + Send + Sync>> {
    let mut response = http::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    Ok(response.body(body(answer, LONGEST_METADATA).await?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_of_a_challenge() {
        for (challenge, scope) in [
            (r#"Bearer scope="a b", error="x""#, Some("a b")),
            ("Bearer error=x, scope=a", Some("a")),
            (r#"Bearer SCOPE="a""#, Some("a")),
            (r#"Bearer my_scope="a""#, None),
            (r#"Bearer scope="""#, None),
            ("Bearer", None),
        ] {
            assert_eq!(scope_of(challenge).as_deref(), scope, "{challenge}");
        }
    }

    #[test]
    fn events_are_measured_one_by_one() {
        for (pieces, largest) in [
            (&["data: a\n\n", "data: b\n\n"][..], 9),
            (&["data: a\r\n\r\ndata: b\r\n\r\n"], 11),
            (&["data: a", "aaaa", "\n\n"], 13),
            (&["\n\n\n"], 1),
        ] {
            let mut meter = EventMeter::default();
            let found = pieces
                .iter()
                .map(|piece| meter.count(piece.as_bytes()))
                .max();
            assert_eq!(found, Some(largest), "{pieces:?}");
        }
    }
}
