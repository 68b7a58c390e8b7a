//! A batch over HTTP (2025-03-26): every message goes to rmcp by itself, all answers come
//! back on one event stream.
//!
//! The protocol allows answers one by one on the stream, which keeps server requests and
//! progress flowing while a slow message of the batch is still running.

use axum::body::{Body, Bytes};
use futures::{StreamExt, future::join_all, stream};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
    request::Parts,
};
use rmcp::{ServerHandler, model::ClientRequest};
use serde_json::{json, value::RawValue};
use windlass_engine::access::{Meter, Permit, Refused};

use super::{
    Response,
    guard::{McpEndpoint, allows_batches},
    reply,
};
use crate::wire::{Fault, Frame, Message, codes};

/// Answers a batch.
pub async fn answer<H: ServerHandler>(
    endpoint: &McpEndpoint<H>,
    parts: &Parts,
    body: &[u8],
) -> Response {
    let messages = match Frame::parse(body) {
        Frame::Batch(messages) => messages,
        Frame::Single(Message::Refused(fault)) => {
            return reply::refusal(StatusCode::BAD_REQUEST, &fault);
        }
        Frame::Single(_) => return refused("invalid request: the message cannot be read"),
    };
    if !allows_batches(&parts.headers) {
        return refused(
            "invalid request: batches exist in protocol 2025-03-26 only; send one message per request",
        );
    }
    if messages.iter().any(|message| {
        matches!(
            message,
            Message::Request(_, ClientRequest::InitializeRequest(_))
        )
    }) {
        return refused("invalid request: initialize must not be part of a batch");
    }
    // The text of each element, to hand on as it came. The frame above proves it is a list.
    let Ok(texts) = serde_json::from_slice::<Vec<&RawValue>>(body) else {
        return refused("invalid request: the message cannot be read");
    };
    // The surface in front counted the request as one; each further message counts as well, and a
    // batch of which not every message may be sent does nothing.
    let further = texts.len().saturating_sub(1);
    let places = match parts.extensions.get::<Meter>() {
        Some(meter) if further > 0 => match meter.admit_further(further) {
            Ok(permit) => Some(permit),
            Err(refused) => return over_the_limit(&refused, texts.len()),
        },
        _ => None,
    };
    let answers = join_all(
        messages
            .into_iter()
            .zip(texts)
            .map(|(message, text)| async move {
                match message {
                    Message::Refused(fault) => Some(refusal_event(&fault)),
                    Message::Ignored(_) => None,
                    _ => {
                        let mut parts = parts.clone();
                        parts.headers.remove(CONTENT_LENGTH);
                        Some(
                            endpoint
                                .forward(parts, Bytes::copy_from_slice(text.get().as_bytes()))
                                .await,
                        )
                    }
                }
            }),
    )
    .await;
    merge(answers.into_iter().flatten().collect(), places)
}

fn refused(reason: &'static str) -> Response {
    reply::refusal(
        StatusCode::BAD_REQUEST,
        &Fault::invalid_request(None, reason),
    )
}

/// Says that the caller may not send this many messages now.
fn over_the_limit(refused: &Refused, messages: usize) -> Response {
    let problem = &refused.problem;
    let message = format!(
        "{}: a batch counts as its {messages} messages",
        problem.message()
    );
    let mut fault = Fault::new(None, codes::BUSY, message);
    fault.error.data = Some(json!({
        "code": problem.code().name,
        "message": problem.message(),
        "details": problem.details(),
    }));
    let mut response = reply::refusal(StatusCode::TOO_MANY_REQUESTS, &fault);
    let wait = refused.retry_after.as_secs().max(1);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(wait));
    response
}

/// A refusal in the form of a one-event stream.
fn refusal_event(fault: &Fault) -> Response {
    let text = serde_json::to_string(fault).unwrap_or_default();
    let mut response = Response::new(Body::from(format!("data: {text}\n\n")));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// One stream of all streams. A failure that concerns the connection, an unknown session
/// for example, is the same for every message and answers for all.
fn merge(mut answers: Vec<Response>, places: Option<Permit>) -> Response {
    if let Some(failed) = answers
        .iter()
        .position(|answer| !answer.status().is_success())
    {
        return answers.swap_remove(failed);
    }
    answers.retain(|answer| answer.status() != StatusCode::ACCEPTED);
    if answers.is_empty() {
        let mut accepted = Response::default();
        *accepted.status_mut() = StatusCode::ACCEPTED;
        return accepted;
    }
    // Each chunk of an event stream from rmcp is one whole event, so chunks of several
    // streams may alternate.
    let streams = answers
        .into_iter()
        .map(|answer| answer.into_body().into_data_stream().boxed());
    // The places of the messages are given back when their last answer has been sent.
    let answers = stream::select_all(streams).inspect(move |_| {
        let _ = &places;
    });
    let mut response = Response::new(Body::from_stream(answers));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
