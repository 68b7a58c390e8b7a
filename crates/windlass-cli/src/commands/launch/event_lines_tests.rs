//! Every event that matters says its line, and the board says where everything stands.

use serde_json::json;
use windlass_types::{Digest, NewEvent, event::SpanIds};

use super::*;
use crate::output::{Captured, Mode};

/// Events of a launch, each a tenth of a second after the one before.
fn journal(events: &[(&str, Value)]) -> Vec<Event> {
    events
        .iter()
        .enumerate()
        .map(|(index, (name, data))| {
            let seq = index as u64 + 1;
            let (event_type, payload) = match *name {
                "run.created" => ("run.created".to_owned(), created()),
                "run.started" | "run.completed" | "run.failed" => {
                    ((*name).to_owned(), data.clone())
                }
                domain => (
                    format!("event.{domain}"),
                    json!({ "key": seq.to_string(), "data": data }),
                ),
            };
            let new = NewEvent {
                time: Timestamp::from_millis(seq as i64 * 100),
                event_type,
                payload: payload.into(),
                spans: SpanIds::default(),
            };
            Event::chain("r_1".parse().unwrap(), seq, Digest::ZERO, new)
        })
        .collect()
}

fn created() -> Value {
    let principal = json!({ "kind": "local", "name": "ada", "scopes": ["*"] });
    json!({
        "kind": "launch", "principal": principal, "surface": "cli", "trace_id": "0".repeat(32),
        "config_hash": "0".repeat(64), "input": {}, "title": "launch of acme",
    })
}

fn state(to: &str) -> (&'static str, Value) {
    (
        "RUN_STATE_CHANGED",
        json!({ "from_state": "X", "to_state": to }),
    )
}

fn section(name: &str, to: &str) -> (&'static str, Value) {
    (
        "SECTION_STATE_CHANGED",
        json!({ "section": name, "to_state": to }),
    )
}

fn issue(id: &str, severity: &str) -> (&'static str, Value) {
    let issue = json!({ "issue_id": id, "severity": severity, "gate": "TruthLock", "title": "Uncited", "location": { "path": "a.md", "line": 3 } });
    ("ISSUE_OPENED", json!({ "issue": issue, "message": "m" }))
}

fn gate(name: &str, ok: bool, skipped: bool) -> (&'static str, Value) {
    let issues = json!({ "blocker": u8::from(!ok), "error": 0, "warn": 0, "info": 0 });
    (
        "GATE_RUN_FINISHED",
        json!({ "gate": name, "ok": ok, "skipped": skipped, "issues": issues, "duration_ms": 7 }),
    )
}

fn work(event: &'static str, worker: &str, message: &str, ok: bool) -> (&'static str, Value) {
    (
        event,
        json!({ "worker": worker, "message": message, "outputs": { "ok": ok } }),
    )
}

/// A launch that is validated, fixed once and ready.
fn whole() -> Vec<Event> {
    journal(&[
        ("run.created", Value::Null),
        work("WORK_ITEM_STARTED", "W1", "W1 scout: begun", true),
        work(
            "WORK_ITEM_FINISHED",
            "W1",
            "both repositories are here",
            true,
        ),
        state("CLONED_INPUTS"),
        ("ARTIFACT_WRITTEN", json!({ "name": "page_plan.json" })),
        section("docs", "OUTLINED"),
        state("DRAFTING"),
        section("docs", "MERGED_IN_WORKTREE"),
        state("VALIDATING"),
        work("WORK_ITEM_STARTED", "W7", "W7 validate: begun", true),
        ("GATE_RUN_STARTED", json!({ "gate": "Schema" })),
        gate("Schema", true, false),
        gate("HugoBuild", true, true),
        gate("TruthLock", false, false),
        issue("iss_1", "blocker"),
        issue("iss_2", "warn"),
        work(
            "WORK_ITEM_FINISHED",
            "W7",
            "1 issues stand in the way",
            false,
        ),
        ("run.started", json!({ "attempt": 2, "epoch": 1 })),
        (
            "RESUME_REWIND",
            json!({ "from_state": "VALIDATING", "to_state": "DRAFT_READY" }),
        ),
        state("FIXING"),
        work("WORK_ITEM_FINISHED", "W8", "fixed iss_1: Uncited", true),
        ("ISSUE_RESOLVED", json!({ "issue_id": "iss_1" })),
        state("READY_FOR_PR"),
        ("PR_OPENED", json!({ "pr_url": "file:///pr.md" })),
        state("DONE"),
    ])
}

#[test]
fn the_events_of_a_launch_become_lines() {
    let mut launch = LaunchLines::default();
    let lines: Vec<String> = whole()
        .iter()
        .filter_map(|event| launch.line(event))
        .map(|line| {
            let took = line.took.map(duration).unwrap_or_default();
            let percent = line.percent.unwrap_or_default();
            format!(
                "{:?} | {} | {took} | {} | {percent} %",
                line.kind, line.text, line.phase
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Begun | launch of acme |  | created | 0 %
    Passing | W1 scout |  | created | 0 %
    Note | both repositories are here | 100 ms | created | 0 %
    Done | CLONED_INPUTS | 300 ms | cloned_inputs | 10 %
    Passing | docs: outlined |  | cloned_inputs | 10 %
    Begun | DRAFTING |  | drafting | 45 %
    Passing | docs: merged in worktree |  | drafting | 45 %
    Begun | VALIDATING |  | validating | 70 %
    Passing | W7 validate |  | validating | 70 %
    Passing | Schema: passed | 7 ms | validating | 70 %
    Passing | HugoBuild: skipped | 7 ms | validating | 70 %
    Failed | TruthLock: 1 blocker | 7 ms | validating | 70 %
    Failed | blocker: Uncited (a.md:3) |  | validating | 70 %
    Note | warn: Uncited (a.md:3) |  | validating | 70 %
    Failed | 1 blocker, 1 warning (1 of 3 gates passed, 1 skipped) | 700 ms | validating | 70 %
    Passing | resumed (start 2) |  | validating | 70 %
    Undone | interrupted, back to DRAFT_READY |  | draft_ready | 60 %
    Begun | FIXING |  | fixing | 80 %
    Done | fixed iss_1: Uncited |  | fixing | 80 %
    Done | resolved: Uncited (a.md:3) |  | fixing | 80 %
    Done | READY_FOR_PR | 300 ms | ready_for_pr | 90 %
    Done | pull request file:///pr.md |  | ready_for_pr | 90 %
    ");
}

#[test]
fn the_board_shows_the_state_of_everything() {
    let captured = Captured::new(Mode::Human);
    let events = whole();
    let mut launch = LaunchLines::default();
    let mut boards = Vec::new();
    for (index, event) in events.iter().enumerate() {
        launch.line(event);
        if [1, 10, 15, 22].contains(&index) {
            boards.push(launch.summary(captured.printer.paint(), 60, event.time));
        }
    }
    insta::assert_snapshot!(boards.join("\n\n"), @"
    CREATED  launch of acme
      now       W1 scout

    VALIDATING  launch of acme
      sections  docs in the site
      gates     … Schema
      now       W7 validate

    VALIDATING  launch of acme
      sections  docs in the site
      gates     ✓–✗
      issues    1 blocker, 1 warning
      now       W7 validate

    READY_FOR_PR  launch of acme
      sections  docs in the site
      gates     ✓–✗
      issues    1 warning
    ");
    let narrow = launch.summary(captured.printer.paint(), 12, Timestamp::EPOCH);
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 12),
        "{narrow}"
    );
}

#[test]
fn endings_and_failures_become_lines() {
    let problem = json!({ "code": "FIX_EXHAUSTED", "message": "nothing more can be tried" });
    let events = journal(&[
        ("run.created", Value::Null),
        (
            "WORK_ITEM_FAILED",
            json!({ "worker": "W7", "message": "failed: Hugo is not installed" }),
        ),
        ("LLM_CALL_FAILED", json!({ "message": "no answer" })),
        (
            "PR_APPROVED",
            json!({ "approved": false, "principal": "local:ada" }),
        ),
        (
            "INVALID_STATE_TRANSITION",
            json!({ "from_state": "DONE", "to_state": "FIXING" }),
        ),
        ("A_LATER_EVENT", json!({})),
        ("run.failed", json!({ "problem": problem, "residue": [] })),
    ]);
    let mut launch = LaunchLines::default();
    let lines: Vec<String> = events
        .iter()
        .filter_map(|event| launch.line(event))
        .map(|line| format!("{:?} | {}", line.kind, line.text))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    Begun | launch of acme
    Failed | failed: Hugo is not installed
    Failed | a language model call failed: no answer
    Failed | pull request rejected by local:ada
    Failed | FIXING cannot follow DONE
    Failed | FAILED: nothing more can be tried
    ");
}
