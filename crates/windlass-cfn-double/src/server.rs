//! The double over HTTP, on the loopback interface only.
//!
//! Every AWS service answers at the same address; `/_double/…` is the control endpoint. hyper is
//! used below axum because a cut connection must be closed without an answer.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;
use tower::ServiceExt as _;

use crate::command::Command;
use crate::control::{Control, Pace};
use crate::wire::{Outcome, Reply, Request};
use crate::world::World;

/// A template from a bucket is at most 1 MB; code packages are larger.
const BODY_LIMIT: usize = 256 * 1024 * 1024;

/// How a double is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// 0 takes any free port.
    pub port: u16,
    pub account: String,
    pub pace: Pace,
    /// Decides every generated id.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            port: 0,
            account: "123456789012".to_owned(),
            pace: Pace::Manual,
            seed: 1,
        }
    }
}

/// A CloudFormation of one's own.
pub struct Double;

/// A double that runs; it stops when this is dropped.
pub struct Handle {
    /// `http://127.0.0.1:PORT`, for `AWS_ENDPOINT_URL`.
    pub endpoint: String,
    pub control: Control,
    server: AbortOnDropHandle<()>,
}

impl Double {
    /// Starts a double on the loopback interface, inside the current tokio runtime.
    pub async fn start(options: Options) -> io::Result<Handle> {
        let control = Control::new(World::new(&options.account, options.seed), options.pace);
        serve_at(options.port, control).await
    }

    /// Starts a double in the state another one is in, at any free port.
    pub async fn copy(of: &Control) -> io::Result<Handle> {
        serve_at(0, of.copy()).await
    }
}

async fn serve_at(port: u16, control: Control) -> io::Result<Handle> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    let server: JoinHandle<()> = tokio::spawn(accept(listener, router(control.clone())));
    Ok(Handle {
        endpoint,
        control,
        server: AbortOnDropHandle::new(server),
    })
}

impl Handle {
    /// Waits as long as the double runs.
    pub async fn wait(self) {
        let _ = self.server.await;
    }
}

/// Marks an answer that must not be sent.
#[derive(Clone)]
struct CutHere;

/// Closes the connection without an answer.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("connection cut on request")
    }
}

impl std::error::Error for Cut {}

async fn accept(listener: TcpListener, router: Router) {
    // Connections end with the server.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, router.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, router: Router) {
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let router = router.clone();
        async move {
            let answered: Result<Response, Infallible> =
                router.oneshot(request.map(Body::new)).await;
            match answered {
                Ok(response) if response.extensions().get::<CutHere>().is_some() => Err(Cut),
                Ok(response) => Ok(response),
                Err(never) => match never {},
            }
        }
    });
    // A connection that ends badly concerns its client alone.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

fn router(control: Control) -> Router {
    Router::new()
        .route("/_double/state", get(state))
        .route("/_double/calls", get(calls))
        .route("/_double/{verb}", post(command))
        .fallback(aws)
        .with_state(control)
}

async fn state(State(control): State<Control>) -> Response {
    json_response(StatusCode::OK, &control.state())
}

async fn calls(State(control): State<Control>) -> Response {
    json_response(StatusCode::OK, &json!(control.calls()))
}

/// The body of `POST /_double/<verb>` is the command without its verb.
async fn command(
    State(control): State<Control>,
    Path(verb): Path<String>,
    body: axum::body::Bytes,
) -> Response {
    let parsed: Result<Value, _> = if body.is_empty() {
        Ok(json!({}))
    } else {
        serde_json::from_slice(&body)
    };
    let applied = parsed
        .map_err(|error| error.to_string())
        .and_then(|value| read_command(value, verb))
        .and_then(|command| control.apply(command));
    match applied {
        Ok(()) => json_response(StatusCode::OK, &json!({ "ok": true })),
        Err(message) => json_response(StatusCode::BAD_REQUEST, &json!({ "error": message })),
    }
}

fn read_command(mut value: Value, verb: String) -> Result<Command, String> {
    match &mut value {
        Value::Object(fields) => {
            fields.insert("do".to_owned(), Value::String(verb));
        }
        _ => return Err("the body must be a JSON object".to_owned()),
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    let body = value.to_string();
    (status, [("content-type", "application/json")], body).into_response()
}

async fn aws(State(control): State<Control>, request: HttpRequest) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let headers: BTreeMap<String, String> = parts
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    let request = Request {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers,
        body: body.to_vec(),
    };
    match control.handle(&request) {
        Outcome::Answer(reply) => response(reply),
        Outcome::Slow(ms, reply) => {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            response(reply)
        }
        Outcome::Cut => {
            let mut response = Response::new(Body::empty());
            response.extensions_mut().insert(CutHere);
            response
        }
    }
}

fn response(reply: Reply) -> Response {
    let mut builder = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        builder = builder.header(name, value);
    }
    builder
        .body(Body::from(reply.body))
        .unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}
