//! A small HTTP/1.1 server on loopback that answers as a test says and remembers what it was
//! asked.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::{Arc, Mutex},
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with};
use serde_json::Value;

/// A request, as received. Names of headers are in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What is answered: a status, further headers, a body.
pub(crate) type Answer = (u16, Vec<(&'static str, String)>, String);

/// An answer that is JSON.
pub(crate) fn json_answer(status: u16, body: &Value) -> Answer {
    let headers = vec![("content-type", "application/json".to_owned())];
    (status, headers, body.to_string())
}

/// The server; its threads end with the test's process.
pub(crate) struct Loopback {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Request>>>,
}

impl Loopback {
    /// Starts it; each request is answered in a thread of its own.
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    /// The same at an expected address.
    pub(crate) fn start_on(
        listener: TcpListener,
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let received = Arc::default();
        let (kept, answer) = (Arc::clone(&received), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                // A sender that was killed halfway sent nothing.
                std::thread::spawn(move || drop(serve(&stream, &kept, &*answer)));
            }
        });
        Self { address, received }
    }

    /// Everything that was asked, in order.
    pub(crate) fn received(&self) -> Vec<Request> {
        self.received.lock().unwrap().clone()
    }
}

/// An unused address that refuses every connection until a listener is there.
pub(crate) struct Closed(OwnedFd);

impl Closed {
    pub(crate) fn take() -> Self {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self(socket)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        getsockname(&self.0).unwrap().try_into().unwrap()
    }

    pub(crate) fn open(self) -> TcpListener {
        listen(&self.0, 16).unwrap();
        self.0.into()
    }
}

fn serve(
    stream: &TcpStream,
    kept: &Mutex<Vec<Request>>,
    answer: &(dyn Fn(&Request) -> Answer + Send + Sync),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(Ok(0), |l| l.parse());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let request = Request {
        path,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    kept.lock().unwrap().push(request.clone());
    let (status, headers, body) = answer(&request);
    let mut head = format!("HTTP/1.1 {status} Answer\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
