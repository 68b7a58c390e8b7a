//! Sockets of messages (WebSocket) as a port: a few bytes or a text at a time, in order.
//!
//! Only what carries the messages. What they mean is the caller's: the one user is the data
//! channel of a remote session.

use futures::future::BoxFuture;
use windlass_types::Secret;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketMessage {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
}

/// Why there is no connection, or none any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SocketFailure {
    /// Host and cause; never the whole address, which may hold a token.
    pub message: String,
}

/// Opens connections.
pub trait MessageSockets: Send + Sync {
    /// Connects to a `wss://` address, certificate verified. The address holds a token.
    fn open<'a>(
        &'a self,
        url: &'a Secret<String>,
    ) -> BoxFuture<'a, Result<Box<dyn MessageSocket>, SocketFailure>>;
}

/// An open connection; dropped, it is closed.
pub trait MessageSocket: Send {
    /// Sends one message.
    fn send(&mut self, message: SocketMessage) -> BoxFuture<'_, Result<(), SocketFailure>>;

    /// The next message; `None` once the other side has closed. Pings are answered inside.
    fn receive(&mut self) -> BoxFuture<'_, Result<Option<SocketMessage>, SocketFailure>>;
}
