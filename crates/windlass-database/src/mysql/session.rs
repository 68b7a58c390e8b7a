//! Logging in, and what a server's errors mean.

use windlass_ports::database::{DatabaseFailure, Listening, SqlRequest, Tls};

use super::auth::{self, Plugin};
use super::packet::{Packets, Reader};
use crate::connect::{self, unexpected};

const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;

/// `utf8mb4_general_ci`, which every server since 5.5 knows.
const UTF8: u8 = 45;
const LARGEST_PACKET: u32 = 1 << 24;

/// A connection to a server that has let us in.
pub struct Session {
    pub(super) packets: Packets,
    /// The server's version, as it says it.
    pub(super) version: String,
}

/// What a server says first.
struct Greeting {
    version: String,
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: String,
}

fn greeting(packet: &[u8]) -> Result<Greeting, DatabaseFailure> {
    if packet.first() == Some(&0xff) {
        return Err(failure(packet));
    }
    let mut reader = Reader(packet);
    if reader.byte()? != 10 {
        return Err(unexpected("the server uses a protocol that is too old"));
    }
    let version = reader.text();
    reader.take(4)?;
    let mut nonce = reader.take(8)?.to_vec();
    reader.take(1)?;
    let low = reader.number(2)?;
    reader.take(3)?;
    let high = reader.number(2)?;
    let nonce_length = usize::from(reader.byte()?);
    reader.take(10)?;
    let rest = reader.take(nonce_length.saturating_sub(8).max(13))?;
    nonce.extend_from_slice(rest.strip_suffix(&[0]).unwrap_or(rest));
    Ok(Greeting {
        version,
        capabilities: u32::try_from(low | high << 16).unwrap_or(u32::MAX),
        nonce,
        plugin: reader.text(),
    })
}

impl Session {
    /// Connects and logs in.
    pub async fn open(request: &SqlRequest) -> Result<Self, DatabaseFailure> {
        let address = &request.address;
        let wire = connect::open(address).await?;
        let mut packets = Packets::new(wire, address.listening.clone(), request.byte_limit);
        let greeting = greeting(&packets.read().await?)?;
        let mut capabilities = LONG_PASSWORD
            | LONG_FLAG
            | PROTOCOL_41
            | TRANSACTIONS
            | SECURE_CONNECTION
            | PLUGIN_AUTH;
        if !address.database.is_empty() {
            capabilities |= CONNECT_WITH_DB;
        }
        let mut hello = Vec::new();
        let encrypted = address.tls != Tls::Off;
        if encrypted {
            if greeting.capabilities & SSL == 0 {
                return Err(DatabaseFailure::Unprotected {
                    message: format!("{} does not offer TLS", connect::shown(&address.listening)),
                });
            }
            capabilities |= SSL;
        }
        hello.extend_from_slice(&capabilities.to_le_bytes());
        hello.extend_from_slice(&LARGEST_PACKET.to_le_bytes());
        hello.push(UTF8);
        hello.extend_from_slice(&[0; 23]);
        if encrypted {
            packets.write(&hello).await?;
            packets = packets.secured(address).await?;
        }
        let password = address
            .password
            .as_ref()
            .map_or("", |password| password.expose_secret().as_str());
        // A plugin that is not known is answered with the usual one; the server then asks again.
        let plugin = Plugin::named(&greeting.plugin)
            .filter(|plugin| *plugin != Plugin::Clear)
            .unwrap_or(Plugin::Native);
        let answer = plugin.answer(password, &greeting.nonce);
        hello.extend_from_slice(address.user.as_bytes());
        hello.push(0);
        hello.push(u8::try_from(answer.len()).unwrap_or(0));
        hello.extend_from_slice(&answer);
        if !address.database.is_empty() {
            hello.extend_from_slice(address.database.as_bytes());
            hello.push(0);
        }
        hello.extend_from_slice(plugin.as_str().as_bytes());
        hello.push(0);
        packets.write(&hello).await?;
        let private = encrypted || matches!(address.listening, Listening::Socket(_));
        authenticate(&mut packets, password, greeting.nonce, plugin, private).await?;
        Ok(Self {
            packets,
            version: greeting.version,
        })
    }
}

async fn authenticate(
    packets: &mut Packets,
    password: &str,
    mut nonce: Vec<u8>,
    mut plugin: Plugin,
    private: bool,
) -> Result<(), DatabaseFailure> {
    loop {
        let packet = packets.read().await?;
        let mut reader = Reader(&packet);
        match reader.byte()? {
            0x00 => return Ok(()),
            0xff => return Err(failure(&packet)),
            0xfe => {
                let name = reader.text();
                nonce = reader.0.strip_suffix(&[0]).unwrap_or(reader.0).to_vec();
                plugin = Plugin::named(&name).ok_or_else(|| {
                    refused(format!(
                        "the server asks for the login {name}, which is not supported; supported \
                         are mysql_native_password, caching_sha2_password and, over TLS, \
                         mysql_clear_password"
                    ))
                })?;
                if plugin == Plugin::Clear && !private {
                    return Err(refused(
                        "the server asks for the password in clear text over a connection without TLS",
                    ));
                }
                packets.write(&plugin.answer(password, &nonce)).await?;
            }
            // Only caching_sha2_password says more: 3 the hash was known, 4 it was not.
            0x01 if plugin == Plugin::CachingSha2 => match reader.0 {
                [3] => {}
                [4] if private => packets.write(&auth::terminated(password)).await?,
                [4] => {
                    packets.write(&[2]).await?;
                    let key = packets.read().await?;
                    let sealed =
                        auth::encrypted(password, &nonce, key.get(1..).unwrap_or_default())
                            .ok_or_else(|| unexpected("the server's public key cannot be used"))?;
                    packets.write(&sealed).await?;
                }
                _ => return Err(unexpected("the login does not follow the protocol")),
            },
            _ => return Err(unexpected("the login does not follow the protocol")),
        }
    }
}

fn refused(message: impl Into<String>) -> DatabaseFailure {
    DatabaseFailure::Auth {
        code: String::new(),
        message: message.into(),
    }
}

/// What an error packet means.
pub(super) fn failure(packet: &[u8]) -> DatabaseFailure {
    let mut reader = Reader(packet);
    let code = reader
        .take(1)
        .and_then(|_| reader.number(2))
        .unwrap_or_default();
    if reader.0.first() == Some(&b'#') {
        reader.0 = reader.0.get(6..).unwrap_or_default();
    }
    let message = String::from_utf8_lossy(reader.0).into_owned();
    let text = code.to_string();
    match code {
        // In a read-only transaction; on a server that is read-only; after its change to one.
        1792 | 1290 | 1836 => DatabaseFailure::ReadOnly {
            code: text,
            message,
        },
        3024 | 1969 | 1317 | 1205 => DatabaseFailure::Timeout { message },
        1044 | 1045 | 1142 | 1143 | 1227 | 1251 | 1370 | 1698 => DatabaseFailure::Auth {
            code: text,
            message,
        },
        1040 | 1053 | 1129 | 1130 => DatabaseFailure::Unreachable { message },
        _ => DatabaseFailure::Statement {
            code: text,
            message,
            position: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_greeting_and_no_error_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = greeting(&bytes);
            let _ = failure(&bytes);
        }
    }

    #[test]
    fn codes_have_their_meaning() {
        let packet = |code: u16| {
            let mut packet = vec![0xff];
            packet.extend_from_slice(&code.to_le_bytes());
            packet.extend_from_slice(b"#25006message");
            failure(&packet)
        };
        assert!(matches!(packet(1792), DatabaseFailure::ReadOnly { .. }));
        assert!(matches!(packet(1969), DatabaseFailure::Timeout { .. }));
        assert!(matches!(packet(1045), DatabaseFailure::Auth { .. }));
        assert_eq!(
            packet(1064),
            DatabaseFailure::Statement {
                code: "1064".to_owned(),
                message: "message".to_owned(),
                position: None
            }
        );
    }
}
