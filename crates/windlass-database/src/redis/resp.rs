//! Redis's protocol, version 2: requests out, replies in.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use windlass_ports::BoxFuture;
use windlass_ports::database::{DatabaseFailure, Listening};

use crate::connect::{self, Wire, unexpected};

/// Deeper than any reply of a real server.
const DEEPEST: usize = 32;
/// The longest line: statuses, errors and numbers.
const LONGEST_LINE: u64 = 64 * 1024;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resp {
    Simple(String),
    Error(String),
    Integer(i64),
    Bulk(Option<Vec<u8>>),
    Array(Vec<Self>),
}

impl Resp {
    /// A text, if it is one.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Simple(text) => Some(text.clone()),
            Self::Bulk(Some(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }
}

/// A connection.
pub struct Connection {
    wire: BufReader<Wire>,
    listening: Listening,
    byte_limit: usize,
}

impl Connection {
    pub fn new(wire: Wire, listening: Listening, byte_limit: usize) -> Self {
        Self {
            wire: BufReader::new(wire),
            listening,
            byte_limit,
        }
    }

    /// Sends a command and reads its reply.
    pub async fn call(&mut self, words: &[&[u8]]) -> Result<Resp, DatabaseFailure> {
        let mut command = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            command.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            command.extend_from_slice(word);
            command.extend_from_slice(b"\r\n");
        }
        let sent = async {
            self.wire.write_all(&command).await?;
            self.wire.flush().await
        };
        sent.await
            .map_err(|error| connect::unreachable(&self.listening, error))?;
        let mut left = self.byte_limit;
        self.reply(&mut left, 0).await
    }

    fn reply<'a>(
        &'a mut self,
        left: &'a mut usize,
        depth: usize,
    ) -> BoxFuture<'a, Result<Resp, DatabaseFailure>> {
        Box::pin(async move {
            let line = self.line().await?;
            let (kind, rest) = line.split_at_checked(1).unwrap_or_default();
            let number = || {
                rest.parse::<i64>()
                    .map_err(|_| unexpected(format!("{line:?} is not a reply")))
            };
            match kind {
                "+" => Ok(Resp::Simple(rest.to_owned())),
                "-" => Ok(Resp::Error(rest.to_owned())),
                ":" => number().map(Resp::Integer),
                "$" => {
                    let Ok(length) = usize::try_from(number()?) else {
                        return Ok(Resp::Bulk(None));
                    };
                    self.spend(left, length)?;
                    let mut bytes = vec![0; length + 2];
                    self.wire
                        .read_exact(&mut bytes)
                        .await
                        .map_err(|error| connect::unreachable(&self.listening, error))?;
                    bytes.truncate(length);
                    Ok(Resp::Bulk(Some(bytes)))
                }
                "*" => {
                    let Ok(length) = usize::try_from(number()?) else {
                        return Ok(Resp::Bulk(None));
                    };
                    if depth >= DEEPEST {
                        return Err(unexpected("a reply that is nested too deep"));
                    }
                    // Even an empty item takes a few bytes on the wire and in memory.
                    self.spend(left, length.saturating_mul(4))?;
                    let mut items = Vec::new();
                    for _ in 0..length {
                        items.push(self.reply(left, depth + 1).await?);
                    }
                    Ok(Resp::Array(items))
                }
                _ => Err(unexpected(format!("{line:?} is not a reply"))),
            }
        })
    }

    fn spend(&self, left: &mut usize, bytes: usize) -> Result<(), DatabaseFailure> {
        *left = left.checked_sub(bytes).ok_or_else(|| {
            unexpected(format!(
                "the reply has more than {} bytes; read a part (LRANGE, GETRANGE, HSCAN, …)",
                self.byte_limit
            ))
        })?;
        Ok(())
    }

    async fn line(&mut self) -> Result<String, DatabaseFailure> {
        let mut line = Vec::new();
        (&mut self.wire)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .await
            .map_err(|error| connect::unreachable(&self.listening, error))?;
        if line.is_empty() {
            return Err(DatabaseFailure::Unreachable {
                message: format!("{} closed the connection", connect::shown(&self.listening)),
            });
        }
        let line = line
            .strip_suffix(b"\r\n")
            .ok_or_else(|| unexpected("a line that does not end"))?;
        Ok(String::from_utf8_lossy(line).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    async fn replied(bytes: &[u8], limit: usize) -> Result<Resp, DatabaseFailure> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (mut reading, mut writing) = tokio::io::split(theirs);
        let mut connection =
            Connection::new(Box::new(ours), Listening::Socket("test".into()), limit);
        writing.write_all(bytes).await.unwrap();
        writing.shutdown().await.unwrap();
        let drained = async {
            let mut request = [0; 64];
            let _ = reading.read(&mut request).await;
        };
        tokio::join!(connection.call(&[b"GET", b"a b"]), drained).0
    }

    #[tokio::test]
    async fn replies_of_every_kind() {
        for (bytes, expected) in [
            ("+OK\r\n", Resp::Simple("OK".to_owned())),
            ("-ERR no\r\n", Resp::Error("ERR no".to_owned())),
            (":-7\r\n", Resp::Integer(-7)),
            ("$-1\r\n", Resp::Bulk(None)),
            ("*-1\r\n", Resp::Bulk(None)),
            ("$4\r\na\r\nb\r\n", Resp::Bulk(Some(b"a\r\nb".to_vec()))),
            (
                "*2\r\n:1\r\n*1\r\n$0\r\n\r\n",
                Resp::Array(vec![
                    Resp::Integer(1),
                    Resp::Array(vec![Resp::Bulk(Some(Vec::new()))]),
                ]),
            ),
        ] {
            assert_eq!(replied(bytes.as_bytes(), 100).await.unwrap(), expected);
        }
        for bytes in [
            "",
            "+OK",
            "!x\r\n",
            ":x\r\n",
            "$9\r\nab\r\n",
            "$101\r\n",
            "*1000000000\r\n",
            "\r\n",
        ] {
            assert!(replied(bytes.as_bytes(), 100).await.is_err(), "{bytes:?}");
        }
        let deep = "*1\r\n".repeat(200);
        assert!(replied(deep.as_bytes(), 10_000).await.is_err());
    }

    proptest! {
        #[test]
        fn no_reply_panics(bytes in "[+:$*\\-0-9a\r\n]{0,40}") {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let _ = runtime.block_on(replied(bytes.as_bytes(), 1000));
        }
    }
}
