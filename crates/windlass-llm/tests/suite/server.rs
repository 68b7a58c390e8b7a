//! A model's server that answers each connection as the test says, and the client to ask it.

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use windlass_llm::ModelClient;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::{
    BoxFuture, Clock, Entropy, LanguageModel as _, Message, ModelAddress, ModelError, ModelReply,
    ModelRequest, Piece, WireFormat,
};
use windlass_types::Timestamp;

pub const KEY: &str = "sk-very-secret";

/// What one connection gets: raw bytes in separate writes, then the end.
#[derive(Clone)]
pub enum Answer {
    /// These pieces, then the connection is closed.
    Pieces(Vec<Vec<u8>>),
    /// These bytes, then silence.
    Silence(Vec<u8>),
}

/// An answer with a length.
pub fn answer(head: &str, body: &str) -> Answer {
    let text = format!(
        "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    Answer::Pieces(vec![text.into_bytes()])
}

/// A JSON answer of status 200.
pub fn json(body: &str) -> Answer {
    answer("200 OK\r\ncontent-type: application/json", body)
}

/// A completion that says this.
pub fn says(text: &str) -> Answer {
    json(&completion(text))
}

pub fn completion(text: &str) -> String {
    serde_json::json!({
        "model": "small-1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 },
    })
    .to_string()
}

/// A stream of exactly these bytes in exactly these pieces, properly ended.
pub fn stream(pieces: impl IntoIterator<Item = Vec<u8>>) -> Answer {
    let mut all = stream_start();
    for piece in pieces {
        all.push(format!("{:x}\r\n", piece.len()).into_bytes());
        all.push(piece);
        all.push(b"\r\n".to_vec());
    }
    all.push(b"0\r\n\r\n".to_vec());
    Answer::Pieces(all)
}

/// A stream that the connection ends in the middle of.
pub fn cut_stream(text: &str) -> Answer {
    let mut all = stream_start();
    all.push(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes());
    Answer::Pieces(all)
}

fn stream_start() -> Vec<Vec<u8>> {
    vec![
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
            .to_vec(),
    ]
}

/// The event of a piece of text.
pub fn event(text: &str) -> String {
    let json = serde_json::json!({
        "model": "small-1",
        "choices": [{ "index": 0, "delta": { "content": text } }],
    });
    format!("data: {json}\n\n")
}

pub const END: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
pub const DONE: &str = "data: [DONE]\n\n";

/// A request that arrived.
pub struct Arrived {
    pub head: String,
    pub body: Value,
}

/// How long a stream may bring nothing.
const IDLE: Duration = Duration::from_secs(90);

/// A clock on which waiting takes no time; remembers the waits. Waiting for a stream that brings
/// nothing ends only where a test says so, and is not remembered.
#[derive(Clone)]
pub struct QuickClock {
    now: Arc<Mutex<Timestamp>>,
    pub waits: Arc<Mutex<Vec<Duration>>>,
    pub loses_patience: Arc<AtomicBool>,
}

impl QuickClock {
    pub fn new() -> Self {
        Self {
            now: Arc::new(Mutex::new("2026-03-01T12:00:00Z".parse().unwrap())),
            waits: Arc::default(),
            loses_patience: Arc::default(),
        }
    }
}

impl Clock for QuickClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let mut now = self.now.lock().unwrap();
        if deadline.since(*now) == IDLE {
            return match self.loses_patience.load(Ordering::Relaxed) {
                true => Box::pin(async {}),
                false => Box::pin(std::future::pending()),
            };
        }
        self.waits.lock().unwrap().push(deadline.since(*now));
        *now = deadline.max(*now);
        Box::pin(async {})
    }
}

/// Jitter that is always the same.
pub struct Steady;

impl Entropy for Steady {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(1);
    }
}

/// A client and its server.
pub struct Place {
    pub client: ModelClient,
    pub address: ModelAddress,
    pub clock: QuickClock,
    arrived: mpsc::UnboundedReceiver<Arrived>,
}

impl Place {
    /// A server that gives these answers in order; the last one is repeated.
    pub async fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let socket = listener.local_addr().unwrap();
        let (sender, arrived) = mpsc::unbounded_channel();
        tokio::spawn(serve(listener, answers.into_iter().collect(), sender));
        Self::at(socket, arrived)
    }

    /// A client of an address where nothing listens.
    pub async fn closed() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let socket = listener.local_addr().unwrap();
        drop(listener);
        Self::at(socket, mpsc::unbounded_channel().1)
    }

    fn at(socket: SocketAddr, arrived: mpsc::UnboundedReceiver<Arrived>) -> Self {
        let policy = OutboundPolicy {
            allow_private: true,
            allow_http: true,
            allowed_hosts: None,
        };
        let clock = QuickClock::new();
        Self {
            client: ModelClient::new(
                Arc::new(HttpOutbound::new(policy)),
                Arc::new(clock.clone()),
                Arc::new(Steady),
            ),
            address: ModelAddress {
                wire: WireFormat::ChatCompletions,
                api_base_url: format!("http://{socket}/v1"),
                model: "small".to_owned(),
                api_key: Some(KEY.to_owned().into()),
                request_timeout: Duration::from_secs(60),
            },
            clock,
            arrived,
        }
    }

    /// Asks for a whole answer.
    pub async fn ask(&self) -> Result<ModelReply, ModelError> {
        self.send(&question()).await
    }

    pub async fn send(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        self.client.complete(&self.address, request, None).await
    }

    /// Asks for a stream; also returns the pieces that were heard.
    pub async fn listen(&self) -> (Result<ModelReply, ModelError>, Vec<String>) {
        let mut pieces = Vec::new();
        let heard = Box::new(|piece: Piece<'_>| match piece {
            Piece::Text(text) => pieces.push(text.to_owned()),
            Piece::Retry { reason, .. } => pieces.push(format!("({reason}: again)")),
            Piece::Thinking(_) | Piece::Call { .. } => {}
        });
        let result = self
            .client
            .complete(&self.address, &question(), Some(heard))
            .await;
        (result, pieces)
    }

    /// The requests that have arrived.
    pub fn arrived(&mut self) -> Vec<Arrived> {
        std::iter::from_fn(|| self.arrived.try_recv().ok()).collect()
    }

    /// The waits, in milliseconds.
    pub fn waits(&self) -> Vec<u128> {
        let waits = self.clock.waits.lock().unwrap();
        waits.iter().map(Duration::as_millis).collect()
    }
}

pub fn question() -> ModelRequest {
    ModelRequest::new(vec![Message::user("Hello?")])
}

async fn serve(
    listener: TcpListener,
    mut answers: VecDeque<Answer>,
    arrived: mpsc::UnboundedSender<Arrived>,
) {
    let mut silent = Vec::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        // A client whose time is up hangs up before it has sent everything.
        let Some(request) = read_request(&mut stream).await else {
            continue;
        };
        let _ = arrived.send(request);
        let next = match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        };
        match next {
            Answer::Pieces(pieces) => {
                stream.set_nodelay(true).unwrap();
                for piece in pieces {
                    // The client may have heard enough.
                    if stream.write_all(&piece).await.is_err() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
                let _ = stream.shutdown().await;
            }
            Answer::Silence(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                silent.push(stream);
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Arrived> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.ok()?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Some(Arrived {
                    head: head.to_owned(),
                    body: serde_json::from_str(body).unwrap(),
                });
            }
        }
        if read == 0 {
            return None;
        }
    }
}
