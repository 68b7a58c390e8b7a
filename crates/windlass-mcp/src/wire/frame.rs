//! Judges one JSON text: a message for the service loop, a refusal, or nothing to do.
//!
//! Not here: rules that need to know the connection (batches, initialize first, ids in
//! flight); the transports apply those. Never panics, whatever the bytes.

use std::borrow::Cow;

use rmcp::model::{
    ClientNotification, ClientRequest, ClientResult, ErrorData, JsonObject, RequestId,
};
use serde_json::{error::Category, value::RawValue};

use super::{
    envelope::{Envelope, Id, Shape, shape},
    fault::{Fault, codes},
    line::{Line, LineReader},
    method::{RequestError, notification_from_parts, request_from_parts},
};

/// The most elements one batch may have. Over HTTP each of them also counts as a request.
pub const MAX_BATCH: usize = 100;

/// What one line (or one HTTP body) turned out to be.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "single messages are the rule; boxing each would cost more"
)]
pub enum Frame {
    /// One message.
    Single(Message),
    /// An array of messages, at least one. Whether that is welcome depends on the era.
    Batch(Vec<Message>),
}

/// One message of a client.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "requests are the rule; boxing each would cost more"
)]
pub enum Message {
    /// Wants an answer.
    Request(RequestId, ClientRequest),
    /// Wants none.
    Notification(ClientNotification),
    /// Answers a request of ours.
    Response(RequestId, Result<ClientResult, ErrorData>),
    /// Gets an error for an answer.
    Refused(Fault),
    /// Gets no answer: a notification or a response that cannot be read. Answering those
    /// would start a loop of errors about errors.
    Ignored(String),
}

impl Frame {
    /// Judges one JSON text.
    pub fn parse(bytes: &[u8]) -> Self {
        match shape(bytes) {
            Ok(Shape::Object(envelope)) => Self::Single(judge(&envelope)),
            Ok(Shape::Array(elements)) => Self::batch(&elements),
            Ok(Shape::Scalar) => Self::refused(not_an_object()),
            Err(fault) => Self::refused(fault),
        }
    }

    fn batch(elements: &[&RawValue]) -> Self {
        if elements.is_empty() {
            return Self::refused(Fault::invalid_request(
                None,
                "invalid request: the batch is empty",
            ));
        }
        if elements.len() > MAX_BATCH {
            let reason = format!(
                "invalid request: {} messages in one batch, at most {MAX_BATCH} are taken",
                elements.len()
            );
            return Self::refused(Fault::invalid_request(None, reason));
        }
        Self::Batch(
            elements
                .iter()
                .map(|element| judge_element(element.get()))
                .collect(),
        )
    }

    fn refused(fault: Fault) -> Self {
        Self::Single(Message::Refused(fault))
    }
}

fn judge_element(text: &str) -> Message {
    match shape(text.as_bytes()) {
        Ok(Shape::Object(envelope)) => judge(&envelope),
        Ok(Shape::Array(_) | Shape::Scalar) => Message::Refused(not_an_object()),
        Err(fault) => Message::Refused(fault),
    }
}

fn not_an_object() -> Fault {
    Fault::invalid_request(None, "invalid request: a message must be a JSON object")
}

fn judge(envelope: &Envelope<'_>) -> Message {
    match Outline::of(envelope) {
        Err(fault) => Message::Refused(fault),
        Ok(Outline::Response(id)) => judge_response(envelope, id),
        Ok(Outline::Notification(method)) => judge_notification(&method, envelope.params),
        Ok(Outline::Request(id, method)) => judge_request(id, &method, envelope.params),
    }
}

/// What kind of message an object is, as far as its outer members tell.
enum Outline<'a> {
    Request(RequestId, Cow<'a, str>),
    Notification(Cow<'a, str>),
    /// An answer to us, well-formed or not.
    Response(Option<RequestId>),
}

impl<'a> Outline<'a> {
    fn of(envelope: &'a Envelope<'_>) -> Result<Self, Fault> {
        let (id, id_usable) = match envelope.id() {
            Id::Absent => (None, true),
            Id::Unusable => (None, false),
            Id::Usable(id) => (Some(id), true),
        };
        let answers = envelope.result.is_some() || envelope.error.is_some();
        if envelope.method.is_none() && answers {
            return Ok(Self::Response(id));
        }
        let reason = if let Some(member) = envelope.repeated {
            Some(format!("\"{member}\" occurs twice"))
        } else if !envelope.is_version_2() {
            Some("\"jsonrpc\" must be \"2.0\"".to_owned())
        } else if answers {
            Some("a request has no \"result\" or \"error\"".to_owned())
        } else if !id_usable {
            Some("\"id\" must be a string or an integer".to_owned())
        } else {
            None
        };
        if let Some(reason) = reason {
            return Err(Fault::invalid_request(
                id,
                format!("invalid request: {reason}"),
            ));
        }
        let Some(method) = envelope.method_name() else {
            return Err(Fault::invalid_request(
                id,
                "invalid request: \"method\" must be a string",
            ));
        };
        Ok(match id {
            None => Self::Notification(method),
            Some(id) => Self::Request(id, method),
        })
    }
}

/// What can be said about a body without looking at its parameters.
#[derive(Debug)]
pub enum Glance {
    /// One message, fit to be read further.
    Message,
    /// A list of messages.
    Batch,
    /// Neither.
    Refused(Fault),
}

impl Glance {
    /// Looks at one JSON text. Costs one pass over it and copies nothing.
    pub fn at(bytes: &[u8]) -> Self {
        match shape(bytes) {
            Ok(Shape::Object(envelope)) => {
                Outline::of(&envelope).map_or_else(Self::Refused, |_| Self::Message)
            }
            Ok(Shape::Array(_)) => Self::Batch,
            Ok(Shape::Scalar) => Self::Refused(not_an_object()),
            Err(fault) => Self::Refused(fault),
        }
    }
}

fn judge_request(id: RequestId, method: &str, params: Option<&RawValue>) -> Message {
    let params = match object(params) {
        Ok(params) => params,
        Err(BadParams::Syntax(reason)) => {
            return Message::Refused(Fault::new(
                Some(id),
                codes::PARSE,
                format!("parse error: {reason}"),
            ));
        }
        // A method that does not exist is the first thing to say about such a request.
        Err(BadParams::NotAnObject) if super::is_known_method(method) => {
            let reason = format!("invalid params for {method}: \"params\" must be an object");
            return Message::Refused(Fault::invalid_params(Some(id), reason));
        }
        Err(BadParams::NotAnObject) => JsonObject::new(),
    };
    match request_from_parts(method, params) {
        Ok(request) => Message::Request(id, request),
        Err(RequestError::InvalidParams(reason)) => {
            Message::Refused(Fault::invalid_params(Some(id), reason))
        }
        Err(RequestError::UnknownMethod) => Message::Refused(unknown_method(Some(id), method)),
    }
}

/// The refusal of a method that does not exist.
pub fn unknown_method(id: Option<RequestId>, method: &str) -> Fault {
    let shown: String = method.chars().take(100).collect();
    Fault::new(
        id,
        codes::METHOD_NOT_FOUND,
        format!("method not found: {shown}"),
    )
}

fn judge_notification(method: &str, params: Option<&RawValue>) -> Message {
    let Ok(params) = object(params) else {
        return Message::Ignored(format!("params of {method} are not an object"));
    };
    notification_from_parts(method, params).map_or_else(
        |reason| Message::Ignored(format!("invalid params for {method}: {reason}")),
        Message::Notification,
    )
}

fn judge_response(envelope: &Envelope<'_>, id: Option<RequestId>) -> Message {
    let readable = envelope.is_version_2() && envelope.repeated.is_none();
    match (id, envelope.result, envelope.error) {
        (Some(id), Some(result), None) if readable => match serde_json::from_str(result.get()) {
            Ok(result) => Message::Response(id, Ok(result)),
            Err(error) => Message::Ignored(format!("unreadable result for request {id}: {error}")),
        },
        (Some(id), None, Some(error)) if readable => match serde_json::from_str(error.get()) {
            Ok(error) => Message::Response(id, Err(error)),
            Err(error) => Message::Ignored(format!("unreadable error for request {id}: {error}")),
        },
        _ => Message::Ignored("a response that is not valid JSON-RPC 2.0".to_owned()),
    }
}

enum BadParams {
    NotAnObject,
    /// Only found on a closer look: a lone surrogate, a number too large.
    Syntax(serde_json::Error),
}

/// The parameters as an object; absent and `null` are an empty one.
fn object(params: Option<&RawValue>) -> Result<JsonObject, BadParams> {
    let Some(raw) = params else {
        return Ok(JsonObject::new());
    };
    match serde_json::from_str::<Option<JsonObject>>(raw.get()) {
        Ok(params) => Ok(params.unwrap_or_default()),
        Err(error) if error.classify() == Category::Data => Err(BadParams::NotAnObject),
        Err(error) => Err(BadParams::Syntax(error)),
    }
}

/// Bytes in, frames out: the line reader and the judge in one.
#[derive(Debug)]
pub struct FrameReader {
    lines: LineReader,
    limit: usize,
}

impl FrameReader {
    /// A reader that accepts lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            lines: LineReader::new(limit),
            limit,
        }
    }

    /// Adds bytes as they come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// The buffer to read into: append to it, change nothing that is there.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.lines.room()
    }

    /// The next complete frame, if there is one.
    pub fn next_frame(&mut self) -> Option<Frame> {
        let limit = self.limit;
        self.lines.next().map(|line| frame_of(line, limit))
    }

    /// The frame in a last line that has no newline.
    pub fn finish(&mut self) -> Option<Frame> {
        let limit = self.limit;
        self.lines.finish().map(|line| frame_of(line, limit))
    }
}

fn frame_of(line: Line<'_>, limit: usize) -> Frame {
    match line {
        Line::Text(bytes) => Frame::parse(bytes),
        Line::TooLong => Frame::refused(Fault::parse(format!(
            "parse error: the line is longer than {limit} bytes; send less per message, \
             for example a reference to an artifact"
        ))),
    }
}
