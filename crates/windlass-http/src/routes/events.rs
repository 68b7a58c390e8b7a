//! The events of a run as an event stream (SSE): of the run in the path, or of the run that an
//! operation answers about.
//!
//! Each event's id is its place in the journal, so a client that was cut off goes on with
//! `Last-Event-ID` and misses nothing. What steps say in passing comes in between as `passing`
//! events without an id, and is not repeated. The stream ends with the run; asking again for the
//! stream of an ended run is answered 204, which tells an `EventSource` to stop.

use std::{convert::Infallible, sync::Arc, time::Duration};

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
use windlass_engine::{
    Engine,
    operation::{CallContext, CallRequest, OperationInfo},
    run::{EventView, NoticeStream},
};
use windlass_types::{Json, PassingNotice, Principal, Problem, RunId, RunRecord, Timestamp};

use crate::{call::call, failure::Failure, state::Shared};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const PAGE: usize = 256;
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
    };
    let body = Body::from_stream(stream::unfold(follow, |mut follow| async move {
        let chunk = follow.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(chunk)), follow))
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
}

/// Where it is in the journal.
struct Reader {
    engine: Engine,
    principal: Principal,
    run_id: RunId,
    cursor: u64,
    ended: bool,
}

impl Follow {
    /// The next piece of the stream.
    async fn next(&mut self) -> Option<String> {
        let reader = &mut self.reader;
        if reader.ended || reader.engine.now() >= self.until {
            return None;
        }
        let closing = self.shared.state.closing.clone();
        tokio::select! {
            chunk = reader.read() => Some(chunk.unwrap_or_else(|problem| reader.fail(problem))),
            notice = self.notices.next() => Some(passing(&notice)),
            () = closing.cancelled() => None,
        }
    }
}

/// A notice: without an id, so that the client's place in the journal stays where it is.
fn passing(notice: &PassingNotice) -> String {
    let data = serde_json::to_string(notice).unwrap_or_default();
    format!("event: passing\ndata: {data}\n\n")
}

impl Reader {
    /// The next events. May be dropped while it waits: it moves on only with what it gives back.
    async fn read(&mut self) -> Result<String, Problem> {
        let record = self
            .engine
            .visible_run(&self.principal, &self.run_id)
            .await?;
        if has_ended(&record, self.cursor) {
            self.ended = true;
            let data = json!({ "state": record.state, "last_seq": record.last_seq });
            return Ok(format!("event: end\ndata: {data}\n\n"));
        }
        let events = self
            .engine
            .events_after(&self.run_id, self.cursor, PAGE, KEEP_ALIVE)
            .await?;
        if events.is_empty() {
            return Ok(": keep-alive\n\n".to_owned());
        }
        let mut chunk = String::new();
        for event in events {
            self.cursor = event.seq;
            let mut view = EventView::from(event);
            view.payload = Json::from(self.engine.redactor.redact_value(view.payload.value()));
            let data =
                serde_json::to_string(&view).map_err(|error| Problem::internal("event", error))?;
            chunk.push_str(&format!(
                "id: {}\nevent: {}\ndata: {data}\n\n",
                view.seq, view.event_type
            ));
        }
        Ok(chunk)
    }

    /// Says why the stream stops here.
    fn fail(&mut self, problem: Problem) -> String {
        self.ended = true;
        let problem = self.engine.redactor.redact_problem(problem);
        let data = serde_json::to_string(&problem).unwrap_or_default();
        format!("event: error\ndata: {data}\n\n")
    }
}
