//! An answer that was given but not processed keeps a run from counting as settled.

use serde_json::{Value, json};
use windlass_types::{Digest, NewEvent, Timestamp, event::SpanIds};

use super::*;

fn run(state: &str, waits: &[&str]) -> RunView {
    let waiting_on: Vec<Value> = waits.iter().map(|what| json!({ "what": what })).collect();
    serde_json::from_value(json!({
        "run_id": "run_1", "kind": "demo", "state": state, "title": "demo", "principal": "local:ada",
        "surface": "cli", "trace_id": "0".repeat(32), "attempts": 1, "waiting_on": waiting_on,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "last_seq": 3,
    }))
    .unwrap()
}

fn heard(events: &[(&str, Value)]) -> Heard {
    let mut heard = Heard::default();
    for (index, (event_type, payload)) in events.iter().enumerate() {
        let new = NewEvent {
            time: Timestamp::EPOCH,
            event_type: (*event_type).to_owned(),
            payload: payload.clone().into(),
            spans: SpanIds::default(),
        };
        heard.listen(&Event::chain(
            "run_1".parse().unwrap(),
            index as u64 + 1,
            Digest::ZERO,
            new,
        ));
    }
    heard
}

fn signal(name: &str) -> (&'static str, Value) {
    let principal = json!({ "kind": "local", "name": "ada", "scopes": [] });
    (
        "signal.received",
        json!({ "signal": name, "principal": principal, "payload": {} }),
    )
}

fn taken(seq: u64) -> (&'static str, Value) {
    ("wait.completed", json!({ "key": "w", "signal_seq": seq }))
}

fn held() -> (&'static str, Value) {
    (
        "run.held",
        json!({ "problem": { "code": "NONDETERMINISTIC", "message": "x" } }),
    )
}

#[test]
fn an_approval_of_several_does_not_keep_a_run_going() {
    let mut asks = run("waiting", &["approval"]);
    asks.waiting_on[0].approved_by = vec!["local:ada".to_owned()];
    let heard = self::heard(&[signal("approval")]);
    assert!(!heard.something_is_pending(&asks));
    asks.waiting_on[0].answered = true;
    assert!(heard.something_is_pending(&asks));
    // The next question, after two of two.
    let heard = self::heard(&[signal("approval"), signal("approval"), taken(2)]);
    assert!(!heard.something_is_pending(&run("waiting", &["approval"])));
}

#[test]
fn pending_answers_keep_a_run_going() {
    let asks = run("waiting", &["approval"]);
    let stands = run("held", &[]);
    let cases = [
        ("nothing was said", heard(&[]), &asks, false),
        (
            "a yes is on its way",
            heard(&[signal("approval")]),
            &asks,
            true,
        ),
        (
            "the yes was for an earlier question",
            heard(&[signal("approval"), taken(1)]),
            &asks,
            false,
        ),
        (
            "two were sent, one was taken",
            heard(&[signal("approval"), taken(1), signal("approval")]),
            &asks,
            true,
        ),
        (
            "a cancel is on its way",
            heard(&[signal("cancel")]),
            &asks,
            true,
        ),
        (
            "another signal, which nothing waits for",
            heard(&[signal("other")]),
            &asks,
            false,
        ),
        (
            "held, and nothing was said since",
            heard(&[signal("approval"), held()]),
            &stands,
            false,
        ),
        (
            "held, then resumed",
            heard(&[held(), signal("resume")]),
            &stands,
            true,
        ),
        (
            "held again after resuming",
            heard(&[held(), signal("resume"), held()]),
            &stands,
            false,
        ),
    ];
    for (what, heard, run, pending) in cases {
        assert_eq!(heard.something_is_pending(run), pending, "{what}");
    }
}

#[test]
fn timers_and_children_are_no_persons() {
    for (state, waits, asks) in [
        ("waiting", &["timer"][..], false),
        ("waiting", &["child", "timer"], false),
        ("waiting", &["approval"], true),
        ("waiting", &["timer", "deploy-finished"], true),
        ("running", &["approval"], false),
    ] {
        assert_eq!(asks_a_person(&run(state, waits)), asks, "{state} {waits:?}");
    }
}
