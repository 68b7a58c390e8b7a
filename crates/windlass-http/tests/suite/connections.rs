//! Real sockets: slow clients, broken clients, clients that leave, and a server that stops.

use std::{net::SocketAddr, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::oneshot,
    task::JoinHandle,
};
use windlass_http::{HttpState, ListenOptions, ServeError, router, serve};
use windlass_testkit::program::{KIND, Op, input};

use super::support::{Server, server, server_with};

pub struct Running {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), ServeError>>,
}

impl Running {
    pub async fn start(state: &HttpState, change: impl FnOnce(&mut ListenOptions)) -> Self {
        let mut options = state.listen_options().unwrap();
        change(&mut options);
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = oneshot::channel();
        let task = tokio::spawn(serve(
            options,
            router(state.clone()),
            |address| tell.send(address).unwrap(),
            async move { drop(stopped.await) },
        ));
        Self {
            address: told.await.unwrap(),
            stop,
            task,
        }
    }

    pub async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap().unwrap();
    }
}

/// Writes a request and reads until the server closes.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    read_to_end(&mut stream).await
}

async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset after the answer is how some refusals end; what came before it counts.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

async fn read_until(stream: &mut TcpStream, mark: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 1024];
    while !text.contains(mark) {
        let count = stream.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "closed before {mark:?}: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

fn health() -> &'static [u8] {
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
}

fn post(server: &Server, operation: &str, headers: &str, body: &str) -> String {
    format!(
        "POST /v1/operations/{operation} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer \
         {}\r\nContent-Type: application/json\r\n{headers}\r\n{body}",
        server.root
    )
}

#[tokio::test]
async fn odd_clients_get_an_answer_and_others_go_on() {
    let server = server().await;
    let running = Running::start(&server.state, |_| {}).await;
    let large = "x".repeat(5000);
    let header = format!(
        "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-F: {large}{large}"
    );
    let long_header = format!("{header}{large}{large}{large}{large}{large}\r\n\r\n");
    let many = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
        "X-A: b\r\n".repeat(200)
    );
    let chunked = post(
        &server,
        "probe.echo",
        "Transfer-Encoding: chunked\r\n",
        &format!("1388\r\n{large}\r\n0\r\n\r\n"),
    );
    let announced = post(&server, "probe.echo", "Content-Length: 9999\r\n", "{");
    let old = "GET /v1/health HTTP/1.0\r\nHost: localhost\r\n\r\n".to_owned();
    let absolute = "GET http://evil.example/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned();
    let smuggled = post(
        &server,
        "probe.echo",
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "{}",
    );
    for (title, request, expected) in [
        ("not HTTP", "hello?\r\n\r\n".to_owned(), "400"),
        ("no version", "GET /\r\n\r\n".to_owned(), "400"),
        ("TLS", "\x16\x03\x01\x02\r\n\r\n".to_owned(), "400"),
        (
            "no host",
            "GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(),
            "400",
        ),
        ("HTTP/1.0", old, "200"),
        ("another host in the address", absolute, "403"),
        ("a large header", long_header, "431"),
        ("many headers", many, "431"),
        ("a large body in chunks", chunked, "413"),
        ("a large body announced", announced, "413"),
        ("two lengths", smuggled, "400"),
    ] {
        let answer = exchange(running.address, request.as_bytes()).await;
        assert_eq!(status(&answer), expected, "{title}: {answer}");
    }
    assert_eq!(status(&exchange(running.address, health()).await), "200");
    running.stop().await;
}

#[tokio::test]
async fn half_a_head_does_not_hold_a_connection() {
    let server = server().await;
    let running = Running::start(&server.state, |options| {
        options.header_timeout = Duration::from_millis(50)
    })
    .await;
    for beginning in ["", "GET /v1/health HTTP/1.1\r\nHost: local"] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        // Ends because the server closes; a server that waits would hang the test.
        let answer = read_to_end(&mut stream).await;
        assert!(answer.is_empty() || status(&answer) == "408", "{answer}");
    }
    running.stop().await;
}

#[tokio::test]
async fn half_a_body_does_not_hold_a_request() {
    let server = server_with(|state| state.request_timeout = Duration::from_millis(100)).await;
    let running = Running::start(&server.state, |_| {}).await;
    let answer = exchange(
        running.address,
        post(&server, "probe.echo", "Content-Length: 20\r\n", "{").as_bytes(),
    )
    .await;
    assert_eq!(status(&answer), "408", "{answer}");
    running.stop().await;
}

#[tokio::test]
async fn half_sent_heads_give_way_to_those_who_ask() {
    let server = server().await;
    let running = Running::start(&server.state, |options| options.max_connections = 32).await;
    let mut held = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream
            .write_all(b"GET /v1/health HTTP/1.1\r\nHost: local")
            .await
            .unwrap();
        held.push(stream);
    }
    let asked = tokio::time::timeout(Duration::from_secs(5), exchange(running.address, health()));
    assert_eq!(status(&asked.await.unwrap()), "200");
    let open = server.state.traffic.text();
    let open = open
        .lines()
        .find_map(|line| line.strip_prefix("windlass_http_connections "))
        .unwrap();
    assert!(open.parse::<usize>().unwrap() <= 33, "{open} are open");
    running.stop().await;
}

#[tokio::test]
async fn a_full_server_answers_probes_and_says_that_it_is_full() {
    let server = server().await;
    let running = Running::start(&server.state, |options| options.max_connections = 1).await;
    let mut first = TcpStream::connect(running.address).await.unwrap();
    // A request under way: its body has not arrived.
    first
        .write_all(post(&server, "probe.echo", "Content-Length: 20\r\n", "{").as_bytes())
        .await
        .unwrap();
    let metrics = || server.state.traffic.text();
    while !metrics().contains("windlass_http_in_flight 1") {
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&exchange(running.address, health()).await), "200");
    let other = b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let refused = exchange(running.address, other).await;
    assert_eq!(status(&refused), "503", "{refused}");
    assert!(
        refused.contains("as many connections as it may have"),
        "{refused}"
    );
    drop(first);
    running.stop().await;
}

/// The answer reaches a client that is still sending, however much of the body is left.
#[tokio::test]
async fn a_refusal_is_seen_by_a_client_that_is_still_sending() {
    let server = server().await;
    let running = Running::start(&server.state, |_| {}).await;
    let length = 24 * 1024 * 1024;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("body");
    fs_err::write(&file, vec![b' '; length]).unwrap();
    let headers = format!("Content-Length: {length}\r\n");
    for (title, announced) in [
        ("announced", headers.as_str()),
        ("chunked", "Transfer-Encoding: chunked\r\n"),
    ] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let head = post(&server, "probe.echo", announced, "");
        stream.write_all(head.as_bytes()).await.unwrap();
        // Sends everything before it reads anything.
        let block = vec![b' '; 64 * 1024];
        for _ in 0..length / block.len() {
            if announced.starts_with("Transfer") {
                stream.write_all(b"10000\r\n").await.unwrap();
            }
            stream.write_all(&block).await.unwrap();
            if announced.starts_with("Transfer") {
                stream.write_all(b"\r\n").await.unwrap();
            }
        }
        let answer = read_to_end(&mut stream).await;
        assert_eq!(status(&answer), "413", "{title}: {answer}");
        assert!(
            answer.to_lowercase().contains("connection: close"),
            "{answer}"
        );
    }
    for header in ["Expect:", "Transfer-Encoding: chunked"] {
        let curl = tokio::process::Command::new("curl")
            .args(["-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H", header])
            .args([
                "-H",
                "Host: localhost",
                "-H",
                "Content-Type: application/json",
            ])
            .args(["-H", &format!("Authorization: Bearer {}", server.root)])
            .arg("--data-binary")
            .arg(format!("@{}", file.display()))
            .arg(format!(
                "http://{}/v1/operations/probe.echo",
                running.address
            ))
            .output()
            .await
            .unwrap();
        let text = String::from_utf8_lossy(&curl.stdout).into_owned();
        let errors = String::from_utf8_lossy(&curl.stderr).into_owned();
        assert_eq!(text, "413", "{header}: {errors}");
        assert!(curl.status.success(), "{header}: {errors}");
    }
    running.stop().await;
}

/// A client that takes nothing is let go, and its place with it.
#[tokio::test]
async fn a_client_that_takes_nothing_is_let_go() {
    let server = server_with(|state| state.body_limit = 16 * 1024 * 1024).await;
    let running = Running::start(&server.state, |options| {
        options.stall_timeout = Duration::from_millis(200)
    })
    .await;
    let large = "x".repeat(12 * 1024 * 1024);
    let body = json!({ "text": large }).to_string();
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let length = format!("Content-Length: {}\r\n", body.len());
    stream
        .write_all(post(&server, "probe.echo", &length, &body).as_bytes())
        .await
        .unwrap();
    let connections = || server.state.traffic.text();
    let gone = async {
        while !connections().contains("windlass_http_connections 0") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone)
        .await
        .unwrap();
    running.stop().await;
}

#[tokio::test]
async fn requests_under_way_are_finished_and_new_ones_refused() {
    let server = server().await;
    let running = Running::start(&server.state, |_| {}).await;
    let request = post(&server, "probe.wait", "Content-Length: 2\r\n", "{}");
    let address = running.address;
    let under_way = tokio::spawn(async move { exchange(address, request.as_bytes()).await });
    server.gates.begun.acquire().await.unwrap().forget();
    let stopping = tokio::spawn(running.stop());
    server.state.closing.cancelled().await;
    assert!(
        TcpStream::connect(address).await.is_err(),
        "the port is closed"
    );
    assert!(!stopping.is_finished());
    server.gates.go_on.add_permits(1);
    assert_eq!(status(&under_way.await.unwrap()), "200");
    stopping.await.unwrap();
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let server = server().await;
    let run_id = server
        .process
        .start(KIND, input(&[Op::approval("ok")]))
        .await;
    server.process.settle(&run_id).await;
    let running = Running::start(&server.state, |_| {}).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream
        .write_all(watch(&server, run_id.as_str()).as_bytes())
        .await
        .unwrap();
    read_until(&mut stream, "event: wait.started").await;
    running.stop().await;
    let rest = read_to_end(&mut stream).await;
    assert!(
        rest.ends_with("0\r\n\r\n"),
        "the stream ends in order: {rest:?}"
    );
}

fn watch(server: &Server, run_id: &str) -> String {
    format!(
        "GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: \
         Bearer {}\r\n\r\n",
        server.root
    )
}

#[tokio::test]
async fn a_client_that_leaves_frees_its_stream() {
    let server = server().await;
    let run_id = server
        .process
        .start(KIND, input(&[Op::approval("ok")]))
        .await;
    server.process.settle(&run_id).await;
    let running = Running::start(&server.state, |_| {}).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream
        .write_all(watch(&server, run_id.as_str()).as_bytes())
        .await
        .unwrap();
    read_until(&mut stream, "event: wait.started").await;
    assert!(
        server
            .state
            .traffic
            .text()
            .contains("windlass_http_streams 1\n")
    );
    drop(stream);
    let freed = async {
        while !server
            .state
            .traffic
            .text()
            .contains("windlass_http_streams 0\n")
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), freed)
        .await
        .expect("the stream is freed");
    running.stop().await;
}

#[tokio::test]
async fn a_change_goes_on_when_its_client_leaves() {
    let server = server().await;
    let running = Running::start(&server.state, |_| {}).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream
        .write_all(post(&server, "probe.change", "Content-Length: 2\r\n", "{}").as_bytes())
        .await
        .unwrap();
    server.gates.begun.acquire().await.unwrap().forget();
    drop(stream);
    let left = async {
        while !server
            .state
            .traffic
            .text()
            .contains("windlass_http_connections 0\n")
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), left)
        .await
        .expect("the connection is gone");
    server.gates.go_on.add_permits(1);
    server.gates.ended.acquire().await.unwrap().forget();
    server.process.engine.audit().flush().await;
    let recorded = || {
        let journal = server.process.store.journal(&"sys_audit".parse().unwrap());
        journal
            .iter()
            .any(|event| event.payload.value()["operation"] == json!("probe.change"))
    };
    let audited = async {
        while !recorded() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), audited)
        .await
        .expect("the change is on record");
    running.stop().await;
}
