//! The same port again at once, whatever its clients are doing.

use std::net::TcpListener as StdListener;

use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use windlass_http::{ServeError, router, serve};

use super::{
    connections::{Running, exchange},
    support::server,
};

const HEALTH: &[u8] = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n";

#[tokio::test]
async fn twenty_restarts_on_one_port() {
    let server = server().await;
    let mut state = server.state.clone();
    let mut lingering = Vec::new();
    for round in 0..20 {
        state.closing = Default::default();
        let running = Running::start(&state, |_| {}).await;
        if round == 0 {
            state.listen = running.address;
        }
        assert_eq!(running.address, state.listen, "round {round}");
        // One client says goodbye, one keeps its connection, one has sent half a request.
        let answer = exchange(
            running.address,
            &[HEALTH, b"Connection: close\r\n\r\n"].concat(),
        )
        .await;
        assert!(
            answer.starts_with("HTTP/1.1 200"),
            "round {round}: {answer}"
        );
        let mut idle = TcpStream::connect(running.address).await.unwrap();
        idle.write_all(&[HEALTH, b"\r\n"].concat()).await.unwrap();
        idle.readable().await.unwrap();
        lingering.push(idle);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_port_that_is_let_go_in_time_is_had() {
    let server = server().await;
    let other = StdListener::bind("127.0.0.1:0").unwrap();
    let mut state = server.state.clone();
    state.listen = other.local_addr().unwrap();
    let start = tokio::spawn(async move { Running::start(&state, |_| {}).await });
    tokio::task::yield_now().await;
    drop(other);
    start.await.unwrap().stop().await;
}

#[tokio::test]
async fn a_port_that_is_kept_is_named() {
    let server = server().await;
    let other = StdListener::bind("127.0.0.1:0").unwrap();
    let mut state = server.state.clone();
    state.listen = other.local_addr().unwrap();
    let options = state.listen_options().unwrap();
    let refused = serve(
        options,
        router(state.clone()),
        |_| {},
        std::future::pending(),
    )
    .await;
    let Err(error @ ServeError::Bind { .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {}", state.listen)
    );
}
