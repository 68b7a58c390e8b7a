//! Sockets against real peers on loopback.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, rustls};

use super::*;

const LOOPBACK: OutboundPolicy = OutboundPolicy {
    allow_private: true,
    allow_http: true,
    allowed_hosts: None,
};

/// A peer that serves one connection.
async fn peer<F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    address
}

async fn open(address: impl Into<String>) -> Result<Box<dyn MessageSocket>, SocketFailure> {
    WebSockets::new(LOOPBACK)
        .open(&Secret::new(address.into()))
        .await
}

async fn refused(address: impl Into<String>) -> String {
    match open(address).await {
        Ok(_) => panic!("it was opened"),
        Err(failure) => failure.message,
    }
}

#[tokio::test]
async fn messages_go_both_ways_in_order_and_pings_are_answered() {
    let address = peer(async |stream| {
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) if text.as_str() == "ping me" => {
                    socket.send(Message::Ping("now".into())).await.unwrap();
                }
                Message::Pong(payload) => {
                    let heard = String::from_utf8(payload.to_vec()).unwrap();
                    socket
                        .send(Message::text(format!("pong {heard}")))
                        .await
                        .unwrap();
                }
                Message::Text(text) if text.as_str() == "bye" => {
                    socket.close(None).await.unwrap();
                }
                message if message.is_text() || message.is_binary() => {
                    socket.send(message).await.unwrap();
                }
                _ => {}
            }
        }
    })
    .await;
    let mut socket = open(format!("ws://{address}/v1/channel?token=abc"))
        .await
        .unwrap();
    let large = vec![7; 300_000];
    for message in [
        SocketMessage::Text("grüße".to_owned()),
        SocketMessage::Binary(vec![0, 255, 1]),
        SocketMessage::Binary(large),
    ] {
        socket.send(message.clone()).await.unwrap();
        assert_eq!(socket.receive().await.unwrap(), Some(message));
    }
    let say = |text: &str| SocketMessage::Text(text.to_owned());
    socket.send(say("ping me")).await.unwrap();
    assert_eq!(socket.receive().await.unwrap(), Some(say("pong now")));
    socket.send(say("bye")).await.unwrap();
    assert_eq!(socket.receive().await.unwrap(), None);
    assert_eq!(socket.receive().await.unwrap(), None, "it stays closed");
}

#[tokio::test]
async fn a_peer_that_vanishes_is_a_failure_that_names_no_token() {
    let address = peer(async |stream| {
        drop(tokio_tungstenite::accept_async(stream).await.unwrap());
    })
    .await;
    let mut socket = open(format!("ws://{address}/?token=s3cret")).await.unwrap();
    let failure = socket.receive().await.unwrap_err();
    assert!(
        failure.message.starts_with("127.0.0.1: ") && !failure.message.contains("s3cret"),
        "{failure}"
    );
}

#[tokio::test]
async fn only_sockets_are_opened_and_only_where_the_policy_allows() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let plain = |answer: &'static str| {
        peer(async move |mut stream: TcpStream| {
            let mut heard = [0; 1024];
            let _ = stream.read(&mut heard).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
    };
    let no_socket = plain("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let replayed = plain(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
    )
    .await;
    for (address, expected) in [
        (
            format!("ws://{no_socket}/"),
            "it answered 200 OK where a WebSocket was asked for",
        ),
        (
            format!("ws://{replayed}/"),
            "its answer does not match the request; it is not a WebSocket",
        ),
        (
            "https://example.org/".to_owned(),
            "a socket's address begins with wss://",
        ),
        (
            "ws://169.254.169.254/".to_owned(),
            "169.254.169.254 is reserved, link-local or a metadata service",
        ),
    ] {
        let message = refused(address).await;
        assert!(message.ends_with(expected), "{message}");
    }
    let strict = WebSockets::new(OutboundPolicy::default());
    for (address, expected) in [
        ("wss://127.0.0.1/", "127.0.0.1 is not a public address"),
        (
            "ws://example.org/",
            "plain http is not allowed; use https, or allow http in the settings",
        ),
    ] {
        let Err(failure) = strict.open(&Secret::new(address.to_owned())).await else {
            panic!("{address} was opened");
        };
        assert!(failure.message.ends_with(expected), "{failure}");
    }
}

#[tokio::test]
async fn an_untrusted_certificate_is_refused() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let address = peer(async move |stream| {
        let _ = TlsAcceptor::from(Arc::new(config)).accept(stream).await;
    })
    .await;
    let message = refused(format!("wss://localhost:{}/", address.port())).await;
    assert!(
        message.starts_with("localhost: ") && message.contains("certificate"),
        "{message}"
    );
}

#[tokio::test]
async fn plain_sockets_go_to_this_machine_alone_and_only_where_allowed() {
    let strict = OutboundPolicy {
        allow_http: false,
        ..LOOPBACK
    };
    let address = peer(async |stream| {
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        socket.send(Message::text("here")).await.unwrap();
    })
    .await;
    let local = Secret::new(format!("ws://{address}/"));
    let refused = WebSockets::new(strict.clone()).open(&local).await;
    assert!(refused.is_err_and(|failure| failure.message.contains("plain http is not allowed")));
    let sockets = WebSockets::new(strict).with_plain_loopback(true);
    for elsewhere in [
        "ws://localhost:1/",
        "ws://192.168.0.1/",
        "ws://example.org/",
        "ws://127.0.0.1.example.org/",
    ] {
        let refused = sockets.open(&Secret::new(elsewhere.to_owned())).await;
        assert!(
            refused.is_err_and(|failure| failure.message.contains("plain http is not allowed")),
            "{elsewhere}"
        );
    }
    let mut socket = sockets.open(&local).await.unwrap();
    assert_eq!(
        socket.receive().await.unwrap(),
        Some(SocketMessage::Text("here".to_owned()))
    );
}

#[tokio::test]
async fn a_quiet_connection_is_kept_alive() {
    let address = peer(async |stream| {
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        let mut pings = 0;
        while let Some(Ok(message)) = socket.next().await {
            pings += usize::from(message.is_ping());
            if pings == 2 {
                socket.send(Message::text("enough")).await.unwrap();
                break;
            }
        }
    })
    .await;
    let mut sockets = WebSockets::new(LOOPBACK);
    sockets.quiet = Duration::from_millis(10);
    let opened = sockets.open(&Secret::new(format!("ws://{address}/"))).await;
    assert_eq!(
        opened.unwrap().receive().await.unwrap(),
        Some(SocketMessage::Text("enough".to_owned()))
    );
}
