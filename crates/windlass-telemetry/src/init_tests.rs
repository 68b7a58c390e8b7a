//! Log lines as they are written, and spans as they arrive at a collector.

use std::{
    io::{BufRead, BufReader, Read},
    net::{Ipv4Addr, TcpListener},
    thread::JoinHandle,
};

use windlass_types::{SpanId, SpanIds, TraceId};

use super::*;
use crate::{run_span, step_span};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn options() -> Options {
    Options {
        format: LogFormat::Human,
        filter: None,
        verbosity: 0,
        colour: false,
        otlp: None,
        service_name: "windlass".to_owned(),
        redact: Arc::new(|text| {
            if text.contains("hunter2") {
                text.replace("hunter2", "[redacted]").into()
            } else {
                text.into()
            }
        }),
    }
}

/// Runs `work` under the options and returns what was logged, without times.
fn logged(options: Options, work: impl FnOnce()) -> String {
    let buffer = Buffer::default();
    let (dispatch, guard) = build(options, Arc::new(Mutex::new(buffer.clone()))).unwrap();
    tracing::dispatcher::with_default(&dispatch, work);
    drop(guard);
    let bytes = buffer.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

fn ids(span: u8, parent: Option<u8>) -> SpanIds {
    SpanIds {
        span_id: SpanId::from_bytes([span; 8]),
        parent_span_id: parent.map(|byte| SpanId::from_bytes([byte; 8])),
    }
}

#[test]
fn verbosity_and_filter_choose_what_is_logged() {
    let work = || {
        tracing::debug!("detail");
        tracing::info!("news");
        tracing::warn!("trouble");
        tracing::info!(target: "hyper", "elsewhere");
    };
    let counts: Vec<usize> = (0..4)
        .map(|verbosity| {
            logged(
                Options {
                    verbosity,
                    ..options()
                },
                work,
            )
            .lines()
            .count()
        })
        .collect();
    assert_eq!(counts, [1, 2, 4, 4]);
    let filtered = logged(
        Options {
            filter: Some("error".to_owned()),
            verbosity: 3,
            ..options()
        },
        work,
    );
    assert_eq!(filtered, "");
}

#[test]
fn a_bad_filter_is_refused() {
    let error = build(
        Options {
            filter: Some("loud=very".to_owned()),
            ..options()
        },
        Arc::new(Mutex::new(io::sink())),
    )
    .err()
    .unwrap();
    assert!(
        error
            .to_string()
            .starts_with("the log filter `loud=very` is not understood"),
        "{error}"
    );
}

#[test]
fn json_lines_are_json_and_carry_the_run_and_no_secret() {
    let run_id = "run_1".parse().unwrap();
    let text = logged(
        Options {
            format: LogFormat::Json,
            verbosity: 1,
            ..options()
        },
        || {
            let span = run_span(TraceId::from_bytes([7; 16]), ids(1, None), &run_id, "demo");
            span.in_scope(|| tracing::info!(password = "hunter2", "using hunter2"));
        },
    );
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["message"], "using [redacted]");
    assert_eq!(line["password"], "[redacted]");
    assert_eq!(line["span"]["run"], "run_1");
    assert_eq!(line["level"], "INFO");
}

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
