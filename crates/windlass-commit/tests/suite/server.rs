//! A web server on loopback with a memory: a service's behaviour, and faults put in its way.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What arrived.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// Path and query, as they were sent.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }
}

/// What is sent back.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Status, headers and body.
    With(u16, Vec<(&'static str, String)>, Value),
    /// The connection ends without an answer.
    Cut,
    /// The connection ends within the answer.
    CutWithin,
    /// No answer, ever.
    Silence,
}

pub fn reply(status: u16, body: Value) -> Reply {
    Reply::With(status, Vec::new(), body)
}

/// A fault for the next request that fits.
struct Fault {
    method: &'static str,
    path_part: &'static str,
    /// Whether the service still does what was asked, and only the answer is replaced.
    done: bool,
    reply: Reply,
}

type Service = Box<dyn FnMut(&Request) -> Reply + Send>;

#[derive(Default)]
struct Seen {
    requests: Vec<Request>,
    faults: Vec<Fault>,
}

/// A running server; ends with the test's runtime.
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

impl Server {
    pub async fn start(service: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let service: Arc<Mutex<Service>> = Arc::new(Mutex::new(Box::new(service)));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared), Arc::clone(&service)));
            }
        });
        Self { address, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next request that fits is answered with this and has no effect.
    pub fn fail(&self, method: &'static str, path_part: &'static str, reply: Reply) {
        self.push(method, path_part, false, reply);
    }

    /// The next request that fits has its effect, and is answered with this.
    pub fn lose(&self, method: &'static str, path_part: &'static str, reply: Reply) {
        self.push(method, path_part, true, reply);
    }

    fn push(&self, method: &'static str, path_part: &'static str, done: bool, reply: Reply) {
        self.seen.lock().unwrap().faults.push(Fault {
            method,
            path_part,
            done,
            reply,
        });
    }

    /// What arrived since the last look.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.seen.lock().unwrap().requests)
    }

    /// The same as `METHOD path` lines.
    pub fn calls(&self) -> String {
        let lines: Vec<String> = self
            .requests()
            .iter()
            .map(|request| format!("{} {}", request.method, request.path))
            .collect();
        lines.join("\n")
    }
}

async fn serve(mut stream: TcpStream, seen: Arc<Mutex<Seen>>, service: Arc<Mutex<Service>>) {
    let Some(request) = read(&mut stream).await else {
        return;
    };
    let reply = answer(&request, &seen, &service);
    let (status, headers, body) = match reply {
        Reply::With(status, headers, body) => (status, headers, body),
        Reply::Cut => return,
        Reply::CutWithin => {
            let part = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"commit_sha\":";
            let _ = stream.write_all(part).await;
            return;
        }
        Reply::Silence => return std::future::pending().await,
    };
    let body = match (request.method.as_str(), body) {
        ("HEAD", _) | (_, Value::Null) => String::new(),
        (_, body) => body.to_string(),
    };
    let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let message = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let _ = stream.write_all(message.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn answer(request: &Request, seen: &Mutex<Seen>, service: &Mutex<Service>) -> Reply {
    let mut seen = seen.lock().unwrap();
    seen.requests.push(request.clone());
    let at = seen
        .faults
        .iter()
        .position(|fault| fault.method == request.method && request.path.contains(fault.path_part));
    let fault = at.map(|at| seen.faults.remove(at));
    match fault {
        Some(fault) if fault.done => {
            service.lock().unwrap()(request);
            fault.reply
        }
        Some(fault) => fault.reply,
        None => service.lock().unwrap()(request),
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
        match stream.read(&mut buffer).await.ok()? {
            0 => return None,
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < end + length {
        match stream.read(&mut buffer).await.ok()? {
            0 => return None,
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
    Some(Request {
        method,
        path,
        headers,
        body: serde_json::from_slice(&bytes[end..]).unwrap_or_default(),
    })
}
