//! A session with a scripted peer on the other end of the socket.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::json;
use windlass_ports::{BoxFuture, MessageSocket, SocketFailure, SocketMessage};
use windlass_testkit::{FakeClock, SeededEntropy};
use windlass_types::Secret;

use super::*;
use crate::session::message::{Kind, Message};

/// Gives the messages it was given, keeps what is sent.
#[derive(Clone, Default)]
struct Peer {
    gives: Arc<Mutex<VecDeque<Message>>>,
    got: Arc<Mutex<Vec<SocketMessage>>>,
    hangs: bool,
}

impl MessageSockets for Peer {
    fn open<'a>(
        &'a self,
        _: &'a Secret<String>,
    ) -> BoxFuture<'a, Result<Box<dyn MessageSocket>, SocketFailure>> {
        let socket: Box<dyn MessageSocket> = Box::new(self.clone());
        Box::pin(async move { Ok(socket) })
    }
}

impl MessageSocket for Peer {
    fn send(&mut self, message: SocketMessage) -> BoxFuture<'_, Result<(), SocketFailure>> {
        self.got.lock().unwrap().push(message);
        Box::pin(async { Ok(()) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Result<Option<SocketMessage>, SocketFailure>> {
        let next = self.gives.lock().unwrap().pop_front();
        let hangs = self.hangs;
        Box::pin(async move {
            match next {
                Some(message) => Ok(Some(SocketMessage::Binary(message.write()))),
                None if hangs => std::future::pending().await,
                None => Ok(None),
            }
        })
    }
}

fn output(sequence: i64, payload_kind: Payload, payload: &str) -> Message {
    Message {
        kind: Kind::Output,
        created: 0,
        sequence,
        flags: 0,
        id: [u8::try_from(sequence).unwrap(); 16],
        payload_kind,
        payload: payload.as_bytes().to_vec(),
    }
}

fn handshake(action: &str) -> Message {
    let request = json!({
        "AgentVersion": "3.3.0.0",
        "RequestedClientActions": [{ "ActionType": action, "ActionParameters": {} }],
    });
    output(0, Payload::HandshakeRequest, &request.to_string())
}

async fn heard(peer: &Peer) -> Result<Heard, Problem> {
    let clock = FakeClock::new();
    let session = Session {
        url: Secret::new("wss://x".to_owned()),
        token: Secret::new("token".to_owned()),
    };
    let deadline = clock.now();
    let deadline = if peer.hangs {
        deadline
    } else {
        deadline.after(std::time::Duration::from_secs(60))
    };
    let mut enough = |output: &[u8]| output.ends_with(b"done");
    listen(
        peer,
        &clock,
        &SeededEntropy::new(1),
        &session,
        &mut enough,
        deadline,
    )
    .await
}

fn peer(gives: impl IntoIterator<Item = Message>) -> Peer {
    Peer {
        gives: Arc::new(Mutex::new(gives.into_iter().collect())),
        ..Peer::default()
    }
}

#[tokio::test]
async fn output_comes_in_order_once_and_is_acknowledged() {
    let peer = peer([
        handshake("SessionType"),
        output(1, Payload::HandshakeComplete, "{}"),
        output(3, Payload::Output, "b"),
        output(2, Payload::Output, "a"),
        output(2, Payload::Output, "a"),
        output(4, Payload::Output, "done"),
        output(5, Payload::Output, "never read"),
    ]);
    let heard = heard(&peer).await.unwrap();
    assert_eq!(heard.output, b"abdone");
    assert!(!heard.is_cut && !heard.is_late);
    let got = peer.got.lock().unwrap();
    let SocketMessage::Text(hello) = &got[0] else {
        panic!("the first is text")
    };
    assert!(hello.contains("\"TokenValue\":\"token\""));
    let kinds: Vec<(Kind, Payload)> = got[1..]
        .iter()
        .map(|message| match message {
            SocketMessage::Binary(bytes) => {
                let message = Message::read(bytes).unwrap();
                (message.kind, message.payload_kind)
            }
            SocketMessage::Text(_) => panic!("text after the first message"),
        })
        .collect();
    let acknowledged = (Kind::Acknowledge, Payload::None);
    assert_eq!(
        kinds,
        [
            acknowledged,
            (Kind::Input, Payload::HandshakeResponse),
            acknowledged,
            (Kind::Input, Payload::Size),
            acknowledged,
            acknowledged,
            acknowledged,
            acknowledged,
        ]
    );
}

#[tokio::test]
async fn encryption_is_refused_and_an_end_is_an_end() {
    let refused = heard(&peer([handshake("KMSEncryption")]))
        .await
        .unwrap_err();
    assert_eq!(refused.details()["reason"], "kms_session_encryption");
    let unknown = heard(&peer([handshake("Dance")])).await.unwrap_err();
    assert_eq!(unknown.details()["reason"], "bad_answer");
    let mut closed = output(1, Payload::None, "");
    closed.kind = Kind::ChannelClosed;
    let ended = heard(&peer([output(0, Payload::Output, "x"), closed]))
        .await
        .unwrap();
    assert_eq!(ended.output, b"x");
    let hanging = Peer {
        hangs: true,
        ..peer([])
    };
    assert!(heard(&hanging).await.unwrap().is_late);
}
