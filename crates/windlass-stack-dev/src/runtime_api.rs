//! The Lambda Runtime API for one process of one function: events out, answers in.
//!
//! Bound to loopback on a port of its own, because runtimes know the API by host and port alone.
//! Not here: starting and ending the process (function).

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path as Segment, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;
use windlass_ports::Clock;
use windlass_types::Problem;

use crate::lock::locked;
use crate::place;

/// The most a function may answer.
const ANSWER_BYTES: usize = 6 << 20;

/// An error as a runtime reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FunctionError {
    pub error_type: String,
    pub error_message: String,
    /// Frames of Node, the innermost first.
    pub trace: Vec<String>,
    /// Frames of Python, the innermost last.
    pub stack_trace: Vec<String>,
}

impl FunctionError {
    /// What it says, in one line, after the place in the project's own code.
    pub fn located(&self, project: &Path) -> String {
        let frames = self.trace.iter().chain(self.stack_trace.iter().rev());
        let place = place::first_in(frames.map(String::as_str), project);
        let said = self.error_message.lines().next().unwrap_or_default();
        match place {
            Some(place) => format!("{place}: {}: {said}", self.error_type),
            None => format!("{}: {said}", self.error_type),
        }
    }
}

/// Why an invocation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InvokeFailure {
    /// The handler failed.
    Function(FunctionError),
    /// It took longer than the function's timeout.
    Timeout(Duration),
    /// Its process ended in the meantime.
    Exited,
    /// There is no process to ask; says why.
    Unavailable(String),
}

impl std::fmt::Display for InvokeFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Function(error) => {
                write!(formatter, "{}: {}", error.error_type, error.error_message)
            }
            Self::Timeout(after) => write!(formatter, "timed out after {} s", after.as_secs_f64()),
            Self::Exited => formatter.write_str("the process ended before it answered"),
            Self::Unavailable(why) => formatter.write_str(why),
        }
    }
}

type Reply = oneshot::Sender<Result<Bytes, InvokeFailure>>;

struct Waiting {
    id: String,
    event: Bytes,
    trace: String,
    handed: oneshot::Sender<()>,
    reply: Reply,
}

/// How far the process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Init {
    /// It has not asked for work yet.
    Running,
    /// It asks for work.
    Done,
    /// It could not load its handler.
    Failed(FunctionError),
}

struct Shared {
    clock: Arc<dyn Clock>,
    arn: String,
    timeout: Duration,
    waiting: Mutex<VecDeque<Waiting>>,
    given: Mutex<Option<(String, Reply)>>,
    arrived: Notify,
    init: watch::Sender<Init>,
    closed: CancellationToken,
}

/// A running API. It is closed when this is dropped.
pub(crate) struct RuntimeApi {
    shared: Arc<Shared>,
    address: String,
}

impl RuntimeApi {
    /// Listens on a free port of loopback.
    pub async fn listen(
        clock: Arc<dyn Clock>,
        arn: String,
        timeout: Duration,
    ) -> Result<Self, Problem> {
        let fault = |error| Problem::internal("dev runtime API", error);
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(fault)?;
        let address = listener.local_addr().map_err(fault)?.to_string();
        let shared = Arc::new(Shared {
            clock,
            arn,
            timeout,
            waiting: Mutex::default(),
            given: Mutex::default(),
            arrived: Notify::new(),
            init: watch::channel(Init::Running).0,
            closed: CancellationToken::new(),
        });
        let base = "/2018-06-01/runtime";
        let router = Router::new()
            .route(&format!("{base}/invocation/next"), get(next))
            .route(
                &format!("{base}/invocation/{{id}}/response"),
                post(response),
            )
            .route(&format!("{base}/invocation/{{id}}/error"), post(error))
            .route(&format!("{base}/init/error"), post(init_error))
            .layer(DefaultBodyLimit::max(ANSWER_BYTES))
            .with_state(shared.clone());
        let closed = shared.closed.clone();
        tokio::spawn(async move {
            let serving = axum::serve(listener, router);
            tokio::select! {
                // An error of the listener shows as a function that never asks for work.
                _ = async { serving.await } => {}
                () = closed.cancelled() => {}
            }
        });
        Ok(Self { shared, address })
    }

    /// Host and port, as `AWS_LAMBDA_RUNTIME_API` has them.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Resolves when the process asked for work or gave up.
    pub async fn initialised(&self) -> Init {
        let mut init = self.shared.init.subscribe();
        match init.wait_for(|state| *state != Init::Running).await {
            Ok(state) => state.clone(),
            Err(_) => Init::Running,
        }
    }

    /// Hands an event to the process and waits for the answer; nothing when the process ended
    /// before it took the event, which may then be given to another one. The time a function
    /// has begins when its process takes the event.
    pub async fn invoke(
        &self,
        id: String,
        trace: String,
        event: Bytes,
    ) -> Option<Result<Bytes, InvokeFailure>> {
        let (handed, was_handed) = oneshot::channel();
        let (reply, answered) = oneshot::channel();
        locked(&self.shared.waiting).push_back(Waiting {
            id,
            event,
            trace,
            handed,
            reply,
        });
        self.shared.arrived.notify_one();
        if self.shared.closed.is_cancelled() {
            // Closed before the event was added: nobody else takes it out again.
            locked(&self.shared.waiting).clear();
        }
        was_handed.await.ok()?;
        Some(
            match tokio::time::timeout(self.shared.timeout, answered).await {
                Ok(answer) => answer.unwrap_or(Err(InvokeFailure::Exited)),
                Err(_) => Err(InvokeFailure::Timeout(self.shared.timeout)),
            },
        )
    }

    /// The process ended: nobody will answer any more.
    pub fn close(&self) {
        self.shared.closed.cancel();
        locked(&self.shared.waiting).clear();
        locked(&self.shared.given).take();
    }

    /// Whether an event is being worked on or waits.
    pub fn is_idle(&self) -> bool {
        locked(&self.shared.waiting).is_empty() && locked(&self.shared.given).is_none()
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.close();
    }
}

async fn next(State(shared): State<Arc<Shared>>) -> Response {
    shared.init.send_replace(Init::Done);
    let waiting = loop {
        let arrived = shared.arrived.notified();
        if let Some(waiting) = locked(&shared.waiting).pop_front() {
            break waiting;
        }
        arrived.await;
    };
    let deadline = shared.clock.now().after(shared.timeout);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", waiting.id.clone()),
        (
            "lambda-runtime-deadline-ms",
            deadline.as_millis().to_string(),
        ),
        ("lambda-runtime-invoked-function-arn", shared.arn.clone()),
        ("lambda-runtime-trace-id", waiting.trace),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    *locked(&shared.given) = Some((waiting.id, waiting.reply));
    // The caller may have gone; the process then works for nobody, as on AWS.
    let _ = waiting.handed.send(());
    (headers, waiting.event).into_response()
}

/// Answers the event that was given out, if it is this one.
fn answer(shared: &Shared, id: &str, outcome: Result<Bytes, InvokeFailure>) -> Response {
    let mut given = locked(&shared.given);
    if given.as_ref().is_none_or(|(current, _)| current != id) {
        let body = json!({ "errorType": "InvalidRequestID", "errorMessage": "no event with this id is being worked on" });
        return (StatusCode::BAD_REQUEST, axum::Json(body)).into_response();
    }
    if let Some((_, reply)) = given.take() {
        // Nobody waits for an answer after the timeout.
        let _ = reply.send(outcome);
    }
    accepted()
}

fn accepted() -> Response {
    (StatusCode::ACCEPTED, axum::Json(json!({ "status": "OK" }))).into_response()
}

async fn response(
    State(shared): State<Arc<Shared>>,
    Segment(id): Segment<String>,
    body: Bytes,
) -> Response {
    answer(&shared, &id, Ok(body))
}

async fn error(
    State(shared): State<Arc<Shared>>,
    Segment(id): Segment<String>,
    body: Bytes,
) -> Response {
    answer(
        &shared,
        &id,
        Err(InvokeFailure::Function(read_error(&body))),
    )
}

async fn init_error(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    shared.init.send_replace(Init::Failed(read_error(&body)));
    accepted()
}

/// Runtimes differ in what they report; what cannot be read is shown as it is.
fn read_error(body: &[u8]) -> FunctionError {
    serde_json::from_slice(body).unwrap_or_else(|_| FunctionError {
        error_type: "Error".to_owned(),
        error_message: String::from_utf8_lossy(body).into_owned(),
        ..FunctionError::default()
    })
}

#[cfg(test)]
#[path = "runtime_api_tests.rs"]
mod tests;
