//! A registry of npm packages on this machine, whose answers a test decides. In this process, so
//! it is always there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a registry answers to a path: a whole HTTP answer.
type Answer = Box<dyn Fn(&str) -> Vec<u8> + Send>;

/// A registry. Its thread ends with the process.
pub struct NpmRegistry {
    /// Where it listens.
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl NpmRegistry {
    /// Starts one.
    pub fn start(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let registry = Self {
            address: listener.local_addr().expect("an address"),
            heard: Arc::default(),
        };
        let heard = Arc::clone(&registry.heard);
        let answer: Answer = Box::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &heard, &answer);
            }
        });
        registry
    }

    /// Its address as npm is told it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The paths that were asked for, with the credentials that were sent.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("no panic").clone()
    }

    /// An answer with a body.
    pub fn ok(body: &[u8]) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    /// An answer without a body: its status, and headers behind it.
    pub fn status(line: &str) -> Vec<u8> {
        format!("HTTP/1.1 {line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").into_bytes()
    }

    /// An answer that sends somewhere else.
    pub fn redirect(target: &str) -> Vec<u8> {
        Self::status(&format!("302 Found\r\nlocation: {target}"))
    }
}

/// Answers one request and closes.
fn serve(mut stream: TcpStream, heard: &Mutex<Vec<String>>, answer: &Answer) {
    let lines: Vec<String> = BufReader::new(&stream)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    let Some(path) = lines.first().and_then(|line| line.split(' ').nth(1)) else {
        return;
    };
    let secret = lines.iter().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("authorization").then_some(value)
    });
    let secret = secret.map(|it| format!(" with {it}")).unwrap_or_default();
    heard
        .lock()
        .expect("no panic")
        .push(format!("{path}{secret}"));
    // A caller that has heard enough closes first.
    let _ = stream.write_all(&answer(path));
}
