//! One session from the agent's side: handshake, then a connection or a command.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::process::Command;
use tokio::sync::mpsc;
use windlass_ports::SocketMessage;

use super::wire::{self, Message};
use super::{Place, State};

/// How many bytes are sent at once.
const PIECE: usize = 1024;

/// What happens besides messages of the client.
enum Happened {
    Bytes(Vec<u8>),
    Closed,
}

type Writer = Box<dyn AsyncWrite + Send + Unpin>;
type Reader = Box<dyn AsyncRead + Send + Unpin>;

pub(super) async fn serve(
    state: Arc<State>,
    token: String,
    input: Value,
    mut from_client: mpsc::UnboundedReceiver<SocketMessage>,
    to_client: mpsc::UnboundedSender<SocketMessage>,
) {
    let Some(SocketMessage::Text(hello)) = from_client.recv().await else {
        return;
    };
    let hello: Value = serde_json::from_str(&hello).unwrap();
    assert_eq!(hello["TokenValue"], token, "the token of the session");
    let (happens, mut happened) = mpsc::unbounded_channel();
    let ignores = state.manner.ignores;
    let mut side = Side {
        state,
        input,
        to_client,
        happens,
        sent: 0,
        expected: 0,
        early: BTreeMap::new(),
        ignores,
        is_ready: false,
        pending: Vec::new(),
        stream: None,
        writer: None,
        withheld: None,
    };
    side.greet();
    loop {
        let goes_on = tokio::select! {
            message = from_client.recv() => match message {
                Some(SocketMessage::Binary(bytes)) => side.take(wire::read(&bytes)).await,
                Some(SocketMessage::Text(_)) => panic!("text after the first message"),
                None => false,
            },
            Some(event) = happened.recv() => side.happened(event),
        };
        if !goes_on {
            return;
        }
    }
}

struct Side {
    state: Arc<State>,
    input: Value,
    to_client: mpsc::UnboundedSender<SocketMessage>,
    happens: mpsc::UnboundedSender<Happened>,
    sent: i64,
    expected: i64,
    early: BTreeMap<i64, Message>,
    ignores: usize,
    is_ready: bool,
    /// Bytes that are not a whole frame yet.
    pending: Vec<u8>,
    stream: Option<u32>,
    writer: Option<Writer>,
    /// What waits until the client has answered a sign of life.
    withheld: Option<Vec<u8>>,
}

impl Side {
    fn is_port(&self) -> bool {
        self.input["DocumentName"] == "AWS-StartPortForwardingSessionToRemoteHost"
    }

    fn greet(&mut self) {
        let kind = match self.is_port() {
            true => {
                json!({ "SessionType": "Port", "Properties": { "type": "LocalPortForwarding" } })
            }
            false => json!({ "SessionType": "InteractiveCommands" }),
        };
        let mut actions = vec![json!({ "ActionType": "SessionType", "ActionParameters": kind })];
        let wants = self.state.manner.wants.iter();
        actions.extend(wants.map(|it| json!({ "ActionType": it, "ActionParameters": {} })));
        let request = json!({ "AgentVersion": "3.3.3050.0", "RequestedClientActions": actions });
        self.send(wire::HANDSHAKE_REQUEST, request.to_string().as_bytes());
    }

    /// Sends in pieces, in this agent's manner.
    fn send(&mut self, payload_kind: u32, bytes: &[u8]) {
        let size = match payload_kind {
            wire::OUTPUT => PIECE,
            _ => usize::MAX,
        };
        let mut messages = Vec::new();
        for piece in bytes.chunks(size) {
            let message = wire::message("output_stream_data", self.sent, payload_kind, piece);
            self.sent += 1;
            messages.push(message);
        }
        let manner = &self.state.manner;
        if manner.is_shuffled {
            messages.reverse();
        }
        for message in messages {
            for _ in 0..=usize::from(manner.repeats) {
                // The client may have gone.
                let _ = self.to_client.send(SocketMessage::Binary(message.clone()));
            }
        }
    }

    fn control(&self, kind: &str, payload: &Value) {
        let bytes = wire::message(kind, 0, 0, payload.to_string().as_bytes());
        let _ = self.to_client.send(SocketMessage::Binary(bytes));
    }

    /// Takes a message; false once the session is over.
    async fn take(&mut self, message: Message) -> bool {
        match message.kind.as_str() {
            "acknowledge" => return true,
            "input_stream_data" => {}
            other => panic!("a client does not send {other}"),
        }
        let is_data = message.payload_kind == wire::OUTPUT;
        if message.sequence == self.expected && is_data && self.ignores > 0 {
            self.ignores -= 1;
            return true;
        }
        if message.sequence < self.expected {
            return true;
        }
        self.control(
            "acknowledge",
            &json!({
                "AcknowledgedMessageType": message.kind,
                "AcknowledgedMessageId": message.id,
                "AcknowledgedMessageSequenceNumber": message.sequence,
                "IsSequentialMessage": true,
            }),
        );
        self.early.insert(message.sequence, message);
        while let Some(next) = self.early.remove(&self.expected) {
            self.expected += 1;
            if !self.use_message(next).await {
                return false;
            }
        }
        true
    }

    async fn use_message(&mut self, message: Message) -> bool {
        match message.payload_kind {
            wire::HANDSHAKE_RESPONSE => {
                let response: Value = serde_json::from_slice(&message.payload).unwrap();
                assert_eq!(response["ProcessedClientActions"][0]["ActionStatus"], 1);
                let version = response["ClientVersion"].as_str().unwrap();
                assert!(version >= "1.1.70", "{version} does not multiplex");
                if let Some(said) = self.state.manner.says_no.clone() {
                    return self.end(&said);
                }
                self.send(wire::HANDSHAKE_COMPLETE, b"{}");
                self.is_ready = true;
                if !self.is_port() {
                    self.start_command();
                }
                true
            }
            // Before the handshake is done, agents forget what they are sent.
            _ if !self.is_ready => true,
            wire::FLAG if message.payload == 2_u32.to_be_bytes() => self.end(""),
            wire::OUTPUT if self.is_port() => {
                self.pending.extend(message.payload);
                for (command, stream, data) in wire::frames(&mut self.pending) {
                    self.use_frame(command, stream, data).await;
                }
                true
            }
            wire::OUTPUT => {
                let writer = self.writer.as_mut().unwrap();
                // A command that does not read is no fault of the agent.
                let _ = writer.write_all(&message.payload).await;
                let _ = writer.flush().await;
                true
            }
            _ => true,
        }
    }

    async fn use_frame(&mut self, command: u8, stream: u32, data: Vec<u8>) {
        match command {
            wire::OPEN => {
                self.stream = Some(stream);
                if self.state.manner.keeps_alive {
                    self.send(wire::OUTPUT, &wire::frame(wire::IDLE, 0, &[]));
                    self.withheld = Some(Vec::new());
                }
                self.connect(stream).await;
            }
            // The client has answered the sign of life.
            wire::IDLE => {
                let withheld = self.withheld.take().unwrap();
                self.send(wire::OUTPUT, &withheld);
            }
            wire::DATA => {
                if let Some(writer) = &mut self.writer {
                    let _ = writer.write_all(&data).await;
                }
            }
            wire::CLOSE => {
                // What was written is flushed first; then both directions end.
                if let Some(mut writer) = self.writer.take() {
                    let _ = writer.shutdown().await;
                }
                self.send(wire::OUTPUT, &wire::frame(wire::CLOSE, stream, &[]));
                self.stream = None;
            }
            other => panic!("a client does not send frames of {other}"),
        }
    }

    async fn connect(&mut self, stream: u32) {
        let text = |name: &str| self.input["Parameters"][name][0].as_str().unwrap();
        let key = (text("host").to_owned(), text("portNumber").parse().unwrap());
        let place = self.state.places.lock().unwrap().get(&key).cloned();
        let connected: Option<(Reader, Writer)> = match place {
            Some(Place::Tcp(address)) => TcpStream::connect(address).await.ok().map(|it| {
                let (reader, writer) = it.into_split();
                (Box::new(reader) as Reader, Box::new(writer) as Writer)
            }),
            Some(Place::Socket(path)) => UnixStream::connect(path).await.ok().map(|it| {
                let (reader, writer) = it.into_split();
                (Box::new(reader) as Reader, Box::new(writer) as Writer)
            }),
            None => None,
        };
        match connected {
            Some((reader, writer)) => {
                self.writer = Some(writer);
                tokio::spawn(pump(reader, self.happens.clone()));
            }
            None => {
                self.send(wire::FLAG, &3_u32.to_be_bytes());
                self.send(wire::OUTPUT, &wire::frame(wire::CLOSE, stream, &[]));
            }
        }
    }

    fn start_command(&mut self) {
        let command = self.input["Parameters"]["command"][0].as_str().unwrap();
        let mut program = match self.state.manner.has_terminal {
            true => {
                let mut program = Command::new("script");
                program.args(["-qec", command, "/dev/null"]);
                program
            }
            false => {
                let mut program = Command::new("/bin/sh");
                program.args(["-c", &format!("exec 2>&1\n{command}")]);
                program
            }
        };
        let mut child = program
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        self.writer = child.stdin.take().map(|it| Box::new(it) as Writer);
        let output = child.stdout.take().unwrap();
        let happens = self.happens.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = pump(Box::new(output), happens.clone()) => {}
                // The session is over: its command goes with it.
                () = happens.closed() => {}
            }
            drop(child);
        });
    }

    fn happened(&mut self, event: Happened) -> bool {
        match event {
            Happened::Bytes(bytes) => {
                if let Some(most) = self.state.manner.cut_after {
                    let mut carried = self.state.carried.lock().unwrap();
                    *carried += bytes.len();
                    if *carried > most {
                        return false;
                    }
                }
                match (self.is_port(), self.stream) {
                    (true, Some(stream)) => {
                        let frame = wire::frame(wire::DATA, stream, &bytes);
                        match &mut self.withheld {
                            Some(withheld) => withheld.extend(frame),
                            None => self.send(wire::OUTPUT, &frame),
                        }
                    }
                    (true, None) => {}
                    (false, _) => self.send(wire::OUTPUT, &bytes),
                }
                true
            }
            Happened::Closed => match self.is_port() {
                true => {
                    self.writer = None;
                    if let Some(stream) = self.stream.take() {
                        self.send(wire::OUTPUT, &wire::frame(wire::CLOSE, stream, &[]));
                    }
                    true
                }
                false => self.end(""),
            },
        }
    }

    fn end(&mut self, said: &str) -> bool {
        self.control("channel_closed", &json!({ "Output": said }));
        false
    }
}

async fn pump(mut reader: Reader, happens: mpsc::UnboundedSender<Happened>) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match reader.read(&mut buffer).await {
            Ok(count) if count > 0 => {
                let bytes = buffer[..count].to_vec();
                if happens.send(Happened::Bytes(bytes)).is_err() {
                    return;
                }
            }
            Ok(_) | Err(_) => {
                let _ = happens.send(Happened::Closed);
                return;
            }
        }
    }
}
