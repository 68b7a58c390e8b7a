//! The data channel of a session: messages over a socket, in order, none lost, none twice.
//!
//! Implements the public protocol of Systems Manager's sessions: it opens the channel, answers the
//! handshake, acknowledges what comes and sends again what is not acknowledged. A session that
//! asks for encryption beyond TLS is refused. Receiving and taking are two calls, so that waiting
//! for a message may be given up and taking one is always done whole. Not here: what the bytes are.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::entropy::random;
use windlass_ports::{Clock, Entropy, MessageSocket, MessageSockets, SocketMessage};
use windlass_types::{Problem, Secret, Timestamp};

use crate::session::failure::{broken, encrypted, lost, silent};
use crate::session::message::{self, Kind, Message, Payload};

/// A version of the client from which on agents send what is understood here: connections
/// through one session are multiplexed.
const CLIENT_VERSION: &str = "1.2.0.0";
/// How many bytes agents send and take at once.
pub(crate) const PIECE: usize = 1024;
/// How many messages may wait for their acknowledgement before no more bytes are accepted.
const WINDOW: usize = 256;
/// How many early messages are kept; further ones are sent again.
const EARLY: usize = 10_000;
/// When a message is sent again, at first and at the longest. A machine that is not ready yet
/// does not acknowledge, so this is also how long it takes to notice that it is.
const FIRST_RESEND: Duration = Duration::from_millis(200);
const LONGEST_RESEND: Duration = Duration::from_secs(1);
/// So long it is tried.
const WAIT_LIMIT: Duration = Duration::from_secs(300);

/// Numbers in payloads that are flags.
pub(crate) mod flag {
    /// The session is to end.
    pub(crate) const TERMINATE: u32 = 2;
    /// The machine could not connect to the port.
    pub(crate) const CONNECT_FAILED: u32 = 3;
}

/// Where a session is, and what lets one in.
#[derive(Clone, Debug)]
pub struct Session {
    /// The address of its data channel, which may hold a token.
    pub url: Secret<String>,
    /// The token.
    pub token: Secret<String>,
}

/// The result of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The handshake is done: bytes may be sent.
    Ready,
    /// Bytes.
    Output(Vec<u8>),
    /// A flag.
    Flag(u32),
    /// The session has ended; with what the machine says to it, often nothing.
    Ended(String),
}

/// An open channel.
pub(crate) struct Channel<'a> {
    socket: Box<dyn MessageSocket>,
    clock: &'a dyn Clock,
    entropy: &'a dyn Entropy,
    /// The number of the next message to the other side.
    sent: i64,
    /// The number of the next message from it.
    expected: i64,
    /// What came before its turn.
    early: BTreeMap<i64, Message>,
    /// What may have to be sent again, oldest first.
    unacknowledged: VecDeque<Unacknowledged>,
}

struct Unacknowledged {
    sequence: i64,
    bytes: Vec<u8>,
    first_sent: Timestamp,
    again_at: Timestamp,
    pause: Duration,
}

impl<'a> Channel<'a> {
    /// Connects and says who it is. The handshake comes as events.
    pub(crate) async fn open(
        sockets: &dyn MessageSockets,
        clock: &'a dyn Clock,
        entropy: &'a dyn Entropy,
        session: &Session,
    ) -> Result<Self, Problem> {
        let socket = sockets.open(&session.url).await;
        let mut channel = Self {
            socket: socket.map_err(|failure| lost(&failure))?,
            clock,
            entropy,
            sent: 0,
            expected: 0,
            early: BTreeMap::new(),
            unacknowledged: VecDeque::new(),
        };
        let hello = json!({
            "MessageSchemaVersion": "1.0",
            "RequestId": channel.id(),
            "TokenValue": session.token.expose_secret(),
            "ClientId": channel.id(),
            "ClientVersion": CLIENT_VERSION,
        });
        channel.send(SocketMessage::Text(hello.to_string())).await?;
        Ok(channel)
    }

    /// Waits for what comes next; `None` once the other side has closed. May be given up.
    pub(crate) async fn receive(&mut self) -> Result<Option<SocketMessage>, Problem> {
        let received = self.socket.receive().await;
        received.map_err(|failure| lost(&failure))
    }

    /// Takes what was received; it must not be given up half way.
    pub(crate) async fn take(&mut self, received: SocketMessage) -> Result<Vec<Event>, Problem> {
        // Texts are none of the protocol's messages.
        let SocketMessage::Binary(bytes) = received else {
            return Ok(Vec::new());
        };
        let Some(message) = Message::read(&bytes) else {
            return Err(broken("a message cannot be read"));
        };
        let mut events = Vec::new();
        match message.kind {
            Kind::ChannelClosed => events.push(Event::Ended(close_reason(&message.payload))),
            Kind::Acknowledge => self.acknowledged(&message.payload),
            Kind::Input | Kind::Other => {}
            Kind::Output => {
                if message.sequence > self.expected && self.early.len() >= EARLY {
                    return Ok(events);
                }
                self.acknowledge(&message).await;
                // Messages are sent again until they are acknowledged: old ones are known already.
                if message.sequence >= self.expected {
                    self.early.insert(message.sequence, message);
                }
                while let Some(next) = self.early.remove(&self.expected) {
                    self.expected += 1;
                    events.extend(self.used(next).await?);
                }
            }
        }
        Ok(events)
    }

    async fn used(&mut self, message: Message) -> Result<Option<Event>, Problem> {
        Ok(match message.payload_kind {
            Payload::Output => Some(Event::Output(message.payload)),
            Payload::HandshakeRequest => {
                self.shake_hands(&message.payload).await?;
                None
            }
            Payload::HandshakeComplete => Some(Event::Ready),
            Payload::EncryptionChallenge => return Err(encrypted()),
            Payload::Flag => {
                let number = message.payload.try_into().map(u32::from_be_bytes);
                number.ok().map(Event::Flag)
            }
            Payload::HandshakeResponse | Payload::Size | Payload::None | Payload::Other => None,
        })
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
                        "the handshake requires {}",
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
        let response = response.to_string().into_bytes();
        self.say(Payload::HandshakeResponse, response).await
    }

    /// Sends bytes, in pieces.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        for piece in bytes.chunks(PIECE) {
            self.say(Payload::Output, piece.to_vec()).await?;
        }
        Ok(())
    }

    /// Raises a flag.
    pub(crate) async fn raise(&mut self, flag: u32) -> Result<(), Problem> {
        self.say(Payload::Flag, flag.to_be_bytes().to_vec()).await
    }

    /// Sends one message, which is sent again until it is acknowledged.
    pub(crate) async fn say(
        &mut self,
        payload_kind: Payload,
        payload: Vec<u8>,
    ) -> Result<(), Problem> {
        let now = self.clock.now();
        let message = Message {
            kind: Kind::Input,
            created: now.as_millis(),
            sequence: self.sent,
            // The first of a stream is marked.
            flags: u64::from(self.sent == 0),
            id: random(self.entropy),
            payload_kind,
            payload,
        };
        let bytes = message.write();
        self.unacknowledged.push_back(Unacknowledged {
            sequence: self.sent,
            bytes: bytes.clone(),
            first_sent: now,
            again_at: now.after(FIRST_RESEND),
            pause: FIRST_RESEND,
        });
        self.sent += 1;
        self.send(SocketMessage::Binary(bytes)).await
    }

    /// Whether bytes may be taken on, or the other side has enough to do.
    pub(crate) fn has_room(&self) -> bool {
        self.unacknowledged.len() < WINDOW
    }

    /// When the oldest message is due again; [`Self::send_again`] is to be called then.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.unacknowledged.front().map(|oldest| oldest.again_at)
    }

    /// Sends the oldest message again, if it is due.
    pub(crate) async fn send_again(&mut self) -> Result<(), Problem> {
        let now = self.clock.now();
        let Some(oldest) = self.unacknowledged.front_mut() else {
            return Ok(());
        };
        if oldest.again_at > now {
            return Ok(());
        }
        if now.since(oldest.first_sent) > WAIT_LIMIT {
            return Err(silent());
        }
        oldest.pause = (oldest.pause * 2).min(LONGEST_RESEND);
        oldest.again_at = now.after(oldest.pause);
        let bytes = oldest.bytes.clone();
        self.send(SocketMessage::Binary(bytes)).await
    }

    fn acknowledged(&mut self, payload: &[u8]) {
        let content: Value = serde_json::from_slice(payload).unwrap_or_default();
        let number = content.get("AcknowledgedMessageSequenceNumber");
        if let Some(number) = number.and_then(Value::as_i64) {
            self.unacknowledged.retain(|sent| sent.sequence != number);
        }
    }

    async fn acknowledge(&mut self, taken: &Message) {
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
        // A side that has closed may have said all it had to say before: that is still read, and
        // further reads show whether the connection is gone.
        let _ = self.send(SocketMessage::Binary(message.write())).await;
    }

    async fn send(&mut self, message: SocketMessage) -> Result<(), Problem> {
        let sent = self.socket.send(message).await;
        sent.map_err(|failure| lost(&failure))
    }

    fn id(&self) -> String {
        message::uuid(&random(self.entropy))
    }
}

/// What a machine says when it ends a session.
fn close_reason(payload: &[u8]) -> String {
    let content: Value = serde_json::from_slice(payload).unwrap_or_default();
    let said = content.get("Output").and_then(Value::as_str);
    said.unwrap_or_default().trim().to_owned()
}

/// Resolves at the given time; never without one.
pub(crate) async fn until(clock: &dyn Clock, moment: Option<Timestamp>) {
    match moment {
        Some(moment) => clock.sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
