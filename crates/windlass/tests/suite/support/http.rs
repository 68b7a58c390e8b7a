//! A small HTTP/1.1 client over plain sockets, so that a test decides every byte.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// Long enough for a loaded machine, short enough to notice a hang.
const WAIT_LIMIT: Duration = Duration::from_secs(30);

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// A request that is sent as it stands.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![("connection".to_owned(), b"close".to_vec())],
            body: Vec::new(),
        }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// A JSON body.
    pub(crate) fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut ask = Self::new("POST", path).with("content-type", "application/json");
        ask.body = body.into();
        ask
    }

    pub(crate) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// The bytes on the wire. `Host` and `Content-Length` are added unless they are given.
    fn bytes(&self, address: SocketAddr) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        if !self.has("host") {
            bytes.extend(format!("host: {address}\r\n").bytes());
        }
        if !self.has("content-length") && !self.has("transfer-encoding") {
            bytes.extend(format!("content-length: {}\r\n", self.body.len()).bytes());
        }
        for (name, value) in &self.headers {
            bytes.extend(name.bytes().chain(*b": "));
            bytes.extend(value.iter().chain(b"\r\n"));
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }

    /// Sends it and reads the whole answer.
    pub(crate) fn send(&self, address: SocketAddr) -> std::io::Result<Reply> {
        let (status, headers, mut reader) = self.open(address)?;
        let mut body = Vec::new();
        reader.read_to_end(&mut body)?;
        Ok(Reply {
            status,
            headers,
            body,
        })
    }

    /// Sends it and hands over the lines of the answer as they come, until `line` says enough.
    pub(crate) fn lines(
        &self,
        address: SocketAddr,
        mut line: impl FnMut(&str) -> bool,
    ) -> std::io::Result<u16> {
        let (status, _, mut reader) = self.open(address)?;
        let mut text = String::new();
        while reader.read_line(&mut text)? > 0 && line(text.trim_end()) {
            text.clear();
        }
        Ok(status)
    }

    fn open(&self, address: SocketAddr) -> std::io::Result<Opened> {
        let stream = TcpStream::connect_timeout(&address, WAIT_LIMIT)?;
        stream.set_read_timeout(Some(WAIT_LIMIT))?;
        stream.set_write_timeout(Some(WAIT_LIMIT))?;
        stream.set_nodelay(true)?;
        // A server that refuses early may close before it has read everything.
        let sent = (&stream).write_all(&self.bytes(address));
        read_head(stream).map_err(|error| sent.err().unwrap_or(error))
    }
}

type Opened = (
    u16,
    Vec<(String, String)>,
    BufReader<Box<dyn std::io::Read>>,
);

/// Sends bytes that need not be HTTP and reads the first answer to them.
pub(crate) fn send_raw(address: SocketAddr, bytes: &[u8]) -> std::io::Result<Reply> {
    let stream = TcpStream::connect_timeout(&address, WAIT_LIMIT)?;
    stream.set_read_timeout(Some(WAIT_LIMIT))?;
    let sent = (&stream).write_all(bytes);
    let (status, headers, mut reader) =
        read_head(stream).map_err(|error| sent.err().unwrap_or(error))?;
    let mut body = Vec::new();
    reader.read_to_end(&mut body)?;
    Ok(Reply {
        status,
        headers,
        body,
    })
}

fn read_head(stream: TcpStream) -> std::io::Result<Opened> {
    let invalid = |text: String| std::io::Error::new(std::io::ErrorKind::InvalidData, text);
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| invalid(format!("not a status line: {line:?}")))?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |name: &str| headers.iter().find(|(known, _)| known == name);
    let body: Box<dyn std::io::Read> = if header("transfer-encoding").is_some() {
        Box::new(Chunked { reader, left: 0 })
    } else if let Some((_, length)) = header("content-length") {
        let length = length.parse().map_err(|_| invalid(length.clone()))?;
        Box::new(reader.take(length))
    } else {
        Box::new(reader)
    };
    Ok((status, headers, BufReader::new(body)))
}

/// A body in chunks.
struct Chunked {
    reader: BufReader<TcpStream>,
    left: usize,
}

impl std::io::Read for Chunked {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            let mut line = String::new();
            // The end of the chunk before, then the length of this one.
            while line.trim().is_empty() {
                line.clear();
                if self.reader.read_line(&mut line)? == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
            }
            let length = usize::from_str_radix(line.trim(), 16);
            self.left = length.map_err(|_| std::io::ErrorKind::InvalidData)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let wanted = self.left.min(buffer.len());
        let read = self.reader.read(&mut buffer[..wanted])?;
        if read == 0 && wanted > 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read;
        Ok(read)
    }
}
