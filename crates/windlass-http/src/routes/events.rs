//! The events of a run as an event stream (SSE): of the run in the path, or of the run that an
//! operation answers about.
//!
//! Each event's id is its place in the journal, so a client that was cut off goes on with
//! `Last-Event-ID` and misses nothing. What steps say in passing comes in between as `passing`
//! events without an id, and is not repeated. The stream ends with the run; asking again for the
//! stream of an ended run is answered 204, which tells an `EventSource` to stop. A reader that is
//! too slow is told so with a `closed` event that names the place to go on from.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    response::Response,
};
use futures::stream;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use serde_json::{Value, json};
use tokio::sync::watch;
use windlass_engine::{
    Engine,
    operation::{CallContext, CallRequest, OperationInfo},
    run::NoticeStream,
};
use windlass_types::{PassingNotice, Principal, Problem, RunId, RunRecord, Timestamp};

use crate::{call::call, failure::Failure, state::Shared};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Events read at a time, and how many bytes of them a stream has waiting for its client; one
/// event may be larger.
const PAGE: usize = 32;
const WAITING_BYTES: usize = 256 * 1024;
/// Events that are sent together have no more bytes than this.
const TOGETHER_BYTES: usize = 32 * 1024;
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A stream is ended after so long and taken up again by its client, so that a key which was
/// revoked in the meantime stops reading.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

pub(super) async fn stream(
    shared: Arc<Shared>,
    headers: &HeaderMap,
    mut input: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    let catalogue = &shared.state.catalogue;
    let mut start = cursor(headers)?;
    if let Some(last) = start.seen {
        input["after_seq"] = json!(last);
    }
    let request = CallRequest {
        operation: "runs.watch".to_owned(),
        input,
        context,
    };
    catalogue.authorize(&request).await?;
    let run_id: RunId = request.input["run_id"]
        .as_str()
        .unwrap_or_default()
        .parse()
        .map_err(|error| Problem::invalid("run_id", "format", format!("{error}")))?;
    start.after = request.input["after_seq"].as_u64().unwrap_or(0);
    Ok(follow(shared, run_id, request.context.principal, start).await?)
}

/// The events of the run that the operation's answer is about. Calling it first says whether there
/// is such a run, in the words of its contract.
pub(super) async fn of_answer(
    shared: Arc<Shared>,
    info: &OperationInfo,
    headers: &HeaderMap,
    input: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    let dress = |problem: Problem| Failure::from(problem).within(info, Value::Null);
    let start = cursor(headers).map_err(dress)?;
    let principal = context.principal.clone();
    let answer = call(&shared.state, &info.name, input, context).await?;
    let run_id = answer
        .run_id
        .ok_or_else(|| dress(Problem::internal(&info.name, "an answer without a run")))?;
    follow(shared, run_id, principal, start)
        .await
        .map_err(dress)
}

/// Where a stream begins.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// After this event.
    after: u64,
    /// The last event of an earlier stream that this one goes on from.
    seen: Option<u64>,
}

/// Where the caller was cut off, if it says so.
fn cursor(headers: &HeaderMap) -> Result<Start, Problem> {
    let Some(last) = headers.get(LAST_EVENT_ID) else {
        return Ok(Start::default());
    };
    let last: Option<u64> = last.to_str().ok().and_then(|text| text.trim().parse().ok());
    let last = last.ok_or_else(|| {
        Problem::invalid(
            "Last-Event-ID",
            "integer",
            "Last-Event-ID must be the id of an event of this stream",
        )
    })?;
    Ok(Start {
        after: last,
        seen: Some(last),
    })
}

/// The events of a run from some place on, for a caller who may see it.
async fn follow(
    shared: Arc<Shared>,
    run_id: RunId,
    principal: Principal,
    start: Start,
) -> Result<Response, Problem> {
    let engine = shared.state.catalogue.engine().clone();
    let record = engine.visible_run(&principal, &run_id).await?;
    let cursor = start.after;
    if cursor > record.last_seq {
        let message = format!(
            "event {cursor} is beyond the end of run {run_id}, which is {}",
            record.last_seq
        );
        return Err(Problem::invalid("after_seq", "maximum", message));
    }
    if start.seen.is_some() && has_ended(&record, cursor) {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NO_CONTENT;
        return Ok(response);
    }
    let until = engine.now().after(LIFETIME);
    let notices = engine.notices_of(&run_id);
    let reader = Reader {
        growth: engine.store.follow(&run_id),
        shared: Arc::clone(&shared),
        engine,
        principal,
        run_id,
        cursor,
        ended: false,
    };
    let follow = Follow {
        shared: Arc::clone(&shared),
        reader,
        notices,
        until,
        waiting: VecDeque::new(),
        sent: cursor,
        handed_over: None,
    };
    let body = Body::from_stream(stream::unfold(follow, |mut follow| async move {
        let chunk = follow.next().await?;
        Some((Ok::<_, Infallible>(chunk), follow))
    }));
    let mut response = Response::new(body);
    let out = response.headers_mut();
    out.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    out.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    out.insert(BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

fn has_ended(record: &RunRecord, cursor: u64) -> bool {
    record.state.is_final() && record.last_seq <= cursor
}

/// A reader of one journal. Not a task: it moves only when the client takes what it sends,
/// and is dropped with the connection.
struct Follow {
    shared: Arc<Shared>,
    reader: Reader,
    notices: NoticeStream,
    until: Timestamp,
    /// What was read and not yet sent, by its place.
    waiting: VecDeque<(u64, Bytes)>,
    /// The place of the last event that was sent.
    sent: u64,
    /// When the client was last given something.
    handed_over: Option<Instant>,
}

/// Where it is in the journal.
struct Reader {
    shared: Arc<Shared>,
    engine: Engine,
    principal: Principal,
    run_id: RunId,
    cursor: u64,
    growth: watch::Receiver<u64>,
    ended: bool,
}

/// What comes next.
enum Piece {
    Events(Vec<(u64, Bytes)>),
    Other(String),
}

impl Follow {
    /// The next piece of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        let slow = self.shared.state.slow_reader;
        if self.handed_over.is_some_and(|then| then.elapsed() > slow) && !self.reader.ended {
            return Some(self.close_slow());
        }
        let piece = match self.take_waiting() {
            Some(events) => Some(events),
            None => self.wait().await,
        };
        self.handed_over = Some(Instant::now());
        piece
    }

    async fn wait(&mut self) -> Option<Bytes> {
        let reader = &mut self.reader;
        if reader.ended || reader.engine.now() >= self.until {
            return None;
        }
        let closing = self.shared.state.closing.clone();
        let piece = tokio::select! {
            read = reader.read() => read.unwrap_or_else(|problem| Piece::Other(reader.fail(problem))),
            notice = self.notices.next() => Piece::Other(passing(&notice)),
            () = closing.cancelled() => return None,
        };
        match piece {
            Piece::Other(text) => Some(Bytes::from(text)),
            Piece::Events(events) => {
                self.waiting.extend(events);
                self.take_waiting()
            }
        }
    }

    /// What to send next of what was read: small events together, a large one by itself and
    /// without copying it.
    fn take_waiting(&mut self) -> Option<Bytes> {
        let (seq, first) = self.waiting.pop_front()?;
        self.sent = seq;
        let is_small = |event: &Bytes, before: usize| before + event.len() <= TOGETHER_BYTES;
        let follows = |waiting: &VecDeque<(u64, Bytes)>, before: usize| {
            let next = waiting.front();
            next.is_some_and(|(_, event)| is_small(event, before))
        };
        if !follows(&self.waiting, first.len()) {
            return Some(first);
        }
        let mut together = first.to_vec();
        while follows(&self.waiting, together.len())
            && let Some((seq, event)) = self.waiting.pop_front()
        {
            self.sent = seq;
            together.extend_from_slice(&event);
        }
        Some(Bytes::from(together))
    }

    /// Ends the stream of a client that did not take what it was sent.
    fn close_slow(&mut self) -> Bytes {
        self.reader.ended = true;
        self.waiting.clear();
        let data = json!({
            "reason": "slow_reader",
            "message": "this reader is too slow; reconnect with Last-Event-ID",
            "last_seq": self.sent,
        });
        Bytes::from(format!("event: closed\ndata: {data}\n\n"))
    }
}

/// A notice: without an id, so that the client's place in the journal stays where it is.
fn passing(notice: &PassingNotice) -> String {
    let data = serde_json::to_string(notice).unwrap_or_default();
    format!("event: passing\ndata: {data}\n\n")
}

impl Reader {
    /// The next events. May be dropped while it waits: it moves on only with what it gives back.
    async fn read(&mut self) -> Result<Piece, Problem> {
        let keep_alive = self.engine.now().after(KEEP_ALIVE);
        loop {
            self.growth.mark_unchanged();
            if let Some(piece) = self.read_now().await? {
                return Ok(piece);
            }
            let grown = tokio::select! {
                changed = self.growth.changed() => changed.is_ok(),
                () = self.engine.clock.sleep_until(keep_alive) => false,
            };
            if !grown {
                return Ok(Piece::Other(": keep-alive\n\n".to_owned()));
            }
        }
    }

    /// What the journal has beyond the cursor; `None` while there is nothing.
    async fn read_now(&mut self) -> Result<Option<Piece>, Problem> {
        let rendered = &self.shared.rendered;
        let _turn = rendered.turn().await;
        let record = self
            .engine
            .visible_run(&self.principal, &self.run_id)
            .await?;
        if has_ended(&record, self.cursor) {
            self.ended = true;
            let data = json!({ "state": record.state, "last_seq": record.last_seq });
            return Ok(Some(Piece::Other(format!("event: end\ndata: {data}\n\n"))));
        }
        drop(record);
        let mut events: Vec<(u64, Bytes)> = Vec::new();
        let mut bytes = 0;
        while bytes < WAITING_BYTES
            && let Some(known) = rendered.known(&self.run_id, self.cursor + 1)
        {
            self.cursor += 1;
            bytes += known.len();
            events.push((self.cursor, known));
        }
        if events.is_empty() {
            let (store, cursor) = (&self.engine.store, self.cursor);
            for event in store.events(&self.run_id, cursor, PAGE).await? {
                let seq = event.seq;
                let text = rendered.render(&self.engine, event)?;
                bytes += text.len();
                events.push((seq, text));
                self.cursor = seq;
                if bytes >= WAITING_BYTES {
                    break;
                }
            }
        }
        Ok((!events.is_empty()).then_some(Piece::Events(events)))
    }

    /// Says why the stream stops here.
    fn fail(&mut self, problem: Problem) -> String {
        self.ended = true;
        let problem = self.engine.redactor.redact_problem(problem);
        let data = serde_json::to_string(&problem).unwrap_or_default();
        format!("event: error\ndata: {data}\n\n")
    }
}
