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
        tracing::info!(target: "windlass_http::guard", "answered");
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
    assert_eq!(counts, [2, 3, 5, 5]);
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

#[cfg(feature = "otlp")]
#[path = "export_tests.rs"]
mod export_tests;
