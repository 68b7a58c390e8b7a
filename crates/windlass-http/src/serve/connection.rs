//! One connection: its limits, and its end.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::ConnectInfo,
    response::Response,
};
use http::{
    HeaderValue, StatusCode,
    header::{CONNECTION, RETRY_AFTER},
};
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tower::Service as _;
use windlass_types::{Problem, code};

use super::{
    ListenOptions,
    places::{Busy, Place, Use},
    socket::Socket,
};
use crate::{failure::Failure, guard::is_probe};

/// Above what the guard takes, so that its refusals are what a client sees of the limits.
const READ_BUFFER: usize = 64 * 1024;
const MAX_HEADERS: usize = 128;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub(super) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    options: ListenOptions,
    place: Place,
) {
    let _open = Arc::clone(&options.traffic).connection_begins();
    // Answers are written whole; waiting to fill a packet would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its default delay");
    }
    let activity = Arc::clone(&place.activity);
    let usage = place.usage;
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        let activity = Arc::clone(&activity);
        let busy = activity.begin();
        let mut router = router.clone();
        async move {
            let Some(busy) = busy else {
                return Ok(full());
            };
            if usage == Use::Probe && !is_probe(request.uri().path()) {
                return Ok(full());
            }
            request.extensions_mut().insert(ConnectInfo(peer));
            let has_body = !request.body().is_end_stream();
            let answer: Result<Response, Infallible> = router.call(request).await;
            answer.map(|response| {
                if has_body && response.status().is_client_error() {
                    activity.refused_early();
                }
                response.map(|body| Occupied::hold(body, busy))
            })
        }
    });
    let socket = Socket::new(stream, Arc::clone(&place.activity), options.stall_timeout);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_buf_size(READ_BUFFER)
        .max_headers(MAX_HEADERS)
        .keep_alive(usage == Use::Any)
        .serve_connection(TokioIo::new(socket), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = options.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            // One that has only begun to send a request would keep the server waiting.
            loop {
                tokio::select! {
                    ended = connection.as_mut() => break ended,
                    () = tokio::time::sleep(LOOK_AGAIN) => if place.activity.end_if_quiet() {
                        break Ok(());
                    },
                }
            }
        }
        () = place.activity.evicted.cancelled() => Ok(()),
    };
    if let Err(error) = ended {
        // Clients hang up, send half a request, or something that is no HTTP at all.
        tracing::debug!(%error, %peer, "a connection ended early");
    }
}

/// The answer where every place is taken.
fn full() -> Response {
    let problem = Problem::new(
        &code::BUSY,
        "the server has as many connections as it may have; try again",
    )
    .with("limit", "connections");
    let mut response = Failure::from(problem).respond("");
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// An answer's body; its connection is busy until all of it was handed over.
struct Occupied {
    body: Body,
    _busy: Busy,
}

impl Occupied {
    fn hold(body: Body, busy: Busy) -> Body {
        Body::new(Self { body, _busy: busy })
    }
}

impl HttpBody for Occupied {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
