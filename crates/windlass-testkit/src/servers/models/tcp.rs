//! The double behind a socket, for programs of their own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use windlass_ports::WireFormat;

use super::ModelDouble;
use super::double::Answer;
use super::script::Scripted;

/// A model's server. Its threads end with the process.
pub struct ModelServer {
    /// Where it listens.
    pub address: SocketAddr,
    /// What answers.
    pub double: ModelDouble,
    wire: WireFormat,
}

impl ModelServer {
    /// Starts one that answers so, in order.
    pub fn start<S: Into<Scripted>>(wire: WireFormat, script: impl IntoIterator<Item = S>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            double: ModelDouble::new(wire, script),
            wire,
        };
        let double = server.double.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let double = double.clone();
                std::thread::spawn(move || serve(stream, &double));
            }
        });
        server
    }

    /// The base address, as settings have it.
    pub fn base_url(&self) -> String {
        let version = match self.wire {
            WireFormat::ChatCompletions | WireFormat::Responses => "/v1",
            WireFormat::Messages | WireFormat::Gemini => "",
        };
        format!("http://{}{version}", self.address)
    }
}

/// Answers one request and closes.
fn serve(mut stream: TcpStream, double: &ModelDouble) {
    let Some((path, headers, body)) = read(&stream) else {
        return;
    };
    let answer = double.answer(path, headers, body);
    // A caller that has read enough closes first.
    let _ = write(&mut stream, &answer);
}

type Request = (String, Vec<(String, String)>, Vec<u8>);

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap_or(0))];
    reader.read_exact(&mut body).ok()?;
    Some((path, headers, body))
}

fn write(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut head = format!("HTTP/1.1 {} Answer\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    for piece in &answer.pieces {
        let size = format!("{:x}\r\n", piece.len());
        stream.write_all(&[size.as_bytes(), piece, b"\r\n"].concat())?;
    }
    match answer.is_broken {
        true => Ok(()),
        false => stream.write_all(b"0\r\n\r\n"),
    }
}
