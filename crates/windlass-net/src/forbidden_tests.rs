//! Every way to write a target that must not be called, against a listener that would notice.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::net::TcpListener;
use windlass_ports::{BoxFuture, Outbound as _, OutboundError, OutboundRequest};

use crate::{HttpOutbound, Lookup, OutboundPolicy};

/// Hosts as an attacker writes them: the address itself in every spelling.
const LITERALS: &[&str] = &[
    // Loopback: dotted, short, decimal, octal, hex, mixed, padded, percent-encoded, full-width.
    "127.0.0.1",
    "127.0.0.2",
    "127.255.255.254",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7F.0x0.0x0.0x1",
    "0177.0.0.01",
    "0x7f.1",
    "0177.1",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.０.０.１",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    // Unspecified and "this network".
    "0.0.0.0",
    "0",
    "0x0",
    "0.1.2.3",
    // Private use.
    "10.0.0.1",
    "10.255.255.255",
    "167772161",
    "0xa000001",
    "012.0.0.1",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "192.168.1",
    "3232235777",
    // Shared address space, link-local, benchmark, documentation, reserved, broadcast, multicast.
    "100.64.0.1",
    "100.127.255.255",
    "169.254.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    // Metadata services.
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "[fd00:ec2::254]",
    "metadata.google.internal",
    // IPv6: loopback, unspecified, link-local, site-local, unique local, multicast, documentation.
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::]",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[100::1]",
    // IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo.
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:10.0.0.1]",
    "[::ffff:8.8.8.8]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::8.8.8.8]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001::1]",
    "[2001:0:53aa:64c:0:fbff:80ff:fffe]",
    // Names of this machine and its network.
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "router.local",
    "db.internal",
    "nas.home.arpa",
    // User info in front of the host.
    "user@example.org",
    "user:pass@example.org",
    ":pass@example.org",
    "example.org@127.0.0.1",
    "example.org:443@127.0.0.1",
];

/// What a name may be found at; each is refused, also next to a good one.
const ANSWERS: &[&str] = &[
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.20.0.1",
    "192.168.7.7",
    "100.64.1.1",
    "169.254.169.254",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.251",
    "255.255.255.255",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001::1",
    "fe80::1",
    "fec0::1",
    "fd00::1",
    "fd00:ec2::254",
    "ff02::1",
];

/// Answers in turn; the last answer stays.
struct Names {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Names {
    fn new(answers: &[&[&str]]) -> Self {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        Self {
            answers: answers.iter().map(parse).collect(),
            asked: AtomicUsize::new(0),
        }
    }
}

impl Lookup for Names {
    fn lookup(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[turn.min(self.answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) })
    }
}

/// Every scheme may be called, so that nothing but the address is judged.
const PUBLIC: OutboundPolicy = OutboundPolicy {
    allow_private: false,
    allow_http: true,
    allowed_hosts: None,
};

fn request(url: &str) -> OutboundRequest {
    OutboundRequest {
        method: "POST".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: b"{}".to_vec(),
        timeout: Duration::from_secs(10),
    }
}

/// A port of this machine, and how often it was connected to.
async fn listener() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, count)
}

#[tokio::test]
async fn no_spelling_reaches_a_forbidden_address() {
    let (port, connections) = listener().await;
    assert!(LITERALS.len() >= 60, "{}", LITERALS.len());
    let outbound = HttpOutbound::with_lookup(PUBLIC, Names::new(&[&["127.0.0.1"]]));
    let mut through = Vec::new();
    for host in LITERALS {
        let url = format!("http://{host}:{port}/hook");
        let at_submit = outbound.check_resolved(&url).await;
        let at_attempt = outbound.send(request(&url)).await;
        for (when, refused) in [
            ("submit", at_submit.is_err()),
            ("attempt", at_attempt.is_err()),
        ] {
            if !refused {
                through.push(format!("{when}: {url}"));
            }
        }
        assert!(
            matches!(
                at_attempt,
                Err(OutboundError::Forbidden(_) | OutboundError::InvalidUrl(_))
            ),
            "{url} is refused before anything is sent: {at_attempt:?}"
        );
    }
    assert!(through.is_empty(), "{through:#?}");
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn no_name_resolves_to_a_forbidden_address() {
    let (port, connections) = listener().await;
    let url = format!("http://hooks.example.org:{port}/hook");
    for answer in ANSWERS {
        for answers in [&[*answer][..], &["93.184.215.14", *answer][..]] {
            let outbound = HttpOutbound::with_lookup(PUBLIC, Names::new(&[answers]));
            for refused in [
                outbound.check_resolved(&url).await.err(),
                outbound.send(request(&url)).await.err(),
            ] {
                assert!(
                    matches!(refused, Some(OutboundError::Forbidden(_))),
                    "{answers:?}: {refused:?}"
                );
            }
        }
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

/// The name is public when it is checked and private when it is called: the answer that was
/// judged is the one that is connected to, so there is no moment in between.
#[tokio::test]
async fn a_name_that_changes_its_mind_gains_nothing() {
    let (port, connections) = listener().await;
    let url = format!("http://rebind.example.org:{port}/hook");
    let names = Names::new(&[&["93.184.215.14"], &["127.0.0.1"]]);
    let outbound = HttpOutbound::with_lookup(PUBLIC, names).without_reuse();
    assert!(outbound.check_resolved(&url).await.is_ok());
    for _ in 0..3 {
        let refused = outbound.send(request(&url)).await;
        assert!(
            matches!(refused, Err(OutboundError::Forbidden(_))),
            "{refused:?}"
        );
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    assert_eq!(
        outbound.last_addresses(&url),
        [std::net::SocketAddr::from(([127, 0, 0, 1], port))],
        "the log can say where it led"
    );
}

#[tokio::test]
async fn a_name_without_an_address_yet_may_be_given() {
    let outbound = HttpOutbound::with_lookup(PUBLIC, Names::new(&[&[]]));
    let checked = outbound.check_resolved("https://new.example.org/").await;
    assert!(checked.is_ok(), "{checked:?}");
}

#[tokio::test]
async fn the_answer_says_which_address_it_came_from() {
    let lax = OutboundPolicy {
        allow_private: true,
        ..PUBLIC
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer).await;
        let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).await.unwrap();
    });
    let outbound = HttpOutbound::with_lookup(lax, Names::new(&[&["127.0.0.1"]]));
    let url = format!("http://hooks.example.org:{}/", address.port());
    let reply = outbound.send(request(&url)).await.unwrap();
    assert_eq!((reply.status, reply.address), (204, Some(address)));
}
