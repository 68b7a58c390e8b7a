//! The layer in front of rmcp's HTTP service.
//!
//! rmcp answers a body that is not JSON-RPC with 415 and plain text, knows no batches and
//! does not tie a session to its principal; the guard does those three things. A good
//! request passes with its body untouched.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes};
use futures::{FutureExt, future::BoxFuture};
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    request::Parts,
};
use rmcp::{ServerHandler, transport::streamable_http_server::StreamableHttpService};
use tower::Service;
use windlass_engine::access::Declined;
use windlass_types::Principal;

use super::{Request, Response, batch, reply, sessions::Sessions};
use crate::wire::{Fault, Frame, Glance, Id, Message, Shape, codes, shape};

const SESSION_ID: &str = "mcp-session-id";
const PROTOCOL_VERSION: &str = "mcp-protocol-version";

/// The `/mcp` endpoint as a tower service; axum takes it as it is.
pub struct McpEndpoint<H> {
    inner: Arc<Inner<H>>,
}

struct Inner<H> {
    service: StreamableHttpService<H, Sessions>,
    sessions: Arc<Sessions>,
    max_body_bytes: usize,
}

impl<H> Clone for McpEndpoint<H> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<H: ServerHandler> McpEndpoint<H> {
    pub(super) fn new(
        service: StreamableHttpService<H, Sessions>,
        sessions: Arc<Sessions>,
        max_body_bytes: usize,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                service,
                sessions,
                max_body_bytes,
            }),
        }
    }

    /// Answers one request.
    pub async fn handle(&self, request: Request) -> Response {
        let (mut parts, body) = request.into_parts();
        if let Some(declined) = parts.extensions.remove::<Declined>() {
            return decline(&declined, body).await;
        }
        if let Some(id) = session_id(&parts.headers)
            && !self.inner.sessions.may_use(id, parts.extensions.get())
        {
            let reason = "session not found: it ended, or it belongs to another caller; send initialize again";
            return reply::refusal(StatusCode::NOT_FOUND, &Fault::invalid_request(None, reason));
        }
        let json = normalise_content_type(&mut parts.headers).is_some();
        let response = if json && parts.method == Method::POST {
            self.post(parts, body).await
        } else {
            self.inner
                .service
                .handle(Request::from_parts(parts, body))
                .await
                .map(Body::new)
        };
        reply::with_json_body(response).await
    }

    async fn post(&self, parts: Parts, body: Body) -> Response {
        if names_unsupported_version(&parts.headers) {
            let reason = "the MCP-Protocol-Version header names a version that is not served";
            return reply::refusal(
                StatusCode::BAD_REQUEST,
                &Fault::invalid_request(None, reason),
            );
        }
        let body = match self.read_body(&parts.headers, body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        match Glance::at(&body) {
            Glance::Message => self.forward(parts, body).await,
            Glance::Batch => batch::answer(self, &parts, &body).await,
            Glance::Refused(fault) => reply::refusal(StatusCode::BAD_REQUEST, &fault),
        }
    }

    /// Hands one message to rmcp.
    pub(super) async fn forward(&self, parts: Parts, body: Bytes) -> Response {
        let opens = !parts.headers.contains_key(SESSION_ID);
        let principal: Option<Principal> = parts.extensions.get().cloned();
        let request = Request::from_parts(parts, Body::from(body.clone()));
        let response = self.inner.service.handle(request).await.map(Body::new);
        // The content type was right, so this one means "not a message".
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return refuse_body(&body);
        }
        if opens && let Some(id) = session_id(response.headers()) {
            self.inner.sessions.opened(id, principal.as_ref()).await;
        }
        response
    }

    async fn read_body(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Response> {
        let limit = self.inner.max_body_bytes;
        let announced = headers
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: u64| length > limit as u64) {
            return Err(too_large(limit));
        }
        axum::body::to_bytes(body, limit)
            .await
            .map_err(|_| too_large(limit))
    }
}

/// Says what is wrong with a message whose outside is right but that rmcp could not read.
fn refuse_body(body: &[u8]) -> Response {
    let fault = match Frame::parse(body) {
        Frame::Single(Message::Refused(fault)) => fault,
        Frame::Single(Message::Ignored(reason)) => Fault::invalid_request(None, reason),
        _ => Fault::invalid_request(None, "invalid request: the message cannot be read"),
    };
    reply::refusal(StatusCode::BAD_REQUEST, &fault)
}

/// Says that the caller is not served now: as the answer to its request where that can be told
/// apart, else in the words of the surface in front, which has set the limits on the body.
async fn decline(declined: &Declined, body: Body) -> Response {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let body = axum::body::to_bytes(body, usize::MAX).await;
    let id = body.ok().and_then(|body| match shape(&body) {
        Ok(Shape::Object(envelope)) => match envelope.id() {
            Id::Usable(id) => Some(id),
            Id::Absent | Id::Unusable => None,
        },
        Ok(Shape::Array(_) | Shape::Scalar) | Err(_) => None,
    });
    let Some(id) = id else {
        let mut response = Response::new(Body::from(declined.body.to_string()));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return response;
    };
    let mut fault = Fault::new(Some(id), codes::BUSY, declined.message.clone());
    fault.error.data = Some(declined.body["error"].clone());
    reply::refusal(status, &fault)
}

fn too_large(limit: usize) -> Response {
    let reason = format!("the request body is larger than {limit} bytes; send less per message");
    reply::refusal(
        StatusCode::PAYLOAD_TOO_LARGE,
        &Fault::invalid_request(None, reason),
    )
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_ID)?.to_str().ok()
}

/// Whether batches may be sent: 2025-03-26 has no version header, later versions require it.
pub(super) fn allows_batches(headers: &HeaderMap) -> bool {
    headers
        .get(PROTOCOL_VERSION)
        .is_none_or(|version| version == "2025-03-26")
}

/// rmcp also takes 2024-11-05, which is not served here.
fn names_unsupported_version(headers: &HeaderMap) -> bool {
    headers
        .get(PROTOCOL_VERSION)
        .is_some_and(|version| version == "2024-11-05")
}

/// Brings a JSON content type into the one spelling rmcp knows and takes any other away:
/// rmcp compares the beginning only, and letter by letter. `None` when it is not JSON.
fn normalise_content_type(headers: &mut HeaderMap) -> Option<()> {
    let kind = headers.remove(CONTENT_TYPE)?;
    let essence = kind.to_str().ok()?.split(';').next()?.trim();
    let json = essence.eq_ignore_ascii_case("application/json");
    json.then(|| drop(headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"))))
}

impl<H: ServerHandler> Service<Request> for McpEndpoint<H> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let endpoint = self.clone();
        async move { Ok(endpoint.handle(request).await) }.boxed()
    }
}
