//! A server that answers each request as the test says, and an adapter that is pointed at it.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use windlass_aws::Aws;
use windlass_config::env::Environment;
use windlass_ports::aws::Target;
use windlass_ports::{BoxFuture, Clock, Entropy};
use windlass_types::Timestamp;

pub const KEY_ID: &str = "AKIDSCRIPTED";
pub const KEY: &str = "canary-secret-key";

/// What one request gets.
#[derive(Clone)]
pub enum Reply {
    /// A status line with headers, and a body.
    With(String, String),
    /// Nothing, ever.
    Silence,
}

pub fn reply(head: &str, body: &str) -> Reply {
    Reply::With(head.to_owned(), body.to_owned())
}

/// A clock on which waiting takes no time; remembers the waits.
#[derive(Clone)]
pub struct QuickClock {
    now: Arc<Mutex<Timestamp>>,
    pub waits: Arc<Mutex<Vec<Duration>>>,
}

impl QuickClock {
    pub fn new() -> Self {
        Self {
            now: Arc::new(Mutex::new("2026-03-01T12:00:00Z".parse().unwrap())),
            waits: Arc::default(),
        }
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
pub struct Steady;

impl Entropy for Steady {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(1);
    }
}

/// A server and what it was asked.
pub struct Server {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Gives these replies in order; the last one is repeated.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::default();
        let replies = Arc::new(Mutex::new(replies.into_iter().collect()));
        tokio::spawn(serve(listener, replies, Arc::clone(&asked)));
        Self { address, asked }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, head and body.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    listener: TcpListener,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    asked: Arc<Mutex<Vec<String>>>,
) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let Some(request) = request(&mut stream).await else {
            continue;
        };
        asked.lock().unwrap().push(request);
        let next = {
            let mut replies = replies.lock().unwrap();
            if replies.len() > 1 {
                replies.pop_front().unwrap()
            } else {
                replies.front().unwrap().clone()
            }
        };
        match next {
            Reply::With(head, body) => {
                let text = format!(
                    "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(text.as_bytes()).await;
            }
            // Held open for as long as the test lasts.
            Reply::Silence => drop(tokio::spawn(async move {
                let _ = stream.read_to_end(&mut Vec::new()).await;
            })),
        }
    }
}

async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await.ok()?;
        if length == 0 {
            return None;
        }
        bytes.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some(end) = text.find("\r\n\r\n") else {
            continue;
        };
        let wanted = text[..end]
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse::<usize>()
                    .ok()
            })
            .unwrap_or(0);
        if bytes.len() >= end + 4 + wanted {
            return Some(text);
        }
    }
}

/// An adapter over an environment of just these variables.
pub fn aws(pairs: &[(&str, &str)]) -> (Aws, QuickClock) {
    let clock = QuickClock::new();
    let environment = Environment::from_pairs(
        [
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("HOME", "/nonexistent"),
        ]
        .into_iter()
        .chain(pairs.iter().copied()),
    );
    let aws = Aws::new(&environment, Arc::new(clock.clone()), Arc::new(Steady));
    (aws, clock)
}

/// An adapter with keys and a region whose calls all go to the server.
pub fn aws_at(server: &Server) -> (Aws, QuickClock) {
    aws(&[
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", KEY),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", &server.url()),
    ])
}

pub fn target() -> Target {
    Target::default()
}
