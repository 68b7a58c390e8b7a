//! A small HTTP/1.1 load generator: connections that send one prepared request again and again.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Requests per second that `connections` keep-alive connections get answered.
pub(crate) async fn requests_per_second(
    address: SocketAddr,
    request: Arc<[u8]>,
    connections: usize,
    duration: Duration,
) -> Result<f64> {
    let stop = Arc::new(AtomicBool::new(false));
    let answered = Arc::new(AtomicU64::new(0));
    let mut clients = Vec::new();
    for _ in 0..connections {
        let mut connection = Connection::open(address).await?;
        // Before the clock starts: one answer that is checked in full.
        connection.exchange(&request).await?;
        let (stop, answered, request) = (
            Arc::clone(&stop),
            Arc::clone(&answered),
            Arc::clone(&request),
        );
        clients.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                connection.exchange(&request).await?;
                answered.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        }));
    }
    let started = tokio::time::Instant::now();
    answered.store(0, Ordering::Relaxed);
    tokio::time::sleep(duration).await;
    let count = answered.load(Ordering::Relaxed);
    let seconds = started.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await??;
    }
    Ok(count as f64 / seconds)
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(16 * 1024),
        })
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head_end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.read().await?;
        };
        let head = std::str::from_utf8(&self.buffer[..head_end])?.to_ascii_lowercase();
        if !head.starts_with("http/1.1 200") {
            self.read().await.ok();
            bail!("answer: {}", String::from_utf8_lossy(&self.buffer));
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .map(|value| value.trim().parse::<usize>())
            .transpose()?;
        match length {
            Some(length) => {
                while self.buffer.len() < head_end + length {
                    self.read().await?;
                }
            }
            None if head.contains("transfer-encoding: chunked") => {
                while !self.buffer[head_end..].ends_with(b"0\r\n\r\n") {
                    self.read().await?;
                }
            }
            None => bail!("an answer without a length"),
        }
        if find(&self.buffer[head_end..], b"\"result\"").is_none() {
            bail!(
                "not a result: {}",
                String::from_utf8_lossy(&self.buffer[head_end..])
            );
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<()> {
        let count = self
            .stream
            .read_buf(&mut self.buffer)
            .await
            .context("reading the answer")?;
        if count == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
