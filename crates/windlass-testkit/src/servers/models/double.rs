//! The double: a request in, an answer out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use windlass_ports::{
    BoxFuture, Outbound, OutboundError, OutboundRequest, OutboundResponse, OutboundStream,
    WireFormat,
};

use super::script::{ModelTurn, Scripted, Trouble};
use super::strict::Refusal;
use super::{chat, gemini, messages, responses};

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// The path, with what is behind the question mark.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub bytes: Vec<u8>,
    /// The body.
    pub body: Value,
    /// Why it was refused, if it was: the status and the words.
    pub refused: Option<(u16, String)>,
}

impl SeenRequest {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What goes back.
pub(super) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The body, in pieces.
    pub pieces: Vec<Vec<u8>>,
    /// Whether the connection breaks behind them.
    pub is_broken: bool,
}

/// A model's server without a socket. Clones share everything.
#[derive(Clone)]
pub struct ModelDouble {
    wire: WireFormat,
    state: Arc<Mutex<State>>,
}

struct State {
    script: VecDeque<Scripted>,
    seen: Vec<SeenRequest>,
    seed: u64,
}

impl ModelDouble {
    /// A double that answers so, in order. When it has no answer left, it refuses.
    pub fn new<S: Into<Scripted>>(wire: WireFormat, script: impl IntoIterator<Item = S>) -> Self {
        Self {
            wire,
            state: Arc::new(Mutex::new(State {
                script: script.into_iter().map(Into::into).collect(),
                seen: Vec::new(),
                seed: 1,
            })),
        }
    }

    /// Other places where answers are cut into pieces.
    pub fn seed(&self, seed: u64) {
        self.lock().seed = seed;
    }

    /// Answers these, too.
    pub fn then<S: Into<Scripted>>(&self, script: impl IntoIterator<Item = S>) {
        self.lock()
            .script
            .extend(script.into_iter().map(Into::into));
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.lock().seen.clone()
    }

    /// The requests that were refused as the real server would, with why.
    pub fn refused(&self) -> Vec<String> {
        let refused = self.seen().into_iter().filter_map(|seen| seen.refused);
        refused
            .map(|(status, said)| format!("{status} {said}"))
            .collect()
    }

    /// The bytes of a stream that says this.
    pub fn stream_of(wire: WireFormat, turn: &ModelTurn) -> Vec<u8> {
        events(wire, turn).concat().into_bytes()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while it was held")
    }

    pub(super) fn answer(
        &self,
        path: String,
        headers: Vec<(String, String)>,
        bytes: Vec<u8>,
    ) -> Answer {
        let lower = |(name, value): (String, String)| (name.to_ascii_lowercase(), value);
        let mut seen = SeenRequest {
            path,
            headers: headers.into_iter().map(lower).collect(),
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            bytes,
            refused: None,
        };
        let checked = match self.wire {
            WireFormat::ChatCompletions => chat::check(&seen),
            WireFormat::Responses => responses::check(&seen),
            WireFormat::Messages => messages::check(&seen),
            WireFormat::Gemini => gemini::check(&seen),
        };
        let is_streamed = match self.wire {
            WireFormat::Gemini => seen.path.ends_with(":streamGenerateContent?alt=sse"),
            _ => seen.body["stream"] == true,
        };
        if let Err(refusal) = &checked {
            seen.refused = Some((refusal.status, refusal.said.clone()));
        }
        let mut state = self.lock();
        state.seen.push(seen);
        state.seed = state
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        let seed = state.seed;
        if let Err(refusal) = checked {
            return self.refuse(refusal);
        }
        let Some(next) = state.script.pop_front() else {
            return self.refuse(Refusal::new(
                400,
                "invalid_request_error",
                "the script of this double has ended",
            ));
        };
        match next {
            Scripted::Turn(turn) => match is_streamed {
                true => streamed(events(self.wire, &turn).concat().as_bytes(), seed),
                false => whole(&self.body(&turn)),
            },
            Scripted::Troubled(turn, trouble) => self.troubled(&turn, trouble, seed),
            Scripted::Status(status, headers, body) => {
                let mut answer = self.refuse(Refusal::new(status, kind(status), words(status)));
                // The first of a name counts.
                answer.headers.splice(0..0, headers);
                if !body.is_empty() {
                    answer.pieces = vec![body.into_bytes()];
                }
                answer
            }
        }
    }

    fn troubled(&self, turn: &ModelTurn, trouble: Trouble, seed: u64) -> Answer {
        let events = events(self.wire, turn);
        let all = events.concat().into_bytes();
        match trouble {
            Trouble::Broken(after) => Answer {
                is_broken: true,
                ..streamed(&all[..after.min(all.len())], seed)
            },
            Trouble::EndsEarly(after) => streamed(&all[..after.min(all.len())], seed),
            Trouble::Overloaded(after) | Trouble::Invalid(after) => {
                let refusal = match trouble {
                    Trouble::Invalid(_) => Refusal::new(400, kind(400), words(400)),
                    _ => Refusal::new(529, kind(529), words(529)),
                };
                let mut text = events[..after.min(events.len())].concat();
                text.push_str(&self.error_event(&refusal));
                streamed(text.as_bytes(), seed)
            }
        }
    }

    fn body(&self, turn: &ModelTurn) -> Value {
        match self.wire {
            WireFormat::ChatCompletions => chat::whole(turn),
            WireFormat::Responses => responses::whole(turn),
            WireFormat::Messages => messages::whole(turn),
            WireFormat::Gemini => gemini::whole(turn),
        }
    }

    fn error_event(&self, refusal: &Refusal) -> String {
        let error = self.error(refusal);
        match self.wire {
            WireFormat::ChatCompletions | WireFormat::Gemini => format!("data: {error}\n\n"),
            WireFormat::Messages => format!("event: error\ndata: {error}\n\n"),
            WireFormat::Responses => {
                let event = json!({
                    "type": "error",
                    "sequence_number": 99,
                    "code": error["error"]["code"],
                    "message": refusal.said,
                    "param": refusal.param,
                });
                format!("event: error\ndata: {event}\n\n")
            }
        }
    }

    fn error(&self, refusal: &Refusal) -> Value {
        let Refusal {
            status,
            kind,
            said,
            param,
        } = refusal;
        match self.wire {
            WireFormat::Messages => json!({
                "type": "error",
                "error": { "type": kind, "message": said },
                "request_id": "req_1",
            }),
            WireFormat::ChatCompletions | WireFormat::Responses => {
                let code = match *status {
                    400 => json!("invalid_prompt"),
                    401 => json!("invalid_api_key"),
                    529 => json!("server_error"),
                    _ => Value::Null,
                };
                let code = match self.wire {
                    WireFormat::ChatCompletions if *status == 400 => Value::Null,
                    _ => code,
                };
                json!({ "error": {
                    "message": said, "type": kind, "param": param, "code": code,
                } })
            }
            WireFormat::Gemini => {
                let word = match *status {
                    400 => "INVALID_ARGUMENT",
                    401 => "UNAUTHENTICATED",
                    403 => "PERMISSION_DENIED",
                    404 => "NOT_FOUND",
                    429 => "RESOURCE_EXHAUSTED",
                    529 | 503 => "UNAVAILABLE",
                    _ => "INTERNAL",
                };
                let code = match *status {
                    529 => 503,
                    other => other,
                };
                json!({ "error": { "code": code, "message": said, "status": word } })
            }
        }
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        Answer {
            status: refusal.status,
            ..whole(&self.error(&refusal))
        }
    }
}

fn events(wire: WireFormat, turn: &ModelTurn) -> Vec<String> {
    match wire {
        WireFormat::ChatCompletions => chat::events(turn),
        WireFormat::Responses => responses::events(turn),
        WireFormat::Messages => messages::events(turn),
        WireFormat::Gemini => gemini::events(turn),
    }
}

const fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

const fn words(status: u16) -> &'static str {
    match status {
        401 => "this key is not valid",
        404 => "this model does not exist",
        413 => "this request is too large",
        429 => "slow down",
        503 | 529 => "Overloaded",
        500.. => "something broke here",
        _ => "this is not right",
    }
}

fn whole(body: &Value) -> Answer {
    Answer {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        pieces: vec![body.to_string().into_bytes()],
        is_broken: false,
    }
}

fn streamed(bytes: &[u8], seed: u64) -> Answer {
    Answer {
        status: 200,
        headers: vec![(
            "content-type".to_owned(),
            "text/event-stream; charset=utf-8".to_owned(),
        )],
        pieces: cut(bytes, seed),
        is_broken: false,
    }
}

/// The bytes in pieces of 1 to 97, at places that the seed decides.
fn cut(mut bytes: &[u8], mut seed: u64) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let size = usize::try_from((seed >> 33) % 97).unwrap_or_default() + 1;
        let (piece, rest) = bytes.split_at(size.min(bytes.len()));
        pieces.push(piece.to_vec());
        bytes = rest;
    }
    pieces
}

impl Outbound for ModelDouble {
    fn send(
        &self,
        request: OutboundRequest,
    ) -> BoxFuture<'_, Result<OutboundResponse, OutboundError>> {
        let answer = self.ask(request);
        Box::pin(async move {
            Ok(OutboundResponse {
                status: answer.status,
                headers: answer.headers,
                body: answer.pieces.concat(),
                address: None,
            })
        })
    }

    fn send_streaming(
        &self,
        request: OutboundRequest,
        _: usize,
    ) -> BoxFuture<'_, Result<OutboundStream, OutboundError>> {
        let answer = self.ask(request);
        let end = answer.is_broken.then(|| {
            Err(OutboundError::Unreachable(
                "the connection was reset".to_owned(),
            ))
        });
        let pieces = answer.pieces.into_iter().map(Ok).chain(end);
        Box::pin(async move {
            Ok(OutboundStream {
                status: answer.status,
                headers: answer.headers,
                body: stream::iter(pieces).boxed(),
            })
        })
    }

    fn check(&self, _: &str) -> Result<(), OutboundError> {
        Ok(())
    }
}

impl ModelDouble {
    fn ask(&self, request: OutboundRequest) -> Answer {
        let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
        self.answer(format!("/{path}"), request.headers, request.body)
    }
}
