//! WebSockets behind the `MessageSockets` port.
//!
//! The connection is opened by the same guarded HTTP client as everything else that goes out, so
//! the address policy, the lookup and the verification of certificates are the same; after the
//! handshake the frames are tungstenite's. Not here: what the messages say.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{SinkExt as _, StreamExt as _};
use reqwest::{Client, StatusCode, Upgraded, header};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        handshake::{client::generate_key, derive_accept_key},
        protocol::{Role, WebSocketConfig},
    },
};
use windlass_ports::{
    BoxFuture, MessageSocket, MessageSockets, OutboundError, SocketFailure, SocketMessage,
};
use windlass_types::Secret;

use crate::{
    OutboundPolicy,
    outbound::{CONNECT_TIMEOUT, explain, guarded},
    resolver::{Found, GuardedResolver, Lookup, SystemLookup},
};

/// From the first byte to the answer to the handshake.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);
/// A larger message is not taken: what is sent here is output in pieces.
const MAX_MESSAGE: usize = 4 << 20;
/// So long a connection is quiet before the other side is pinged: what stands between forgets
/// connections on which nothing is sent.
const QUIET: Duration = Duration::from_secs(60);

/// WebSockets under a policy.
pub struct WebSockets {
    policy: OutboundPolicy,
    /// Whether `ws` to this machine is allowed where plain http is not.
    plain_loopback: bool,
    /// How long a connection is quiet before the other side is pinged.
    quiet: Duration,
    lookup: Arc<dyn Lookup>,
    /// Built at first use: loading certificates takes longer than most commands.
    client: OnceLock<Result<Client, String>>,
}

impl WebSockets {
    /// Sockets to names as the operating system resolves them. `wss` is judged as https, `ws` as
    /// plain http.
    pub fn new(policy: OutboundPolicy) -> Self {
        Self::with_lookup(policy, SystemLookup)
    }

    /// The same with another lookup; for tests and split-horizon networks.
    pub fn with_lookup(policy: OutboundPolicy, lookup: impl Lookup) -> Self {
        Self {
            policy,
            plain_loopback: false,
            quiet: QUIET,
            lookup: Arc::new(lookup),
            client: OnceLock::new(),
        }
    }

    /// The same, with `ws` allowed to a loopback address that is written as such: an emulator's.
    /// Nothing that is sent there leaves this machine.
    #[must_use]
    pub fn with_plain_loopback(mut self, allowed: bool) -> Self {
        self.plain_loopback = allowed;
        self
    }

    fn client(&self) -> Result<&Client, OutboundError> {
        let built = self.client.get_or_init(|| {
            let resolver = GuardedResolver {
                policy: self.policy.clone(),
                lookup: Arc::clone(&self.lookup),
                found: Found::default(),
            };
            guarded(resolver, CONNECT_TIMEOUT)
                // The handshake is one of HTTP/1.1, and its connection is never used again.
                .http1_only()
                .pool_max_idle_per_host(0)
                .build()
                .map_err(|error| error.to_string())
        });
        built.as_ref().map_err(|cause| {
            OutboundError::Unreachable(format!("the HTTP client cannot start: {cause}"))
        })
    }

    async fn connect(&self, address: &str) -> Result<Upgraded, OutboundError> {
        let address = as_http(address)?;
        let policy = OutboundPolicy {
            allow_http: self.policy.allow_http || (self.plain_loopback && is_loopback(&address)),
            ..self.policy.clone()
        };
        let url = policy.check(&address)?;
        let key = generate_key();
        let response = self
            .client()?
            .get(url)
            .header(header::CONNECTION, "Upgrade")
            .header(header::UPGRADE, "websocket")
            .header(header::SEC_WEBSOCKET_VERSION, "13")
            .header(header::SEC_WEBSOCKET_KEY, &key)
            .send()
            .await
            .map_err(explain)?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(OutboundError::Unreachable(format!(
                "it answered {} where a WebSocket was asked for",
                response.status()
            )));
        }
        let accepted = response.headers().get(header::SEC_WEBSOCKET_ACCEPT);
        if accepted.is_none_or(|accepted| *accepted != derive_accept_key(key.as_bytes())) {
            return Err(OutboundError::Unreachable(
                "its answer does not match the request; it is not a WebSocket".to_owned(),
            ));
        }
        response.upgrade().await.map_err(explain)
    }
}

/// The address of the handshake, which is one of HTTP.
fn as_http(address: &str) -> Result<String, OutboundError> {
    for (socket, http) in [("wss://", "https://"), ("ws://", "http://")] {
        if let Some(rest) = address.strip_prefix(socket) {
            return Ok(format!("{http}{rest}"));
        }
    }
    Err(OutboundError::InvalidUrl(
        "a socket's address begins with wss://".to_owned(),
    ))
}

/// Whether an address names this machine by its number; a name could be resolved to anything.
fn is_loopback(address: &str) -> bool {
    let url: Option<reqwest::Url> = address.parse().ok();
    let host = url.and_then(|url| Some(url.host_str()?.trim_matches(['[', ']']).to_owned()));
    let number = host.and_then(|host| host.parse::<std::net::IpAddr>().ok());
    number.is_some_and(|number| number.is_loopback())
}

/// The host of an address, for messages; the rest may hold a token.
fn host(address: &str) -> String {
    let parsed = as_http(address).ok().and_then(|http| http.parse().ok());
    parsed
        .and_then(|url: reqwest::Url| Some(url.host_str()?.to_owned()))
        .unwrap_or_else(|| "the peer".to_owned())
}

impl MessageSockets for WebSockets {
    fn open<'a>(
        &'a self,
        url: &'a Secret<String>,
    ) -> BoxFuture<'a, Result<Box<dyn MessageSocket>, SocketFailure>> {
        Box::pin(async move {
            let address = url.expose_secret();
            let host = host(address);
            let failed = |cause: &dyn std::fmt::Display| SocketFailure {
                message: format!("{host}: {cause}"),
            };
            let upgraded = match tokio::time::timeout(OPEN_TIMEOUT, self.connect(address)).await {
                Ok(connected) => connected.map_err(|error| failed(&error))?,
                Err(_) => return Err(failed(&OutboundError::TimedOut(OPEN_TIMEOUT))),
            };
            let config = WebSocketConfig::default()
                .max_message_size(Some(MAX_MESSAGE))
                .max_frame_size(Some(MAX_MESSAGE));
            let stream =
                WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
            let quiet = self.quiet;
            Ok(Box::new(OpenSocket {
                host,
                stream,
                quiet,
            }) as Box<dyn MessageSocket>)
        })
    }
}

struct OpenSocket {
    host: String,
    stream: WebSocketStream<Upgraded>,
    quiet: Duration,
}

impl OpenSocket {
    fn failure(&self, error: &tungstenite::Error) -> SocketFailure {
        SocketFailure {
            message: format!("{}: {error}", self.host),
        }
    }
}

impl MessageSocket for OpenSocket {
    fn send(&mut self, message: SocketMessage) -> BoxFuture<'_, Result<(), SocketFailure>> {
        Box::pin(async move {
            let message = match message {
                SocketMessage::Text(text) => Message::text(text),
                SocketMessage::Binary(bytes) => Message::binary(bytes),
            };
            let sent = self.stream.send(message).await;
            sent.map_err(|error| self.failure(&error))
        })
    }

    fn receive(&mut self) -> BoxFuture<'_, Result<Option<SocketMessage>, SocketFailure>> {
        Box::pin(async move {
            loop {
                let next = tokio::time::timeout(self.quiet, self.stream.next()).await;
                let Ok(next) = next else {
                    let ping = self.stream.send(Message::Ping(Vec::new().into())).await;
                    ping.map_err(|error| self.failure(&error))?;
                    continue;
                };
                match next {
                    Some(Ok(Message::Text(text))) => {
                        return Ok(Some(SocketMessage::Text(text.as_str().to_owned())));
                    }
                    Some(Ok(Message::Binary(bytes))) => {
                        return Ok(Some(SocketMessage::Binary(bytes.to_vec())));
                    }
                    // The answer to a ping is sent by reading on.
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                    // Read to the end, so that the close is answered.
                    Some(Ok(Message::Close(_))) => {}
                    None
                    | Some(Err(
                        tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed,
                    )) => return Ok(None),
                    Some(Err(error)) => return Err(self.failure(&error)),
                }
            }
        })
    }
}

#[cfg(test)]
#[path = "sockets_tests.rs"]
mod tests;
