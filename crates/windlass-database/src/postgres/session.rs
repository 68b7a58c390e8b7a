//! Messages to and from a PostgreSQL server, and what its errors mean.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::{ErrorResponseBody, Header, Message};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use windlass_ports::database::{DatabaseAddress, DatabaseFailure, Listening};

use crate::connect::{self, Wire, unexpected};

/// A connection to a server that has let us in.
pub struct Session {
    pub(super) wire: Wire,
    incoming: BytesMut,
    pub(super) outgoing: BytesMut,
    listening: Listening,
    /// The largest message that is read.
    largest: usize,
    pub(super) key: Option<CancelKey>,
}

impl Session {
    pub(super) fn new(wire: Wire, listening: Listening, byte_limit: usize) -> Self {
        Self {
            wire,
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
            listening,
            largest: byte_limit.saturating_add(1 << 20),
            key: None,
        }
    }

    /// How to end what this session is doing, from another connection.
    pub const fn cancel_key(&self) -> Option<CancelKey> {
        self.key
    }

    /// Sends what was prepared.
    pub(super) async fn send(&mut self) -> Result<(), DatabaseFailure> {
        let sent = async {
            self.wire.write_all(&self.outgoing).await?;
            self.wire.flush().await
        };
        sent.await
            .map_err(|error| connect::unreachable(&self.listening, error))?;
        self.outgoing.clear();
        Ok(())
    }

    /// The next message that is not merely a notice.
    pub(super) async fn next(&mut self) -> Result<Message, DatabaseFailure> {
        loop {
            let header = Header::parse(&self.incoming)
                .map_err(|error| unexpected(format!("a broken message: {error}")))?;
            if let Some(header) = header {
                let length = usize::try_from(header.len()).unwrap_or(usize::MAX);
                if length > self.largest {
                    return Err(unexpected(format!(
                        "one message has {length} bytes, more than {} are not read; select less",
                        self.largest
                    )));
                }
            }
            let message = Message::parse(&mut self.incoming)
                .map_err(|error| unexpected(format!("a broken message: {error}")))?;
            match message {
                Some(
                    Message::NoticeResponse(_)
                    | Message::ParameterStatus(_)
                    | Message::NotificationResponse(_),
                ) => {}
                Some(message) => return Ok(message),
                None => {
                    let read = self
                        .wire
                        .read_buf(&mut self.incoming)
                        .await
                        .map_err(|error| connect::unreachable(&self.listening, error))?;
                    if read == 0 {
                        return Err(DatabaseFailure::Unreachable {
                            message: format!(
                                "{} closed the connection",
                                connect::shown(&self.listening)
                            ),
                        });
                    }
                }
            }
        }
    }
}

/// What a request to cancel must name.
#[derive(Clone, Copy)]
pub struct CancelKey {
    pub(super) process: i32,
    pub(super) secret: i32,
}

impl CancelKey {
    /// Asks the server to end what the session is doing; does not wait for the outcome.
    pub async fn cancel(self, address: &DatabaseAddress) {
        let asked = async {
            let wire = connect::open(address).await?;
            let mut wire = super::login::negotiate(wire, address).await?;
            let mut message = BytesMut::new();
            frontend::cancel_request(self.process, self.secret, &mut message);
            wire.write_all(&message)
                .await
                .map_err(|error| connect::unreachable(&address.listening, error))
        };
        // The connection is dropped in any case, which ends the statement a little later.
        let _ = tokio::time::timeout(crate::GRACE, asked).await;
    }
}

/// What an error of the server means.
pub(super) fn failure(body: &ErrorResponseBody) -> DatabaseFailure {
    let (mut code, mut message, mut position) = (String::new(), String::new(), None);
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => code = value,
            b'M' => message.insert_str(0, &value),
            b'D' | b'H' => {
                message.push_str("; ");
                message.push_str(&value);
            }
            b'P' => position = value.parse().ok(),
            _ => {}
        }
    }
    match code.as_str() {
        // 25001: what may not run, or be set, once a transaction has begun.
        "25006" | "25001" => DatabaseFailure::ReadOnly { code, message },
        "57014" | "55P03" | "25P03" | "25P04" => DatabaseFailure::Timeout { message },
        "42501" => DatabaseFailure::Auth { code, message },
        "53300" | "57P01" | "57P02" | "57P03" => DatabaseFailure::Unreachable { message },
        _ if code.starts_with("28") => DatabaseFailure::Auth { code, message },
        _ => DatabaseFailure::Statement {
            code,
            message,
            position,
        },
    }
}
