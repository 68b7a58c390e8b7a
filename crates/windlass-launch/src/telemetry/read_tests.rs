//! What is taken as a report, and what is said about the rest.

use super::*;

fn report(changes: Value) -> Value {
    let mut report = json!({
        "event_id": "0B5C2B1E-7a4f-4c1d-9e57-2f0a6b7c8d9e",
        "run_id": "night-1",
        "agent_name": "builder",
        "job_type": "worker",
        "start_time": "2026-01-21T11:00:00+01:00",
    });
    let (Value::Object(report_fields), Value::Object(changes)) = (&mut report, changes) else {
        panic!("not objects");
    };
    for (key, value) in changes {
        report_fields.insert(key, value);
    }
    report
}

#[test]
fn a_report_is_read() {
    let read = run(report(json!({
        "status": "completed",
        "end_time": "2026-01-21T10:00:02.500Z",
        "product": null,
        "metrics_json": "{\"pages\": 3}",
        "context_json": { "trace_id": "ab" },
        "items_failed": 0,
    })))
    .unwrap();
    assert_eq!(read.event_id, "0b5c2b1e-7a4f-4c1d-9e57-2f0a6b7c8d9e");
    assert_eq!(read.start_time.to_string(), "2026-01-21T10:00:00.000Z");
    assert_eq!(read.status, Status::Success);
    assert_eq!(read.duration_ms, Some(2500));
    assert_eq!(read.metrics_json, Some(json!({ "pages": 3 })));
    assert_eq!(read.items_failed, Some(0));
    assert_eq!(read.product, None);
    assert_eq!(run(report(json!({}))).unwrap().status, Status::Running);
}

#[test]
fn what_is_wrong_is_said() {
    let long = "x".repeat(SHORT + 1);
    let cases = [
        json!({ "event_id": "nightly" }),
        json!({ "event_id": null }),
        json!({ "run_id": "" }),
        json!({ "run_id": "a\nb" }),
        json!({ "agent_name": 7 }),
        json!({ "agent_name": long }),
        json!({ "job_type": "cron" }),
        json!({ "start_time": "2026-01-21T10:00:00" }),
        json!({ "start_time": "yesterday" }),
        json!({ "status": "done" }),
        json!({ "duration_ms": -1 }),
        json!({ "items_skipped": 1.5 }),
        json!({ "metrics_json": "many" }),
        json!({ "context_json": [] }),
        json!({ "error_details": 3 }),
        json!({ "colour": "red" }),
    ];
    let said: Vec<String> = cases
        .into_iter()
        .map(|case| {
            let problem = run(report(case)).unwrap_err();
            assert_eq!(problem.code().http_status, 400);
            let field = &problem.details()["field"];
            let message: String = problem.message().chars().take(70).collect();
            format!("{field} {}", message.trim_end())
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    "/event_id" event_id is a UUID of version 4, such as 0b5c2b1e-7a4f-4c1d-9e57-2f0a6
    "/event_id" event_id is required
    "/run_id" run_id is empty
    "/run_id" run_id has a control character
    "/agent_name" agent_name is a number, not a text
    "/agent_name" agent_name has more than 500 characters
    "/job_type" no job_type is called "cron"; it is one of launch, orchestrator_node,
    "/start_time" start_time is a time of ISO 8601 with its zone, such as 2026-01-21T10:
    "/start_time" start_time is a time of ISO 8601 with its zone, such as 2026-01-21T10:
    "/status" no status is called "done"; it is one of running, success, failure, pa
    "/duration_ms" duration_ms is a whole number that is not negative
    "/items_skipped" items_skipped is a whole number that is not negative
    "/metrics_json" metrics_json is a text, not an object
    "/context_json" context_json is a list, not an object
    "/error_details" error_details is a number, not a text or an object
    "/colour" "colour" is not a field here; known fields: event_id, run_id, agent_na
    "#);
}

#[test]
fn every_word_for_a_status_is_understood() {
    for (word, expected) in [
        ("running", Some(Status::Running)),
        ("success", Some(Status::Success)),
        ("completed", Some(Status::Success)),
        ("succeeded", Some(Status::Success)),
        ("failure", Some(Status::Failure)),
        ("failed", Some(Status::Failure)),
        ("partial", Some(Status::Partial)),
        ("timeout", Some(Status::Timeout)),
        ("cancelled", Some(Status::Cancelled)),
        ("canceled", None),
        ("Running", None),
        ("", None),
    ] {
        assert_eq!(status(word).ok(), expected, "{word}");
    }
}

#[test]
fn a_commit_is_read() {
    for (hash, source, good) in [
        ("4f2a9c1", "manual", true),
        ("4F2A9C1B7d3e5f60718293a4b5c6d7e8f9012345", "llm", true),
        ("4f2a9c1", "ci", true),
        ("4f2a9c", "ci", false),
        ("4f2a9c1b7d3e5f60718293a4b5c6d7e8f90123456", "ci", false),
        ("4f2a9cg", "ci", false),
        ("4f2a9c1", "cron", false),
        ("", "ci", false),
    ] {
        let read = commit(json!({ "commit_hash": hash, "commit_source": source }));
        assert_eq!(read.is_ok(), good, "{hash} {source}");
    }
    assert!(commit(json!({ "commit_hash": "4f2a9c1" })).is_err());
    assert!(changes(json!({ "commit_hash": "4f2a9c1" })).is_err());
}
