//! Every event says its line.

use serde_json::json;
use windlass_types::{Digest, NewEvent, event::SpanIds};

use super::*;

/// Renders a journal, one line per shown event: kind, text, how long it took, phase, percentage.
fn render(events: &[(&str, Value)]) -> String {
    let mut lines = RunLines::default();
    let mut rendered = Vec::new();
    for (index, (event_type, payload)) in events.iter().enumerate() {
        let seq = index as u64 + 1;
        let new = NewEvent {
            time: Timestamp::from_millis(seq as i64 * 100),
            event_type: (*event_type).to_owned(),
            payload: payload.clone().into(),
            spans: SpanIds::default(),
        };
        let event = Event::chain("run_1".parse().unwrap(), seq, Digest::ZERO, new);
        if let Some(line) = lines.line(&event) {
            let took = line.took.map(duration).unwrap_or_default();
            let percent = line
                .percent
                .map(|percent| format!("{percent} %"))
                .unwrap_or_default();
            let line_text = format!(
                "{:?} | {} | {took} | {} | {percent}",
                line.kind, line.text, line.phase
            );
            rendered.push(line_text.trim_end_matches([' ', '|']).to_owned());
        }
    }
    rendered.join("\n")
}

fn hash() -> String {
    "0".repeat(64)
}

fn created() -> (&'static str, Value) {
    let principal = json!({ "kind": "local", "name": "ada", "scopes": ["*"] });
    let created = json!({
        "kind": "demo", "principal": principal, "surface": "cli", "trace_id": "0".repeat(32),
        "config_hash": hash(), "input": {}, "title": "demo.apply /srv/x",
    });
    ("run.created", created)
}

fn started(key: &str, attempt: u32) -> (&'static str, Value) {
    (
        "step.started",
        json!({ "key": key, "input_hash": hash(), "idempotency_key": "k", "attempt": attempt }),
    )
}

fn completed(key: &str, effect: Option<&str>) -> (&'static str, Value) {
    (
        "step.completed",
        json!({ "key": key, "input_hash": hash(), "output": null, "undoable": true, "effect": effect }),
    )
}

fn signal(name: &str, payload: Value) -> (&'static str, Value) {
    let principal = json!({ "kind": "local", "name": "ada", "scopes": [] });
    (
        "signal.received",
        json!({ "signal": name, "principal": principal, "payload": payload }),
    )
}

#[test]
fn a_run_from_start_to_end() {
    let rendered = render(&[
        created(),
        ("run.started", json!({ "epoch": 1, "attempt": 1 })),
        completed("keep a.txt", None),
        started("change a.txt", 1),
        completed("change a.txt", Some("a.txt")),
        (
            "event.progress",
            json!({ "key": "progress", "data": { "phase": "copying", "message": "wrote a.txt", "pct": 50 } }),
        ),
        (
            "timer.started",
            json!({ "key": "pause", "fire_at": "1970-01-01T00:00:02.700Z" }),
        ),
        ("run.started", json!({ "epoch": 2, "attempt": 2 })),
        ("timer.fired", json!({ "key": "pause" })),
        (
            "wait.started",
            json!({ "key": "half-way", "signal": "approval", "prompt": "Continue?" }),
        ),
        signal("approval", json!({ "approved": true, "reason": "fine" })),
        (
            "wait.completed",
            json!({ "key": "half-way", "signal_seq": 11 }),
        ),
        (
            "child.started",
            json!({ "key": "note", "run_id": "run_2", "kind": "demo.note" }),
        ),
        (
            "child.completed",
            json!({ "key": "note", "run_id": "run_2", "outcome": { "state": "completed", "output": null } }),
        ),
        (
            "artifact.stored",
            json!({ "key": "r", "artifact": {
            "name": "report.json", "content_type": "application/json", "sha256": hash(), "size": 2048, "visibility": "private" } }),
        ),
        (
            "webhook.enqueued",
            json!({ "key": "w", "delivery": {
            "id": "dlv_1", "url": "https://example.com/hook", "event": "demo.completed", "body": "{}" } }),
        ),
        (
            "event.remark",
            json!({ "key": "remark", "data": { "colour": "blue" } }),
        ),
        ("future.thing", json!({ "anything": 1 })),
        ("run.completed", json!({ "output": null })),
    ]);
    insta::assert_snapshot!(rendered, @r#"
    Begun | demo.apply /srv/x |  | queued
    Note | keep a.txt |  | applying
    Passing | change a.txt |  | applying
    Done | change a.txt | 100 ms | applying
    Passing | wrote a.txt |  | copying | 50 %
    Passing | pause: sleeping 2.0 s |  | waiting
    Begun | resumed (start 2) |  | applying
    Note | pause | 200 ms | applying
    Paused | half-way: Continue? |  | waiting
    Done | approved by local:ada: fine |  | applying
    Note | half-way: answered | 200 ms | applying
    Begun | note: child run run_2 (demo.note) |  | applying
    Done | note | 100 ms | applying
    Note | kept report.json (2.0 KiB) |  | applying
    Note | webhook demo.completed to https://example.com/hook |  | applying
    Note | remark: {"colour":"blue"} |  | applying
    Done | completed | 1.8 s | ended | 100 %
    "#);
}

#[test]
fn a_run_that_fails_and_is_undone() {
    let problem = json!({ "code": "STEP_FAILED", "message": "disk full" });
    let rendered = render(&[
        created(),
        started("change a.txt", 1),
        (
            "step.failed",
            json!({ "key": "change a.txt", "input_hash": hash(), "problem": problem, "attempt": 1,
            "retry_at": "1970-01-01T00:00:05Z" }),
        ),
        started("change a.txt", 2),
        (
            "step.failed",
            json!({ "key": "change a.txt", "input_hash": hash(), "problem": problem, "attempt": 2 }),
        ),
        (
            "run.unwinding",
            json!({ "reason": "failed", "problem": problem }),
        ),
        ("undo.completed", json!({ "key": "change b.txt" })),
        (
            "undo.failed",
            json!({ "key": "change c.txt", "problem": problem }),
        ),
        (
            "run.failed",
            json!({ "problem": problem, "residue": ["change c.txt"] }),
        ),
    ]);
    insta::assert_snapshot!(rendered, @"
    Begun | demo.apply /srv/x |  | queued
    Passing | change a.txt |  | applying
    Failed | change a.txt: disk full, trying again | 100 ms | applying
    Begun | change a.txt (try 2) |  | applying
    Failed | change a.txt: disk full | 100 ms | applying
    Undone | undoing, because disk full |  | unwinding
    Undone | undid change b.txt |  | unwinding
    Failed | could not undo change c.txt: disk full |  | unwinding
    Failed | failed: disk full; these effects remain: change c.txt | 800 ms | ended
    ");
}

#[test]
fn steering_and_other_endings() {
    let rendered = render(&[
        signal(
            "approval",
            json!({ "approved": false, "reason": "not today" }),
        ),
        signal("cancel", json!({ "reason": null })),
        ("run.unwinding", json!({ "reason": "cancelled" })),
        ("run.cancelled", json!({})),
        signal("rollback", json!({})),
        ("run.unwinding", json!({ "reason": "rollback" })),
        ("run.rolled_back", json!({})),
        signal("deploy-finished", json!({})),
        (
            "wait.started",
            json!({ "key": "w", "signal": "deploy-finished" }),
        ),
        ("wait.completed", json!({ "key": "w" })),
        (
            "run.held",
            json!({ "problem": { "code": "NONDETERMINISTIC", "message": "other code" } }),
        ),
        ("step.completed", json!({ "broken": true })),
    ]);
    insta::assert_snapshot!(rendered, @"
    Failed | rejected by local:ada: not today |  | applying
    Failed | cancel requested by local:ada |  | applying
    Undone | undoing, because the run was cancelled |  | unwinding
    Failed | cancelled |  | ended
    Undone | rollback requested by local:ada |  | unwinding
    Undone | rolling back |  | unwinding
    Undone | rolled back |  | ended
    Begun | deploy-finished by local:ada |  | unwinding
    Paused | w: waits for deploy-finished |  | waiting
    Note | w: no answer in time | 100 ms | unwinding
    Paused | held: other code |  | waiting
    Failed | event 12 cannot be read: missing field `key` at line 1 column 15 |  | unwinding
    ");
}

#[test]
fn a_child_is_announced_once() {
    let mut lines = RunLines::default();
    let new = NewEvent {
        time: Timestamp::EPOCH,
        event_type: "child.started".to_owned(),
        payload: json!({ "key": "note", "run_id": "run_2", "kind": "demo.note" }).into(),
        spans: SpanIds::default(),
    };
    lines.line(&Event::chain(
        "run_1".parse().unwrap(),
        1,
        Digest::ZERO,
        new,
    ));
    assert_eq!(lines.take_children()[0].as_str(), "run_2");
    assert!(lines.take_children().is_empty());
}

#[test]
fn the_approval_of_policy_has_no_internal_names() {
    let wait = json!({
        "key": "approval before start", "signal": "approval",
        "prompt": "demo.apply /srv/x (approvers: local:ada, key:ops)", "approvers": ["local:ada", "key:ops"],
    });
    let rendered = render(&[
        created(),
        ("wait.started", wait),
        signal("approval", json!({ "approved": true })),
        (
            "wait.completed",
            json!({ "key": "approval before start", "signal_seq": 3, "payload": { "approved": true } }),
        ),
    ]);
    insta::assert_snapshot!(rendered, @r"
    Begun | demo.apply /srv/x |  | queued
    Paused | waits for an approval by local:ada or key:ops: demo.apply /srv/x |  | waiting
    Done | approved by local:ada |  | applying
    ");
}
