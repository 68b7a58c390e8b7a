//! One connection: its limits, and its end.

use std::{net::SocketAddr, pin::pin, sync::Arc};

use axum::{Router, extract::ConnectInfo};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tower::Service as _;

use super::ListenOptions;

/// Above what the guard takes, so that its refusals are what a client sees of the limits.
const READ_BUFFER: usize = 64 * 1024;
const MAX_HEADERS: usize = 128;

pub(super) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    options: ListenOptions,
) {
    let _open = Arc::clone(&options.traffic).connection_begins();
    // Answers are written whole; waiting to fill a packet would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its default delay");
    }
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_buf_size(READ_BUFFER)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = options.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Clients hang up, send half a request, or something that is no HTTP at all.
        tracing::debug!(%error, %peer, "a connection ended early");
    }
}
