//! Connecting: TLS, then the password in the way the server asks for it.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use windlass_ports::database::{DatabaseAddress, DatabaseFailure, SqlRequest, Tls};

use super::session::{CancelKey, Session, failure};
use crate::connect::{self, Wire, unexpected};

/// Asks for TLS where it is wanted; a server without it is left.
pub(super) async fn negotiate(
    mut wire: Wire,
    address: &DatabaseAddress,
) -> Result<Wire, DatabaseFailure> {
    if address.tls == Tls::Off {
        return Ok(wire);
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    let mut answer = [0_u8];
    let asked = async {
        wire.write_all(&request).await?;
        wire.flush().await?;
        wire.read_exact(&mut answer).await
    };
    asked
        .await
        .map_err(|error| connect::unreachable(&address.listening, error))?;
    if answer != *b"S" {
        return Err(DatabaseFailure::Unprotected {
            message: format!("{} does not offer TLS", connect::shown(&address.listening)),
        });
    }
    connect::secure(wire, address).await
}

impl Session {
    /// Connects and logs in.
    pub async fn open(request: &SqlRequest) -> Result<Self, DatabaseFailure> {
        let address = &request.address;
        let wire = negotiate(connect::open(address).await?, address).await?;
        let mut session = Self::new(wire, address.listening.clone(), request.byte_limit);
        let parameters = [
            ("user", address.user.as_str()),
            ("database", address.database.as_str()),
            ("client_encoding", "UTF8"),
            ("application_name", "windlass"),
        ];
        frontend::startup_message(parameters, &mut session.outgoing)
            .map_err(|error| unexpected(error.to_string()))?;
        session.send().await?;
        session.authenticate(address).await?;
        loop {
            match session.next().await? {
                Message::BackendKeyData(body) => {
                    session.key = Some(CancelKey {
                        process: body.process_id(),
                        secret: body.secret_key(),
                    });
                }
                Message::ReadyForQuery(_) => return Ok(session),
                Message::ErrorResponse(body) => return Err(failure(&body)),
                _ => return Err(unexpected("the login does not follow the protocol")),
            }
        }
    }

    async fn authenticate(&mut self, address: &DatabaseAddress) -> Result<(), DatabaseFailure> {
        let password = || {
            address
                .password
                .as_ref()
                .map(|password| password.expose_secret().as_bytes())
                .ok_or_else(|| refused("the server asks for a password and there is none"))
        };
        let mut scram: Option<ScramSha256> = None;
        let io = |error: std::io::Error| refused(error.to_string());
        loop {
            match self.next().await? {
                Message::AuthenticationOk => return Ok(()),
                Message::AuthenticationCleartextPassword => {
                    frontend::password_message(password()?, &mut self.outgoing).map_err(io)?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(address.user.as_bytes(), password()?, body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.outgoing).map_err(io)?;
                }
                Message::AuthenticationSasl(body) => {
                    let offered = body
                        .mechanisms()
                        .any(|mechanism| Ok(mechanism == SCRAM_SHA_256))
                        .map_err(io)?;
                    if !offered {
                        return Err(refused("the server does not offer SCRAM-SHA-256"));
                    }
                    let started = ScramSha256::new(password()?, ChannelBinding::unsupported());
                    frontend::sasl_initial_response(
                        SCRAM_SHA_256,
                        started.message(),
                        &mut self.outgoing,
                    )
                    .map_err(io)?;
                    scram = Some(started);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let scram = scram
                        .as_mut()
                        .ok_or_else(|| unexpected("SCRAM out of order"))?;
                    scram.update(body.data()).map_err(io)?;
                    frontend::sasl_response(scram.message(), &mut self.outgoing).map_err(io)?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    // Here the server proves that it knows the password too.
                    let scram = scram
                        .as_mut()
                        .ok_or_else(|| unexpected("SCRAM out of order"))?;
                    scram.finish(body.data()).map_err(io)?;
                    continue;
                }
                Message::ErrorResponse(body) => return Err(failure(&body)),
                _ => {
                    return Err(refused(
                        "the server requires a login method that is not supported; supported are \
                         SCRAM-SHA-256, MD5 and a password over TLS",
                    ));
                }
            }
            self.send().await?;
        }
    }
}

fn refused(message: impl Into<String>) -> DatabaseFailure {
    DatabaseFailure::Auth {
        code: String::new(),
        message: message.into(),
    }
}
