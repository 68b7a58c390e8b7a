//! The client against local servers and a lookup that lies.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::atomic::{AtomicUsize, Ordering},
};

use futures::StreamExt as _;
use reqwest::dns::Resolve;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;

/// Answers each call with the next list of addresses; the last one stays.
struct Script {
    answers: Vec<Vec<IpAddr>>,
    calls: Arc<AtomicUsize>,
}

impl Lookup for Script {
    fn lookup(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers[call.min(self.answers.len() - 1)].clone();
        Box::pin(async move { Ok(answer) })
    }
}

fn script(answers: &[&[&str]]) -> (Script, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let answers = answers
        .iter()
        .map(|list| list.iter().map(|text| text.parse().unwrap()).collect())
        .collect();
    (
        Script {
            answers,
            calls: Arc::clone(&calls),
        },
        calls,
    )
}

const LAX: OutboundPolicy = OutboundPolicy {
    allow_private: true,
    allow_http: true,
    allowed_hosts: None,
};
const HTTP_ONLY: OutboundPolicy = OutboundPolicy {
    allow_private: false,
    allow_http: true,
    allowed_hosts: None,
};

fn request(url: String) -> OutboundRequest {
    OutboundRequest {
        method: "POST".to_owned(),
        url,
        headers: vec![("x-test".to_owned(), "1".to_owned())],
        body: b"hello".to_vec(),
        timeout: Duration::from_secs(10),
    }
}

/// A server that reads each request up to its body and answers with these bytes.
async fn server(
    answer: Vec<u8>,
) -> (
    SocketAddr,
    Arc<AtomicUsize>,
    tokio::sync::mpsc::UnboundedReceiver<String>,
) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let (sender, requests) = tokio::sync::mpsc::unbounded_channel();
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = sender.send(read_request(&mut stream).await);
            let _ = stream.write_all(&answer).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, connections, requests)
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1024];
    while !bytes.ends_with(b"hello") {
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

#[tokio::test]
async fn a_request_arrives_and_its_answer_comes_back() {
    let (address, _, mut requests) = server(answer("201 Created\r\nX-Reply: yes", b"done")).await;
    let reply = HttpOutbound::new(LAX)
        .send(request(format!("http://{address}/hook?x=1")))
        .await
        .unwrap();
    assert_eq!(
        (reply.status, reply.body.as_slice(), reply.header("x-reply")),
        (201, &b"done"[..], Some("yes"))
    );
    let seen = requests.recv().await.unwrap();
    assert!(seen.starts_with("POST /hook?x=1 HTTP/1.1\r\n"), "{seen}");
    assert!(
        seen.contains("x-test: 1\r\n") && seen.contains("user-agent: Windlass/"),
        "{seen}"
    );
}

#[tokio::test]
async fn a_redirect_is_an_answer() {
    let (address, connections, _requests) = server(answer(
        "302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/",
        b"",
    ))
    .await;
    let reply = HttpOutbound::new(LAX)
        .send(request(format!("http://{address}/")))
        .await
        .unwrap();
    assert_eq!(reply.status, 302);
    assert_eq!(
        reply.header("location"),
        Some("http://169.254.169.254/latest/meta-data/")
    );
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_long_answer_is_cut() {
    let (address, _, _requests) = server(answer("200 OK", &vec![b'x'; 1_000_000])).await;
    let reply = HttpOutbound::new(LAX)
        .send(request(format!("http://{address}/")))
        .await
        .unwrap();
    assert_eq!(reply.body.len(), MAX_BODY);
}

/// What a streamed body gave before it ended, and how it ended.
async fn drain(mut answer: OutboundStream) -> (Vec<u8>, Option<OutboundError>) {
    let mut bytes = Vec::new();
    while let Some(piece) = answer.body.next().await {
        match piece {
            Ok(piece) => bytes.extend(piece),
            Err(error) => {
                assert!(answer.body.next().await.is_none(), "an error is the end");
                return (bytes, Some(error));
            }
        }
    }
    (bytes, None)
}

#[tokio::test]
async fn a_streamed_answer_is_whole_up_to_a_limit() {
    let long = vec![b'x'; 1_000_000];
    let (address, _, _requests) = server(answer("201 Created\r\nX-Reply: yes", &long)).await;
    let outbound = HttpOutbound::new(LAX);
    let send = |limit| outbound.send_streaming(request(format!("http://{address}/")), limit);

    let whole = send(1_000_000).await.unwrap();
    assert_eq!((whole.status, whole.header("X-REPLY")), (201, Some("yes")));
    let (bytes, error) = drain(whole).await;
    assert!(bytes == long && error.is_none(), "{error:?}");

    let (bytes, error) = drain(send(999_999).await.unwrap()).await;
    assert!(bytes.len() <= 999_999);
    assert!(
        matches!(error, Some(OutboundError::TooLarge(999_999))),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_streamed_answer_that_breaks_off_ends_with_an_error() {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec();
    let (address, _, _requests) = server(cut).await;
    let answer = HttpOutbound::new(LAX)
        .send_streaming(request(format!("http://{address}/")), 100)
        .await
        .unwrap();
    let (bytes, error) = drain(answer).await;
    assert_eq!(bytes, b"half");
    assert!(
        matches!(error, Some(OutboundError::Unreachable(_))),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_timeout_and_the_policy_cover_a_streamed_answer() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let silent = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let start = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
        stream.write_all(start).await.unwrap();
        std::future::pending::<()>().await;
    });
    let limit = Duration::from_millis(500);
    let slow = OutboundRequest {
        timeout: limit,
        ..request(format!("http://{address}/"))
    };
    let refused = HttpOutbound::new(HTTP_ONLY)
        .send_streaming(slow.clone(), 100)
        .await;
    assert!(matches!(refused.err(), Some(OutboundError::Forbidden(_))));

    let outbound = HttpOutbound::new(LAX);
    // Certificates are loaded at first use, which is not what is timed here.
    outbound.client().unwrap();
    let answer = outbound.send_streaming(slow, 100).await.unwrap();
    let (bytes, error) = drain(answer).await;
    assert_eq!(bytes, b"half");
    assert!(
        matches!(error, Some(OutboundError::TimedOut(time)) if time == limit),
        "{error:?}"
    );
    silent.abort();
}

#[tokio::test]
async fn a_silent_server_costs_no_more_than_the_timeout() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let request = OutboundRequest {
        timeout: Duration::from_millis(50),
        ..request(format!("http://{address}/?token=hidden"))
    };
    let error = HttpOutbound::new(LAX).send(request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no answer: no complete answer within 50ms"
    );
}

#[tokio::test]
async fn a_closed_port_is_unreachable_and_the_query_stays_private() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = HttpOutbound::new(LAX)
        .send(request(format!("http://{address}/?token=hidden")))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, OutboundError::Unreachable(cause) if cause.contains("refused") && !cause.contains("hidden")),
        "{error}"
    );
}

#[tokio::test]
async fn a_name_that_resolves_to_a_private_address_is_refused_without_a_connection() {
    let (address, connections, _requests) = server(answer("200 OK", b"")).await;
    for answers in [
        &["127.0.0.1"][..],
        &["8.8.8.8", "127.0.0.1"],
        &["::1"],
        &["169.254.169.254"],
        &["::ffff:127.0.0.1"],
    ] {
        let (lookup, _) = script(&[answers]);
        let outbound = HttpOutbound::with_lookup(HTTP_ONLY, lookup);
        let error = outbound
            .send(request(format!(
                "http://rebind.example.org:{}/",
                address.port()
            )))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, OutboundError::Forbidden(reason) if reason.contains("rebind.example.org")),
            "{error}"
        );
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_that_turns_private_after_the_check_is_refused() {
    let (lookup, calls) = script(&[&["93.184.215.14"], &["127.0.0.1"]]);
    let resolver = GuardedResolver {
        policy: HTTP_ONLY,
        lookup: Arc::new(lookup),
        found: Found::default(),
    };
    let name = || "rebind.example.org".parse().unwrap();
    let first: Vec<_> = resolver.resolve(name()).await.unwrap().collect();
    assert_eq!(first, ["93.184.215.14:0".parse().unwrap()]);
    assert!(
        resolver
            .resolve(name())
            .await
            .err()
            .unwrap()
            .downcast_ref::<Refused>()
            .is_some()
    );
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_was_checked_is_what_is_connected_to() {
    // A second lookup would lead to an address nothing listens on.
    let (address, connections, _requests) = server(answer("200 OK", b"")).await;
    let (lookup, calls) = script(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let outbound = HttpOutbound::with_lookup(LAX, lookup);
    let reply = outbound
        .send(request(format!(
            "http://pinned.example.org:{}/",
            address.port()
        )))
        .await
        .unwrap();
    assert_eq!(reply.status, 200);
    assert_eq!(
        (
            calls.load(Ordering::SeqCst),
            connections.load(Ordering::SeqCst)
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn headers_that_misstate_the_message_are_refused() {
    for (name, value) in [
        ("Host", "other.example.org"),
        ("content-length", "1"),
        ("x-a", "b\r\nx-c: d"),
        ("bad name", "x"),
    ] {
        let request = OutboundRequest {
            headers: vec![(name.to_owned(), value.to_owned())],
            ..request("http://127.0.0.1:9999/".to_owned())
        };
        let error = HttpOutbound::new(LAX).send(request).await.unwrap_err();
        assert!(
            matches!(error, OutboundError::InvalidUrl(_)),
            "{name}: {error}"
        );
    }
}

#[tokio::test]
async fn https_to_a_plain_server_is_unreachable() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
    });
    let error = HttpOutbound::new(LAX)
        .send(request(format!("https://{address}/")))
        .await
        .unwrap_err();
    assert!(matches!(error, OutboundError::Unreachable(_)), "{error}");
}
