//! Events of a run as lines, for each kind of reader.

use serde_json::json;
use windlass_types::{Digest, NewEvent, event::SpanIds};

use super::*;

fn lines_for(reader: Reader) -> String {
    let events = [
        (
            "event.stack.progress",
            json!({ "key": "a", "data": { "phase": "packaging", "message": "Building \u{1b}[1mapi\u{1b}[0m" } }),
        ),
        (
            "event.stack.log",
            json!({ "key": "b", "data": { "source": "api", "level": "info", "message": "done" } }),
        ),
        (
            "event.stack.progress",
            json!({ "key": "c", "data": { "phase": "deploying", "message": "Db CREATE_IN_PROGRESS", "pct": 10, "ts": "2026-02-12T10:00:01Z" } }),
        ),
        (
            "event.stack.progress",
            json!({ "key": "d", "data": { "phase": "deploying", "message": "Db CREATE_COMPLETE", "pct": 50 } }),
        ),
        (
            "event.stack.log",
            json!({ "key": "e", "data": { "source": "Api", "level": "error", "message": "CREATE_FAILED: no" } }),
        ),
        (
            "event.stack.log",
            json!({ "key": "f", "data": { "source": "Api", "level": "warn", "message": "slow" } }),
        ),
        (
            "event.other",
            json!({ "key": "g", "data": { "message": "not shown" } }),
        ),
        ("step.started", json!({ "key": "h", "attempt": 1 })),
    ];
    let mut stack = StackLines::new(reader);
    let mut lines = Vec::new();
    for (index, (event_type, payload)) in events.into_iter().enumerate() {
        let seq = index as u64 + 1;
        let new = NewEvent {
            time: Timestamp::from_millis(seq as i64 * 1000),
            event_type: event_type.to_owned(),
            payload: payload.into(),
            spans: SpanIds::default(),
        };
        let event = Event::chain("run_1".parse().unwrap(), seq, Digest::ZERO, new);
        if let Some(line) = stack.line(&event) {
            lines.push(format!(
                "{:?} {} [{}] {} {} {}",
                line.kind,
                line.phase,
                line.source.unwrap_or_default(),
                line.text,
                line.percent
                    .map(|percent| percent.to_string())
                    .unwrap_or_default(),
                line.at
            ));
        }
    }
    lines.join("\n")
}

#[test]
fn programs_get_everything_as_progress_or_log() {
    insta::assert_snapshot!(lines_for(Reader::Stream), @"
    Passing packaging [] Building api  1970-01-01T00:00:01.000Z
    Note packaging [api] done  1970-01-01T00:00:02.000Z
    Passing deploying [] Db CREATE_IN_PROGRESS 10 2026-02-12T10:00:01.000Z
    Passing deploying [] Db CREATE_COMPLETE 50 1970-01-01T00:00:04.000Z
    Failed deploying [Api] CREATE_FAILED: no  1970-01-01T00:00:05.000Z
    Caution deploying [Api] slow  1970-01-01T00:00:06.000Z
    ");
}

#[test]
fn a_screen_keeps_what_ended_and_moves_the_rest() {
    insta::assert_snapshot!(lines_for(Reader::Screen), @"
    Begun packaging [] Building api  1970-01-01T00:00:01.000Z
    Note packaging [api] done  1970-01-01T00:00:02.000Z
    Begun deploying [] Db CREATE_IN_PROGRESS 10 2026-02-12T10:00:01.000Z
    Done deploying [] Db CREATE_COMPLETE 50 1970-01-01T00:00:04.000Z
    Failed deploying [Api] CREATE_FAILED: no  1970-01-01T00:00:05.000Z
    Caution deploying [Api] slow  1970-01-01T00:00:06.000Z
    ");
}

#[test]
fn a_file_gets_every_line() {
    let lines = lines_for(Reader::Lines);
    assert!(
        lines.contains("Begun deploying [] Db CREATE_IN_PROGRESS 10"),
        "{lines}"
    );
}
