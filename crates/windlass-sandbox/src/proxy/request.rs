//! Requests of HTTP clients: `CONNECT host:port`, and plain requests with an absolute address.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
};

use windlass_ports::sandbox::{AddressGuard, Host, HostRule};

use super::{
    Target,
    connect::{Refused, connect},
};

/// Longer heads are not taken.
const LONGEST_HEAD: usize = 64 * 1024;

/// What the first lines of a request ask for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    host: Host,
    port: u16,
    /// What the server is sent first; nothing for a tunnel, which is answered instead.
    head: Option<String>,
}

/// Answers a client; the server it may talk to now.
pub fn accept(
    client: &TcpStream,
    rules: &[HostRule],
    guard: &dyn AddressGuard,
) -> io::Result<Option<TcpStream>> {
    let head = read_head(client)?;
    let asked = match read(&head) {
        Ok(asked) => asked,
        Err(why) => return refuse(client, "400 Bad Request", why),
    };
    let target = Target {
        host: asked.host,
        port: asked.port,
    };
    let mut server = match connect(&target, rules, guard) {
        Ok(server) => server,
        Err(Refused::Forbidden(why)) => return refuse(client, "403 Forbidden", &why),
        Err(Refused::Unreachable(why)) => return refuse(client, "502 Bad Gateway", &why),
    };
    let mut client = client;
    match asked.head {
        Some(head) => server.write_all(head.as_bytes())?,
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
    }
    Ok(Some(server))
}

fn refuse(mut client: &TcpStream, status: &str, why: &str) -> io::Result<Option<TcpStream>> {
    let text = format!("windlass sandbox: {why}\n");
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    )?;
    client.shutdown(std::net::Shutdown::Write)?;
    Ok(None)
}

/// Reads up to the empty line and not one byte further: what follows is for the server.
fn read_head(client: &TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let seen = client.peek(&mut chunk)?;
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // The end may lie across two pieces.
        let before = head.len();
        head.extend_from_slice(chunk.get(..seen).unwrap_or_default());
        let from = before.saturating_sub(3);
        let end = head.get(from..).and_then(|rest| {
            let place = rest.windows(4).position(|part| part == b"\r\n\r\n");
            place.map(|place| from + place + 4)
        });
        let taken = end.unwrap_or(head.len()) - before;
        let mut client = client;
        client.read_exact(chunk.get_mut(..taken).unwrap_or_default())?;
        head.truncate(before + taken);
        if end.is_some() {
            return Ok(head);
        }
        if head.len() > LONGEST_HEAD {
            return Err(io::Error::other("the head of the request is too long"));
        }
    }
}

fn read(head: &[u8]) -> Result<Asked, &'static str> {
    let text = std::str::from_utf8(head).map_err(|_| "the request is not text")?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(address), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the first line is not that of a request");
    };
    if !version.starts_with("HTTP/1.") {
        return Err("only HTTP/1.1 is understood");
    }
    if method == "CONNECT" {
        let (host, port) = split(address, None)?;
        return Ok(Asked {
            host,
            port,
            head: None,
        });
    }
    let rest = address
        .strip_prefix("http://")
        .ok_or("name a whole http:// address, or use CONNECT")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (host, port) = split(authority, Some(80))?;
    let mut own = format!(
        "{method} {}{path} {version}\r\n",
        if path.starts_with('/') { "" } else { "/" }
    );
    for line in lines.take_while(|line| !line.is_empty()) {
        let name = line.split(':').next().unwrap_or_default();
        // The host is the one that was judged; the others are between the client and this proxy.
        let skipped = ["host", "connection", "keep-alive"];
        let is_proxys = name.to_ascii_lowercase().starts_with("proxy-");
        if !is_proxys && !skipped.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            own.push_str(line);
            own.push_str("\r\n");
        }
    }
    let shown = if port == 80 {
        String::new()
    } else {
        format!(":{port}")
    };
    // One request for one connection: the next may be for another host.
    own.push_str(&format!("Host: {host}{shown}\r\nConnection: close\r\n\r\n"));
    Ok(Asked {
        host,
        port,
        head: Some(own),
    })
}

fn split(authority: &str, usual: Option<u16>) -> Result<(Host, u16), &'static str> {
    if authority.contains('@') {
        return Err("user names do not belong in an address");
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            let port = port.parse().ok().filter(|port| digits && *port != 0);
            (host, port.ok_or("the port is not a number")?)
        }
        _ => (authority, usual.ok_or("the port is missing")?),
    };
    let host = Host::parse(host).map_err(|error| error.why)?;
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let show = |line: &str| {
            let head = format!(
                "{line}\r\nHost: other.example\r\nProxy-Authorization: x\r\nAccept: */*\r\n\
                 Connection: keep-alive\r\n\r\n"
            );
            match read(head.as_bytes()) {
                Ok(asked) => format!("{}:{} {:?}", asked.host, asked.port, asked.head),
                Err(why) => why.to_owned(),
            }
        };
        let table: String = [
            "CONNECT example.org:443 HTTP/1.1",
            "CONNECT [::1]:443 HTTP/1.1",
            "CONNECT example.org HTTP/1.1",
            "CONNECT example.org:0443x HTTP/1.1",
            "CONNECT example.org:+443 HTTP/1.1",
            "CONNECT evil.org\0.example.org:443 HTTP/1.1",
            "CONNECT example.org.:443 HTTP/1.1",
            "CONNECT user@example.org:443 HTTP/1.1",
            "CONNECT 2130706433:80 HTTP/1.1",
            "GET http://example.org HTTP/1.1",
            "GET http://example.org:8080/a?b HTTP/1.1",
            "GET http://example.org?b HTTP/1.1",
            "GET https://example.org/ HTTP/1.1",
            "GET / HTTP/1.1",
            "GET http://a@example.org/ HTTP/1.1",
            "GET  http://example.org/ HTTP/1.1",
            "PRI * HTTP/2.0",
        ]
        .iter()
        .map(|line| format!("{line:?}\n  {}\n", show(line)))
        .collect();
        insta::assert_snapshot!(table, @r#"
        "CONNECT example.org:443 HTTP/1.1"
          example.org:443 None
        "CONNECT [::1]:443 HTTP/1.1"
          [::1]:443 None
        "CONNECT example.org HTTP/1.1"
          the port is missing
        "CONNECT example.org:0443x HTTP/1.1"
          the port is not a number
        "CONNECT example.org:+443 HTTP/1.1"
          the port is not a number
        "CONNECT evil.org\0.example.org:443 HTTP/1.1"
          it has control characters
        "CONNECT example.org.:443 HTTP/1.1"
          a part between dots is empty
        "CONNECT user@example.org:443 HTTP/1.1"
          user names do not belong in an address
        "CONNECT 2130706433:80 HTTP/1.1"
          write an IPv4 address as four decimal numbers
        "GET http://example.org HTTP/1.1"
          example.org:80 Some("GET / HTTP/1.1\r\nAccept: */*\r\nHost: example.org\r\nConnection: close\r\n\r\n")
        "GET http://example.org:8080/a?b HTTP/1.1"
          example.org:8080 Some("GET /a?b HTTP/1.1\r\nAccept: */*\r\nHost: example.org:8080\r\nConnection: close\r\n\r\n")
        "GET http://example.org?b HTTP/1.1"
          example.org:80 Some("GET /?b HTTP/1.1\r\nAccept: */*\r\nHost: example.org\r\nConnection: close\r\n\r\n")
        "GET https://example.org/ HTTP/1.1"
          name a whole http:// address, or use CONNECT
        "GET / HTTP/1.1"
          name a whole http:// address, or use CONNECT
        "GET http://a@example.org/ HTTP/1.1"
          user names do not belong in an address
        "GET  http://example.org/ HTTP/1.1"
          the first line is not that of a request
        "PRI * HTTP/2.0"
          only HTTP/1.1 is understood
        "#);
    }
}
