//! SOCKS5 without authentication, for programs that do not speak HTTP to a proxy.

use std::{
    io::{self, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpStream},
};

use windlass_ports::sandbox::{AddressGuard, Host, HostRule};

use super::{
    Target,
    connect::{Refused, connect},
};

const DONE: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const UNKNOWN_COMMAND: u8 = 7;
const UNKNOWN_ADDRESS: u8 = 8;

/// Answers a client; the server it may talk to now.
pub fn accept(
    mut client: &TcpStream,
    rules: &[HostRule],
    guard: &dyn AddressGuard,
) -> io::Result<Option<TcpStream>> {
    let [_, methods] = bytes(client)?;
    let mut offered = vec![0; methods.into()];
    client.read_exact(&mut offered)?;
    if !offered.contains(&0) {
        client.write_all(&[5, 0xff])?;
        return Ok(None);
    }
    client.write_all(&[5, 0])?;
    let [_, command, _, kind] = bytes(client)?;
    let host = match kind {
        1 => Some(Host::Address(IpAddr::V4(Ipv4Addr::from(bytes::<4>(
            client,
        )?)))),
        4 => Some(Host::Address(IpAddr::V6(Ipv6Addr::from(bytes::<16>(
            client,
        )?)))),
        3 => {
            let [length] = bytes(client)?;
            let mut name = vec![0; length.into()];
            client.read_exact(&mut name)?;
            let text = String::from_utf8(name).ok();
            text.and_then(|text| Host::parse(&text).ok())
        }
        _ => None,
    };
    let port = u16::from_be_bytes(bytes(client)?);
    let reply =
        |mut client: &TcpStream, code: u8| client.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
    let Some(host) = host else {
        reply(client, UNKNOWN_ADDRESS)?;
        return Ok(None);
    };
    // Only connecting: nothing outside may connect to the sandbox.
    if command != 1 {
        reply(client, UNKNOWN_COMMAND)?;
        return Ok(None);
    }
    match connect(&Target { host, port }, rules, guard) {
        Ok(server) => {
            reply(client, DONE)?;
            Ok(Some(server))
        }
        Err(Refused::Forbidden(_)) => reply(client, NOT_ALLOWED).map(|()| None),
        Err(Refused::Unreachable(_)) => reply(client, UNREACHABLE).map(|()| None),
    }
}

fn bytes<const COUNT: usize>(mut client: &TcpStream) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}
