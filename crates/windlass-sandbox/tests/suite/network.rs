//! The network: nothing, listed hosts through the proxy, or everything.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    os::linux::net::SocketAddrExt as _,
    os::unix::net::{SocketAddr, UnixListener},
    thread,
};

use windlass_ports::sandbox::{Backend, HostRule, Network};

use crate::support::{Place, Way, open_to_all, ways};

/// A server that answers every request with `hello`.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(mut client) = client else { continue };
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                let read = client.read(&mut buffer).unwrap_or(0);
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                let host = text
                    .lines()
                    .find(|line| line.starts_with("Host:"))
                    .unwrap_or("none");
                let body = format!("hello {}", host.trim());
                let _ = write!(
                    client,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
            });
        }
    });
    port
}

#[test]
fn without_a_network_nothing_is_reached() {
    let place = Place::new();
    let port = server().to_string();
    let name = format!("windlass-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let path = place.path("outside/socket");
    let _named = UnixListener::bind(&path).unwrap();
    open_to_all(&path);
    assert_eq!(crate::support::outside(&place, &["tcp", &port]), "done");
    assert_eq!(
        crate::support::outside(&place, &["unix", &format!("@{name}")]),
        "done"
    );
    assert_eq!(
        crate::support::outside(&place, &["unix", path.to_str().unwrap()]),
        "done"
    );
    for way in ways() {
        let confinement = place.confinement();
        let lines = [
            &["tcp", &port][..],
            &["udp", "53"],
            &["socket", "2", "1", "0"],
            &["socket", "2", "2", "0"],
            &["socket", "10", "1", "0"],
            &["socket", "2", "3", "1"],
            &["socket", "10", "3", "58"],
            &["socket", "2", "10", "768"],
            &["socket", "17", "3", "768"],
            &["socket", "16", "3", "0"],
            &["socket", "16", "3", "9"],
            &["socket", "38", "5", "0"],
            &["socket", "40", "1", "0"],
            &["socket", "44", "3", "0"],
        ];
        for (line, answer) in way.attempts(&place, &confinement, &lines) {
            assert_eq!(answer, "EPERM", "{way:?} {line:?}");
        }
        for to in [format!("@{name}"), path.display().to_string()] {
            let answer = way.attempt(&place, &confinement, &["unix", &to]);
            let refused = ["EPERM", "EACCES", "ECONNREFUSED"];
            assert!(refused.contains(&answer.as_str()), "{way:?} {to}: {answer}");
        }
        assert_eq!(
            way.attempt(&place, &confinement, &["pair"]),
            "done",
            "{way:?}"
        );
    }
}

#[test]
fn with_a_network_only_whole_packets_are_refused() {
    let place = Place::new();
    let port = server().to_string();
    for way in ways() {
        let mut confinement = place.confinement();
        confinement.network = Network::On;
        assert_eq!(
            way.attempt(&place, &confinement, &["tcp", &port]),
            "done",
            "{way:?}"
        );
        for line in [
            &["socket", "2", "3", "1"][..],
            &["socket", "2", "524291", "1"],
            &["socket", "17", "3", "768"],
            &["socket", "16", "3", "9"],
            &["socket", "40", "1", "0"],
        ] {
            assert_eq!(
                way.attempt(&place, &confinement, line),
                "EPERM",
                "{way:?} {line:?}"
            );
        }
    }
}

fn listing(place: &Place, rules: &[&str]) -> windlass_ports::sandbox::Confinement {
    let mut confinement = place.confinement();
    let rules = rules.iter().map(|rule| HostRule::parse(rule).unwrap());
    confinement.network = Network::Hosts(rules.collect());
    confinement
}

/// Ways with a network of their own.
fn listed() -> Vec<Way> {
    let all = ways().into_iter();
    all.filter(|way| way.backend != Backend::Landlock).collect()
}

/// Speaks to the proxy; what it answers.
const CLIENT: &str = r#"
import socket, sys
def ask(text):
    s = socket.create_connection(("127.0.0.1", 3128)); s.sendall(text.encode("latin1"))
    data = b""
    while True:
        piece = s.recv(4096)
        if not piece: break
        data += piece
        if b"established" in data and b"hello" not in data: s.sendall(b"GET / HTTP/1.1\r\nHost: tunnel\r\n\r\n")
    return data.decode("latin1").replace("\r\n", "|")
for text in sys.argv[1:]:
    print(ask(text.encode().decode("unicode_escape")))
"#;

#[test]
fn listed_hosts_are_reached_through_the_proxy_and_others_are_not() {
    let place = Place::new();
    let (port, other) = (server(), server());
    for way in listed() {
        let confinement = listing(&place, &[&format!("127.0.0.1:{port}"), "inner.localhost"]);
        let connect = |host: &str| format!(r"CONNECT {host} HTTP/1.1\r\n\r\n");
        let requests = [
            connect(&format!("127.0.0.1:{port}")),
            format!(r"GET http://127.0.0.1:{port}/a HTTP/1.1\r\nHost: evil\r\n\r\n"),
            connect(&format!("127.0.0.1:{other}")),
            connect("169.254.169.254:80"),
            connect("[fd00:ec2::254]:80"),
            connect("example.org:443"),
            connect("inner.localhost:80"),
            connect(r"127.0.0.1\x00.inner.localhost:80"),
            connect("inner.localhost.:80"),
            connect("2130706433:80"),
            r"GET /etc/passwd HTTP/1.1\r\n\r\n".to_owned(),
        ];
        let mut line = vec!["/usr/bin/python3", "-c", CLIENT];
        line.extend(requests.iter().map(String::as_str));
        let printed = way.output(&place, &confinement, &line);
        let starts = [
            "HTTP/1.1 200 Connection established||HTTP/1.1 200 OK",
            "HTTP/1.1 200 OK",
            "HTTP/1.1 403 Forbidden",
            "HTTP/1.1 403 Forbidden",
            "HTTP/1.1 403 Forbidden",
            "HTTP/1.1 403 Forbidden",
            "HTTP/1.1 40",
            "HTTP/1.1 400 Bad Request",
            "HTTP/1.1 400 Bad Request",
            "HTTP/1.1 400 Bad Request",
            "HTTP/1.1 400 Bad Request",
        ];
        let lines: Vec<&str> = printed
            .lines()
            .filter(|line| line.starts_with("HTTP"))
            .collect();
        for (index, start) in starts.iter().enumerate() {
            // A name below localhost is unknown to some resolvers.
            let unknown = index == 6 && lines[index].starts_with("HTTP/1.1 502");
            assert!(
                lines[index].starts_with(start) || unknown,
                "{way:?} {}\n{printed}",
                requests[index]
            );
        }
        assert!(
            printed.contains(&format!("hello Host: 127.0.0.1:{port}")),
            "{way:?}\n{printed}"
        );
        assert!(!printed.contains("hello Host: evil"), "{way:?}\n{printed}");
    }
}

#[test]
fn ordinary_clients_use_the_proxy_and_nothing_goes_past_it() {
    let place = Place::new();
    let port = server();
    let url = format!("http://127.0.0.1:{port}/");
    for way in listed() {
        let confinement = listing(&place, &[&format!("127.0.0.1:{port}")]);
        let code = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1]).read().decode())";
        let printed = way.output(
            &place,
            &confinement,
            &["/usr/bin/python3", "-c", code, &url],
        );
        assert!(printed.starts_with("hello"), "{way:?} {printed}");
        if std::path::Path::new("/usr/bin/curl").exists() {
            let socks = [
                "curl",
                "-sS",
                "--noproxy",
                "",
                "-x",
                "socks5h://127.0.0.1:3128",
                &url,
            ];
            let printed = way.output(&place, &confinement, &socks);
            assert!(printed.starts_with("hello"), "{way:?} {printed}");
            let other = [
                "curl",
                "-sS",
                "-x",
                "socks5h://127.0.0.1:3128",
                "http://example.org/",
            ];
            assert_eq!(
                way.run(&place, &confinement, &other).status.code(),
                Some(97),
                "{way:?}"
            );
        }
        // Past the proxy there is nothing.
        let answer = way.attempt(&place, &confinement, &["tcp", &port.to_string()]);
        assert_eq!(answer, "ECONNREFUSED", "{way:?}");
        assert_eq!(
            way.attempt(&place, &confinement, &["udp", "53"]),
            "ENETUNREACH",
            "{way:?}"
        );
        let raw = way.attempt(&place, &confinement, &["socket", "2", "3", "1"]);
        assert_eq!(raw, "EPERM", "{way:?}");
    }
}
