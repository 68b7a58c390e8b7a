//! A webhook receiver on loopback that remembers who sent what, by path.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

/// A delivery, as received.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) id: String,
    pub(super) body: String,
}

/// The receiver; its thread ends with the test's process.
pub(super) struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<HashMap<String, Vec<Received>>>>,
}

impl Receiver {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                // A sender that was killed half-way is no delivery.
                std::thread::spawn(move || drop(receive(&stream, &kept)));
            }
        });
        Self { address, received }
    }

    /// The address of one sender.
    pub(super) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    pub(super) fn received(&self, name: &str) -> Vec<Received> {
        let received = self.received.lock().unwrap();
        received
            .get(&format!("/{name}"))
            .cloned()
            .unwrap_or_default()
    }
}

fn receive(
    stream: &TcpStream,
    kept: &Mutex<HashMap<String, Vec<Received>>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut id = String::new();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "webhook-id" => id = value.trim().to_owned(),
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    kept.lock()
        .unwrap()
        .entry(path)
        .or_default()
        .push(Received { id, body });
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}
