//! The server: binds, takes connections, and lets go of them in order.
//!
//! HTTP/1.1 over plain TCP; TLS and HTTP/2 belong to a proxy in front. Not here: what is
//! served (the router) and who may be served (the guard).

mod bind;
mod connection;
mod places;
mod socket;

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::places::Places;
use crate::traffic::Traffic;

/// How to serve. Made by `HttpState::listen_options`, which checks that it may be.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    address: SocketAddr,
    closing: CancellationToken,
    traffic: Arc<Traffic>,
    /// Connections at once. One more takes the place of the connection that has waited longest for
    /// its client; where all are busy it may only ask for health and readiness.
    pub max_connections: usize,
    /// Connections at once from one address, or one IPv6 network; loopback is not counted.
    pub max_connections_per_address: usize,
    /// How long a client may take to send a request's head, and how long a connection may
    /// lie idle between requests.
    pub header_timeout: Duration,
    /// How long a client may take nothing of its answer.
    pub stall_timeout: Duration,
    /// How long requests under way may take when the server stops.
    pub drain_timeout: Duration,
}

impl ListenOptions {
    pub(crate) const fn new(
        address: SocketAddr,
        closing: CancellationToken,
        traffic: Arc<Traffic>,
    ) -> Self {
        Self {
            address,
            closing,
            traffic,
            max_connections: 1024,
            max_connections_per_address: 256,
            header_timeout: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Open mode on an address that others can reach.
    #[error(
        "refusing to serve without API keys on {address}, which other machines can reach; \
         listen on a loopback address or require keys"
    )]
    OpenToOthers {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Serves until `shutdown` resolves, then stops accepting, ends streams and finishes what is
/// under way. `bound` learns the address, which matters for port 0.
pub async fn serve(
    options: ListenOptions,
    router: Router,
    bound: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let listener = bind::bind(options.address).await?;
    let address = listener.local_addr().map_err(|source| ServeError::Bind {
        address: options.address,
        source,
    })?;
    tracing::info!(%address, "listening");
    bound(address);
    let mut connections = JoinSet::new();
    tokio::select! {
        () = accept(&options, &listener, &router, &mut connections) => {}
        () = shutdown => {}
    }
    // The port is free from here on; a successor may bind while this process still drains.
    drop(listener);
    tracing::info!(%address, connections = connections.len(), "stopping");
    options.closing.cancel();
    let drained = tokio::time::timeout(options.drain_timeout, async {
        while connections.join_next().await.is_some() {}
    });
    if drained.await.is_err() {
        tracing::warn!(
            left = connections.len(),
            "some requests did not end in time and are cut off"
        );
        connections.shutdown().await;
    }
    tracing::info!(%address, "stopped");
    Ok(())
}

async fn accept(
    options: &ListenOptions,
    listener: &TcpListener,
    router: &Router,
    connections: &mut JoinSet<()>,
) {
    let places = Places::new(options.max_connections, options.max_connections_per_address);
    loop {
        let (stream, peer) = next_connection(listener).await;
        let place = places.take(peer.ip()).await;
        // Reap what has ended, so that the set does not grow with history.
        while connections.try_join_next().is_some() {}
        connections.spawn(connection::serve(
            stream,
            peer,
            router.clone(),
            options.clone(),
            place,
        ));
        // Lets connections that had to give way close theirs, so that descriptors do not pile up.
        tokio::task::yield_now().await;
    }
}

/// The next connection, however long the system has trouble giving one.
async fn next_connection(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client was gone before we got to it.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
                ) => {}
            Err(error) => {
                // Out of file handles, most likely; trying again at once would only burn time.
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}
