//! A model's server on this machine that answers by script, and a pipeline that asks it through
//! the real client.

use std::{
    collections::VecDeque,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use windlass_engine::Domain;
use windlass_llm::ModelClient;
use windlass_model_calls::Guarded;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_pipeline::GeneratorChoice;
use windlass_ports::{BoxFuture, Clock, Entropy};
use windlass_types::Timestamp;

use super::world::domain_asking;

/// What one request gets.
#[derive(Clone)]
pub enum Answer {
    /// These bytes, then the connection is closed.
    Bytes(String),
    /// Never an answer.
    Silence,
}

/// A completion with this text, ended for this reason.
pub fn ended(text: &str, finish_reason: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": text });
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason });
    status(
        "200 OK\r\ncontent-type: application/json",
        &json!({ "model": "small-1", "choices": [choice] }).to_string(),
    )
}

/// A completion with this text.
pub fn says(text: &str) -> Answer {
    ended(text, "stop")
}

/// A completion in which the model declines.
pub fn refuses(why: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": null, "refusal": why });
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    status(
        "200 OK\r\ncontent-type: application/json",
        &json!({ "model": "small-1", "choices": [choice] }).to_string(),
    )
}

/// An answer with this status line and these headers.
pub fn status(head: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Bytes(format!(
        "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// An answer whose connection ends before it does.
pub fn cut() -> Answer {
    Answer::Bytes(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"cho"
            .to_owned(),
    )
}

/// The client's clock: waiting takes no time, and the waits are remembered. The engine has its own.
#[derive(Clone)]
pub struct QuickClock {
    now: Arc<Mutex<Timestamp>>,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl QuickClock {
    pub fn wait(&self, duration: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = now.after(duration);
    }
}

impl Clock for QuickClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let mut now = self.now.lock().unwrap();
        self.waits.lock().unwrap().push(deadline.since(*now));
        *now = deadline.max(*now);
        Box::pin(async {})
    }
}

/// Jitter that is always the same.
struct Steady;

impl Entropy for Steady {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(1);
    }
}

/// A server and what asks it.
#[derive(Clone)]
pub struct Served {
    base: String,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<Vec<(Value, String)>>>,
    arrived: Arc<Notify>,
    pub clock: QuickClock,
    models: Arc<Guarded>,
}

impl Served {
    /// A server that gives these answers in order; the last one is repeated.
    pub async fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let clock = QuickClock {
            now: Arc::new(Mutex::new(Timestamp::from_millis(1_750_000_000_000))),
            waits: Arc::default(),
        };
        let outbound = HttpOutbound::new(OutboundPolicy {
            allow_private: true,
            allow_http: true,
            allowed_hosts: None,
        });
        let chat = ModelClient::new(
            Arc::new(outbound),
            Arc::new(clock.clone()),
            Arc::new(Steady),
        );
        let served = Self {
            base: format!("http://{}/v1", listener.local_addr().unwrap()),
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            asked: Arc::default(),
            arrived: Arc::default(),
            models: Arc::new(Guarded::new(Arc::new(chat), Arc::new(clock.clone()))),
            clock,
        };
        tokio::spawn(served.clone().serve(listener));
        served
    }

    /// A pipeline that asks it.
    pub fn domain(&self, generator: GeneratorChoice) -> Box<dyn Domain> {
        domain_asking(generator, &self.base, Arc::clone(&self.models) as _)
    }

    /// What it answers from now on.
    pub fn now_answers(&self, answers: impl IntoIterator<Item = Answer>) {
        *self.answers.lock().unwrap() = answers.into_iter().collect();
    }

    /// The bodies of the requests that have arrived.
    pub fn asked(&self) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(body, _)| body.clone()).collect()
    }

    /// The keys by which it could recognise a repetition, one for each request.
    pub fn idempotency_keys(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(_, key)| key.clone()).collect()
    }

    /// Resolves once a request has arrived.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// How long the client has waited between requests, in milliseconds.
    pub fn waits(&self) -> Vec<u128> {
        let waits = self.clock.waits.lock().unwrap();
        waits.iter().map(Duration::as_millis).collect()
    }

    async fn serve(self, listener: TcpListener) {
        // A client that is killed may leave a connection on which it never asks anything.
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(self.clone().answer(stream));
        }
    }

    async fn answer(self, mut stream: TcpStream) {
        let Some(request) = read_request(&mut stream).await else {
            return;
        };
        self.asked.lock().unwrap().push(request);
        self.arrived.notify_one();
        let next = {
            let mut answers = self.answers.lock().unwrap();
            match answers.len() {
                1 => answers[0].clone(),
                _ => answers.pop_front().unwrap(),
            }
        };
        match next {
            Answer::Bytes(bytes) => {
                // The client may have heard enough.
                let _ = stream.write_all(bytes.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
            Answer::Silence => std::future::pending().await,
        }
    }
}

/// A request's body and its idempotency key, unless it breaks off.
async fn read_request(stream: &mut TcpStream) -> Option<(Value, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let read = stream.read(&mut buffer).await.ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
            let length: usize =
                header("content-length: ").map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                let key = header("idempotency-key: ").unwrap_or_default().to_owned();
                return Some((serde_json::from_str(body).unwrap(), key));
            }
        }
    }
}
