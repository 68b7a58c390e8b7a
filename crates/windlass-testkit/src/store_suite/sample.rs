//! Events and commits for the cases.

use serde_json::json;
use windlass_ports::{Commit, CommitError, Committed, Expect, JournalWrite, RunStore};
use windlass_types::{
    Body, Digest, NewEvent, Principal, RunId, RunState, Surface, Timestamp, TraceId,
    event::SpanIds,
    journal::{RunCompleted, RunCreated, RunHeld, RunStarted},
};

/// A moment, in seconds from the first one of the suite.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
}

pub(super) fn id(name: &str) -> RunId {
    name.parse().expect("the names of the suite are ids")
}

pub(super) fn created() -> RunCreated {
    RunCreated {
        kind: "demo".to_owned(),
        principal: Principal::local("ada"),
        surface: Surface::Cli,
        parent: None,
        trace_id: TraceId::default(),
        idempotency_key: None,
        config_hash: Digest::of(b"config"),
        input: json!({ "text": "grüße\n" }),
        plan_digest: None,
        confirm_token: None,
        approval: None,
        subject: None,
        title: "a run".to_owned(),
        holds: Vec::new(),
        on_held: windlass_types::journal::OnHeld::Refuse,
    }
}

pub(super) fn event(seconds: i64, body: impl Into<Body>) -> NewEvent {
    let (event_type, payload) = body.into().encode().expect("bodies are JSON");
    NewEvent {
        time: at(seconds),
        event_type,
        payload,
        spans: SpanIds::default(),
    }
}

pub(super) fn write(run_id: &str, expect: Expect, events: Vec<NewEvent>) -> JournalWrite {
    JournalWrite {
        run_id: id(run_id),
        expect,
        events,
    }
}

/// Commits events to one journal.
pub(super) async fn append(
    store: &dyn RunStore,
    run_id: &str,
    expect: Expect,
    events: Vec<NewEvent>,
) -> Result<Committed, CommitError> {
    store
        .commit(Commit {
            writes: vec![write(run_id, expect, events)],
            lease: None,
        })
        .await
}

/// Creates a run.
pub(super) async fn create(
    store: &dyn RunStore,
    run_id: &str,
    created: RunCreated,
) -> Result<Committed, CommitError> {
    append(store, run_id, Expect::New, vec![event(0, created)]).await
}

/// Brings a new run to a state.
pub(super) async fn run_in(store: &dyn RunStore, run_id: &str, state: RunState, seconds: i64) {
    let mut events = vec![event(seconds, created())];
    match state {
        RunState::Queued => {}
        RunState::Running => events.push(event(
            seconds,
            RunStarted {
                epoch: 1,
                attempt: 1,
            },
        )),
        RunState::Held => {
            let problem = windlass_types::Problem::internal("suite", "held");
            events.push(event(seconds, RunHeld { problem }));
        }
        RunState::Completed => events.push(event(
            seconds,
            RunCompleted {
                output: json!({ "ok": true }),
            },
        )),
        other => panic!("the suite has no run that is {}", other.as_str()),
    }
    append(store, run_id, Expect::New, events)
        .await
        .expect("a new run can be stored");
}
