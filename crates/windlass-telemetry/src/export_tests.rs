//! Export to a collector on this machine.

use super::*;

/// A collector that answers one export and returns the request line and the body.
fn collector() -> (String, JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(
                reader.read_line(&mut head).unwrap(),
                0,
                "the request ended early"
            );
        }
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length: ")
                    .map(str::to_owned)
            })
            .and_then(|length| length.parse().ok())
            .unwrap();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        reader
            .get_mut()
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .unwrap();
        (head, body)
    });
    (endpoint, thread)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

#[test]
fn spans_arrive_with_the_journals_ids_and_without_secrets() {
    let (endpoint, thread) = collector();
    let headers = vec![(
        "x-collector-key".to_owned(),
        Secret::new("collector-secret".to_owned()),
    )];
    let run_id = "run_42".parse().unwrap();
    let log = logged(
        Options {
            otlp: Some(Otlp { endpoint, headers }),
            service_name: "windlass-test".to_owned(),
            ..options()
        },
        || {
            let trace = TraceId::from_bytes([0xAB; 16]);
            let run = run_span(trace, ids(0x11, None), &run_id, "demo");
            run.in_scope(|| {
                let step = step_span(trace, ids(0x22, Some(0x11)), "write files");
                step.in_scope(|| tracing::info!("password is hunter2"));
            });
        },
    );
    // Dropping the guard in `logged` has flushed; the collector thread has its answer.
    let (head, body) = thread.join().unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("x-collector-key: collector-secret"), "{head}");
    for expected in [
        &[0xAB; 16][..],
        &[0x11; 8],
        &[0x22; 8],
        b"run demo",
        b"step write files",
        b"run_42",
        b"windlass-test",
        b"password is [redacted]",
    ] {
        assert!(contains(&body, expected), "{expected:?}");
    }
    // Twice as its own id in the run, once as the parent in the step.
    let mentions = body
        .windows(8)
        .filter(|window| *window == [0x11; 8])
        .count();
    assert_eq!(mentions, 2);
    assert!(!contains(&body, b"hunter2"));
    assert_eq!(log, "");
}

#[test]
fn an_absent_collector_does_not_keep_the_process() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let started = std::time::Instant::now();
    let run_id = "run_1".parse().unwrap();
    logged(
        Options {
            otlp: Some(Otlp {
                endpoint,
                headers: Vec::new(),
            }),
            ..options()
        },
        || {
            drop(run_span(
                TraceId::from_bytes([1; 16]),
                ids(1, None),
                &run_id,
                "demo",
            ));
        },
    );
    assert!(started.elapsed() < Duration::from_secs(20));
}
