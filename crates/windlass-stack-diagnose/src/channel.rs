//! The data channel of a remote session: messages over a socket, acknowledged, in order.
//!
//! Speaks the public protocol of Systems Manager's sessions as far as a command needs it: it opens
//! the channel, answers the handshake, takes output until its caller has seen enough. A session
//! that asks for encryption beyond TLS is refused. Not here: the socket (a port).

mod message;

use std::collections::BTreeMap;

use futures::future::{Either, select};
use serde_json::{Value, json};
use windlass_ports::entropy::random;
use windlass_ports::{Clock, Entropy, MessageSocket, MessageSockets, SocketFailure, SocketMessage};
use windlass_types::{Problem, Secret, Timestamp, code};

use message::{Kind, Message, Payload};

/// How much output is taken before the session is ended.
const BYTES: usize = 1 << 20;
/// A version of the client from which on agents send what is understood here.
const CLIENT_VERSION: &str = "1.2.0.0";

/// Where a session is, and what lets one in.
pub(crate) struct Session {
    pub(crate) url: Secret<String>,
    pub(crate) token: Secret<String>,
}

/// What was heard.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) output: Vec<u8>,
    /// There was more output than is taken.
    pub(crate) is_cut: bool,
    /// The time was up first.
    pub(crate) is_late: bool,
}

/// Listens until `enough` says so, the session ends or the time is up.
pub(crate) async fn listen(
    sockets: &dyn MessageSockets,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
    session: &Session,
    enough: &mut (dyn FnMut(&[u8]) -> bool + Send),
    deadline: Timestamp,
) -> Result<Heard, Problem> {
    let mut channel = Channel {
        socket: sockets
            .open(&session.url)
            .await
            .map_err(|failure| lost(&failure))?,
        clock,
        entropy,
        sent: 0,
        expected: 0,
        early: BTreeMap::new(),
        heard: Heard::default(),
    };
    channel.open(session).await?;
    loop {
        let late = clock.sleep_until(deadline);
        let received = match select(channel.socket.receive(), late).await {
            Either::Left((received, _)) => received.map_err(|failure| lost(&failure))?,
            Either::Right(_) => {
                channel.heard.is_late = true;
                return Ok(channel.heard);
            }
        };
        let Some(received) = received else {
            return Ok(channel.heard);
        };
        // Texts are none of the protocol's messages.
        let SocketMessage::Binary(bytes) = received else {
            continue;
        };
        let Some(message) = Message::read(&bytes) else {
            return Err(broken("a message cannot be read"));
        };
        let goes_on = channel.take(message).await?;
        if !goes_on || enough(&channel.heard.output) || channel.heard.is_cut {
            return Ok(channel.heard);
        }
    }
}

struct Channel<'a> {
    socket: Box<dyn MessageSocket>,
    clock: &'a dyn Clock,
    entropy: &'a dyn Entropy,
    /// The number of the next message to the other side.
    sent: i64,
    /// The number of the next message from it.
    expected: i64,
    /// What came before its turn.
    early: BTreeMap<i64, Message>,
    heard: Heard,
}

impl Channel<'_> {
    async fn open(&mut self, session: &Session) -> Result<(), Problem> {
        let hello = json!({
            "MessageSchemaVersion": "1.0",
            "RequestId": self.id(),
            "TokenValue": session.token.expose_secret(),
            "ClientId": self.id(),
            "ClientVersion": CLIENT_VERSION,
        });
        self.socket
            .send(SocketMessage::Text(hello.to_string()))
            .await
            .map_err(|failure| lost(&failure))
    }

    /// Takes a message; false once the session has ended.
    async fn take(&mut self, message: Message) -> Result<bool, Problem> {
        match message.kind {
            Kind::ChannelClosed => return Ok(false),
            Kind::Output => {}
            Kind::Input | Kind::Acknowledge | Kind::Other => return Ok(true),
        }
        self.acknowledge(&message).await?;
        // Messages are sent again until they are acknowledged: old ones are known already.
        if message.sequence >= self.expected {
            self.early.insert(message.sequence, message);
        }
        while let Some(next) = self.early.remove(&self.expected) {
            self.expected += 1;
            self.use_payload(next).await?;
        }
        Ok(true)
    }

    async fn use_payload(&mut self, message: Message) -> Result<(), Problem> {
        match message.payload_kind {
            Payload::Output => {
                let room = BYTES.saturating_sub(self.heard.output.len());
                self.heard.is_cut |= message.payload.len() > room;
                let taken = message.payload.len().min(room);
                self.heard
                    .output
                    .extend_from_slice(&message.payload[..taken]);
                Ok(())
            }
            Payload::HandshakeRequest => self.shake_hands(&message.payload).await,
            Payload::HandshakeComplete => {
                let size = json!({ "cols": 200, "rows": 50 }).to_string();
                self.say(Payload::Size, size.into_bytes()).await
            }
            Payload::EncryptionChallenge => Err(encrypted()),
            Payload::HandshakeResponse | Payload::Size | Payload::None | Payload::Other => Ok(()),
        }
    }

    async fn shake_hands(&mut self, payload: &[u8]) -> Result<(), Problem> {
        let request: Value =
            serde_json::from_slice(payload).map_err(|_| broken("the handshake cannot be read"))?;
        let mut processed = Vec::new();
        for action in request
            .get("RequestedClientActions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            match action.get("ActionType").and_then(Value::as_str) {
                Some("SessionType") => processed.push(json!({
                    "ActionType": "SessionType",
                    "ActionStatus": 1,
                    "ActionResult": null,
                    "Error": "",
                })),
                Some("KMSEncryption") => return Err(encrypted()),
                other => {
                    return Err(broken(&format!(
                        "the handshake wants {}",
                        other.unwrap_or("nothing known")
                    )));
                }
            }
        }
        let response = json!({
            "ClientVersion": CLIENT_VERSION,
            "ProcessedClientActions": processed,
            "Errors": [],
        });
        self.say(
            Payload::HandshakeResponse,
            response.to_string().into_bytes(),
        )
        .await
    }

    async fn say(&mut self, payload_kind: Payload, payload: Vec<u8>) -> Result<(), Problem> {
        let message = Message {
            kind: Kind::Input,
            created: self.clock.now().as_millis(),
            sequence: self.sent,
            // The first of a stream is marked.
            flags: u64::from(self.sent == 0),
            id: random(self.entropy),
            payload_kind,
            payload,
        };
        self.sent += 1;
        self.send(&message).await
    }

    async fn acknowledge(&mut self, taken: &Message) -> Result<(), Problem> {
        let payload = json!({
            "AcknowledgedMessageType": taken.kind.name(),
            "AcknowledgedMessageId": taken.id_text(),
            "AcknowledgedMessageSequenceNumber": taken.sequence,
            "IsSequentialMessage": true,
        });
        let message = Message {
            kind: Kind::Acknowledge,
            created: self.clock.now().as_millis(),
            sequence: 0,
            flags: 3,
            id: random(self.entropy),
            payload_kind: Payload::None,
            payload: payload.to_string().into_bytes(),
        };
        self.send(&message).await
    }

    async fn send(&mut self, message: &Message) -> Result<(), Problem> {
        self.socket
            .send(SocketMessage::Binary(message.write()))
            .await
            .map_err(|failure| lost(&failure))
    }

    fn id(&self) -> String {
        message::uuid(&random(self.entropy))
    }
}

/// Text of a terminal without its colours and cursor movements, lines ended by one character.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => match letters.next() {
                // Up to the letter that ends the sequence.
                Some('[') => {
                    while letters
                        .next()
                        .is_some_and(|part| !('@'..='~').contains(&part))
                    {}
                }
                Some(']') => while letters.next().is_some_and(|part| part != '\u{7}') {},
                _ => {}
            },
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            letter if letter.is_control() && !matches!(letter, '\n' | '\t') => {}
            letter => out.push(letter),
        }
    }
    out
}

fn lost(failure: &SocketFailure) -> Problem {
    Problem::new(
        &code::UPSTREAM_ERROR,
        format!("the session's connection failed: {failure}"),
    )
    .with("reason", "unreachable")
}

fn broken(cause: &str) -> Problem {
    Problem::new(
        &code::UPSTREAM_ERROR,
        format!("the session is not understood: {cause}"),
    )
    .with("reason", "bad_answer")
}

fn encrypted() -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        "the session wants encryption with a KMS key beside TLS, which is not spoken here",
    )
    .with("reason", "kms_session_encryption")
    .next("switch KMS encryption off in the cluster's execute-command configuration")
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
