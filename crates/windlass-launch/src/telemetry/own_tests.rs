//! What a journal becomes, part by part.

use serde_json::json;
use windlass_types::{
    Digest, NewEvent, Principal, Problem, RunState, Surface, Timestamp, TraceId, code,
    event::SpanIds,
    journal::{
        RunCancelled, RunCompleted, RunCreated, RunFailed, RunStarted, StepCompleted, StepFailed,
        StepStarted,
    },
};

use super::*;

const RUN: &str = "r_2026-01-21T10-00-00Z_o5uw4zdmmfzxgllxnfxgi3dbom";

/// A journal under way; each event comes a second after the one before.
struct Journal {
    events: Vec<Event>,
}

impl Journal {
    fn begun() -> Self {
        let mut journal = Self { events: Vec::new() };
        let config = json!({
            "product_name": "Quill", "product_slug": "quill", "family": "letters",
            "target_platform": "python", "github_repo_url": "/home/ada/quill",
            "site_repo_url": "https://git.example/site",
            "commit_service": { "adapter": "local" },
            "llm": {
                "api_base_url": "https://models.example/v1", "model": "first",
                "decoding": { "temperature": 0.0, "max_tokens": 900 },
                "fallback": { "api_base_url": "https://other.example/v1", "model": "second" },
            },
        });
        journal.push(RunCreated {
            kind: "launch".to_owned(),
            principal: Principal::local("ada"),
            surface: Surface::Cli,
            parent: None,
            trace_id: TraceId::from_bytes([7; 16]),
            idempotency_key: None,
            config_hash: Digest::ZERO,
            input: json!({ "config": config, "config_hash": Digest::ZERO }),
            plan_digest: None,
            confirm_token: None,
            approval: None,
            subject: None,
            title: String::new(),
            holds: Vec::new(),
            on_held: windlass_types::journal::OnHeld::default(),
        });
        journal.push(RunStarted {
            epoch: 1,
            attempt: 1,
        });
        journal
    }

    fn push(&mut self, body: impl Into<Body>) -> &mut Self {
        let (event_type, payload) = body.into().encode().unwrap();
        let last = self.events.last();
        let seq = last.map_or(0, |event| event.seq) + 1;
        let new = NewEvent {
            time: Timestamp::from_millis(i64::try_from(seq).unwrap() * 1000),
            event_type,
            payload,
            spans: SpanIds {
                span_id: SpanId::from_bytes(seq.to_be_bytes()),
                parent_span_id: None,
            },
        };
        let before = last.map_or(Digest::ZERO, |event| event.hash);
        let event = Event::chain(RUN.parse().unwrap(), seq, before, new);
        self.events.push(event);
        self
    }

    fn tell(&mut self, name: &str, key: &str, data: Value) -> &mut Self {
        let key = key.to_owned();
        self.push(Body::Domain(name.to_owned(), DomainEvent { key, data }))
    }

    fn step(&mut self, key: &str) -> &mut Self {
        self.push(StepCompleted {
            key: key.to_owned(),
            input_hash: Digest::ZERO,
            output: Value::Null,
            undoable: false,
            effect: None,
        })
    }

    fn runs(&self) -> Vec<Run> {
        let record = RunRecord::fold(&self.events).unwrap().unwrap();
        let own = runs_of(&record, &self.events);
        own.into_iter().map(|own| own.run).collect()
    }

    /// A line for every run: what it is, how it ended, how long it took, its span.
    fn lines(&self) -> String {
        let line = |run: Run| {
            let context = run.context_json.unwrap();
            let span = context["span_id"].as_str().unwrap().trim_start_matches('0');
            let took = run.duration_ms.map_or("-".to_owned(), |ms| ms.to_string());
            format!(
                "{} {} {} {took} {span}",
                run.run_id.replace(RUN, "R"),
                run.job_type.as_str(),
                run.status.as_str(),
            )
        };
        let lines: Vec<String> = self.runs().into_iter().map(line).collect();
        lines.join("\n")
    }
}

fn work(attempt: u32, scope: &str) -> Value {
    json!({
        "work_item_id": format!("{RUN}:W5:{attempt}:{scope}"),
        "worker": "W5", "scope_key": scope, "attempt": attempt, "message": "written",
    })
}

#[test]
fn every_part_is_a_run_of_its_own() {
    let mut journal = Journal::begun();
    journal
        .tell(event::WORK_ITEM_STARTED, "a", work(1, "docs"))
        // Interrupted, and begun again.
        .tell(event::WORK_ITEM_STARTED, "b", work(2, "docs"))
        .step("W5:docs")
        .tell(event::WORK_ITEM_FINISHED, "c", work(2, "docs"))
        .tell(
            event::GATE_RUN_STARTED,
            "d",
            json!({ "gate": "Schema", "validation": 1 }),
        )
        .step("gate:1:Schema")
        .tell(
            event::GATE_RUN_FINISHED,
            "e",
            json!({ "gate": "Schema", "validation": 1, "ok": false, "duration_ms": 12 }),
        )
        .tell(
            event::TOOL_CALLED,
            "TOOL_CALLED:q1",
            json!({ "tool": "launch_open_pr" }),
        )
        .push(StepStarted {
            key: "W9:commit:1".to_owned(),
            input_hash: Digest::ZERO,
            idempotency_key: String::new(),
            attempt: 1,
            paid: false,
        })
        .push(StepFailed {
            key: "W9:commit:1".to_owned(),
            input_hash: Digest::ZERO,
            problem: Problem::new(&code::COMMIT_SERVICE_ERROR, "not today"),
            attempt: 1,
            retry_at: None,
        })
        .tell(
            event::TOOL_RETURNED,
            "TOOL_RETURNED:q1",
            json!({ "tool": "launch_open_pr", "code": "COMMIT_SERVICE_ERROR" }),
        )
        .tell(
            event::TOOL_CALLED,
            "TOOL_CALLED:q2",
            json!({ "tool": "launch_resume" }),
        );
    insta::assert_snapshot!(journal.lines(), @"
    R launch running - 2
    R-work-W5-docs-1 worker failure 1000 3
    R-work-W5-docs-2 worker success 2000 5
    R-gate-1-Schema gate failure 12 8
    R-tool-9b14fefa-0fd1-454c-aa2f-396ee5ca2c38 mcp_tool_call failure 3000 a
    R-commit-1 commit_service failure 1000 c
    R-tool-6151a893-c7b3-4f2c-bc34-e2e0848d4365 mcp_tool_call running - e
    ");
    let runs = journal.runs();
    assert_eq!(
        runs[0].git_repo, None,
        "a path of this machine is not shown"
    );
    assert_eq!(runs[0].items_discovered, Some(2));
    assert_eq!(runs[2].website_section.as_deref(), Some("docs"));
    let commit = runs.iter().find(|run| run.run_id.ends_with("-commit-1"));
    let commit = commit.unwrap();
    assert_eq!(commit.error_summary.as_deref(), Some("not today"));
    assert_eq!(commit.git_repo.as_deref(), Some("https://git.example/site"));
    let ids: std::collections::BTreeSet<_> = runs.iter().map(|run| &run.event_id).collect();
    assert_eq!(ids.len(), runs.len());
    assert!(ids.iter().all(|id| crate::uuid::parse_uuid4(id).is_some()));
}

#[test]
fn a_model_call_says_what_was_asked_and_what_it_took() {
    let mut journal = Journal::begun();
    let ended = |call: &str, model: &str| {
        json!({
            "call_id": call, "model": model, "prompt_hash": "ab", "finish_reason": "stop",
            "tokens": { "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7 },
            "duration_ms": 40, "message": "rewritten",
        })
    };
    for (call, name, model) in [
        ("c1", event::LLM_CALL_FINISHED, "first"),
        ("c2", event::LLM_CALL_FINISHED, "second"),
        ("c3", event::LLM_CALL_FAILED, "first"),
    ] {
        let begun = json!({ "call_id": call, "model": "first", "page_id": call });
        journal
            .tell(event::LLM_CALL_STARTED, call, begun)
            .step(&format!("llm:{call}"))
            .tell(name, &format!("{call} ended"), ended(call, model));
    }
    let runs = journal.runs();
    assert_eq!(runs[1].run_id, format!("{RUN}-llm-c1"));
    assert_eq!(runs[1].duration_ms, Some(40));
    assert_eq!(
        runs[1].metrics_json,
        Some(json!({
            "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7,
            "api_cost_usd": null, "finish_reason": "stop",
        }))
    );
    assert_eq!(
        runs[1].context_json,
        Some(json!({
            "model": "first", "provider_base_url": "https://models.example/v1",
            "temperature": 0.0, "max_tokens": 900, "prompt_hash": "ab",
            "trace_id": "07070707070707070707070707070707",
            "span_id": "0000000000000004",
        }))
    );
    let other = runs[2].context_json.as_ref().unwrap();
    assert_eq!(other["provider_base_url"], "https://other.example/v1");
    assert_eq!(runs[3].status, Status::Failure);
}

type End = Box<dyn Fn(&mut Journal)>;

#[test]
fn a_launch_ends_as_its_journal_says() {
    let flushed = |pending: u64| json!({ "pending": pending });
    let done = || RunCompleted { output: json!({}) };
    let failed = |failure: &str| RunFailed {
        problem: Problem::new(&code::STEP_FAILED, "no").with("failure_code", failure),
        residue: Vec::new(),
    };
    let cases: [(&str, End, Status); 8] = [
        ("under way", Box::new(|_| {}), Status::Running),
        (
            "done",
            Box::new(move |journal| {
                journal.push(done());
            }),
            Status::Success,
        ),
        (
            "nothing waits",
            Box::new(move |journal| {
                journal.tell(event::TELEMETRY_FLUSHED, "a", flushed(3));
                journal.tell(event::TELEMETRY_FLUSHED, "b", flushed(0));
                journal.push(done());
            }),
            Status::Success,
        ),
        (
            "something waits",
            Box::new(move |journal| {
                journal.tell(event::TELEMETRY_FLUSHED, "a", flushed(3));
                journal.push(done());
            }),
            Status::Partial,
        ),
        (
            "something was dropped",
            Box::new(move |journal| {
                journal.tell(event::TELEMETRY_OUTBOX_TRUNCATED, "a", json!({}));
                journal.tell(event::TELEMETRY_FLUSHED, "b", flushed(0));
                journal.push(done());
            }),
            Status::Partial,
        ),
        (
            "failed",
            Box::new(move |journal| {
                journal.push(failed("REPO_UNREACHABLE"));
            }),
            Status::Failure,
        ),
        (
            "out of time",
            Box::new(move |journal| {
                journal.push(failed("BUDGET_EXCEEDED_MAX_RUNTIME_S"));
            }),
            Status::Timeout,
        ),
        (
            "cancelled",
            Box::new(|journal| {
                journal.push(RunCancelled {
                    residue: Vec::new(),
                });
            }),
            Status::Cancelled,
        ),
    ];
    for (name, end, expected) in cases {
        let mut journal = Journal::begun();
        journal.tell(event::WORK_ITEM_STARTED, "w", work(1, "docs"));
        end(&mut journal);
        let runs = journal.runs();
        assert_eq!(runs[0].status, expected, "{name}");
        let record = RunRecord::fold(&journal.events).unwrap().unwrap();
        let ended = record.state != RunState::Running;
        assert_eq!(runs[0].end_time.is_some(), ended, "{name}");
        // Nothing goes on after its launch.
        assert_eq!(runs[1].status == Status::Running, !ended, "{name}");
    }
}
