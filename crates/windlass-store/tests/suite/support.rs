//! What the tests say over and over: homes, events, commits.

use std::path::Path;

use serde_json::{Value, json};
use windlass_ports::{Commit, CommitError, Committed, Expect, JournalWrite, RunStore};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::{
    Body, Digest, Event, NewEvent, Principal, RunId, SpanId, SpanIds, Surface, Timestamp, TokenId,
    TraceId,
    journal::{DomainEvent, OnHeld, RunCompleted, RunCreated, RunStarted, StepCompleted},
};

pub(crate) fn open(home: &Path) -> SqliteStore {
    SqliteStore::open(home, SqliteStoreOptions::default()).unwrap()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub(crate) fn id(text: &str) -> RunId {
    text.parse().unwrap()
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn created() -> RunCreated {
    RunCreated {
        kind: "demo".into(),
        principal: Principal::local("ada"),
        surface: Surface::Cli,
        parent: None,
        trace_id: TraceId::from_bytes([7; 16]),
        idempotency_key: None,
        config_hash: Digest::of(b"config"),
        input: json!({ "files": ["a.txt"], "note": "grüße" }),
        plan_digest: None,
        confirm_token: None,
        approval: None,
        subject: None,
        title: "a demo".into(),
        holds: Vec::new(),
        on_held: OnHeld::default(),
    }
}

pub(crate) fn with_token(token: &str) -> RunCreated {
    RunCreated {
        confirm_token: Some(token.parse::<TokenId>().unwrap()),
        ..created()
    }
}

pub(crate) fn with_key(key: &str) -> RunCreated {
    RunCreated {
        idempotency_key: Some(key.into()),
        ..created()
    }
}

pub(crate) fn started() -> Body {
    RunStarted {
        epoch: 1,
        attempt: 1,
    }
    .into()
}

pub(crate) fn step(key: &str) -> Body {
    StepCompleted {
        key: key.into(),
        input_hash: Digest::of(key.as_bytes()),
        output: json!({ "step": key }),
        undoable: false,
        effect: None,
    }
    .into()
}

pub(crate) fn completed() -> Body {
    RunCompleted {
        output: json!({ "done": true }),
    }
    .into()
}

pub(crate) fn said(text: &str) -> Body {
    Body::Domain(
        "said".into(),
        DomainEvent {
            key: "said".into(),
            data: json!(text),
        },
    )
}

pub(crate) fn new_event(time: i64, body: &Body) -> NewEvent {
    let (event_type, payload) = body.encode().unwrap();
    raw_event(time, &event_type, payload.value())
}

pub(crate) fn raw_event(time: i64, event_type: &str, payload: Value) -> NewEvent {
    NewEvent {
        time: at(time),
        event_type: event_type.into(),
        payload: payload.into(),
        spans: SpanIds {
            span_id: SpanId::from_bytes([3; 8]),
            parent_span_id: Some(SpanId::from_bytes([4; 8])),
        },
    }
}

pub(crate) fn write(run_id: &RunId, expect: Expect, time: i64, bodies: &[Body]) -> JournalWrite {
    JournalWrite {
        run_id: run_id.clone(),
        expect,
        events: bodies.iter().map(|body| new_event(time, body)).collect(),
    }
}

pub(crate) fn commit_of(writes: Vec<JournalWrite>) -> Commit {
    Commit {
        writes,
        lease: None,
    }
}

pub(crate) async fn try_append(
    store: &impl RunStore,
    run_id: &RunId,
    expect: Expect,
    time: i64,
    bodies: &[Body],
) -> Result<Committed, CommitError> {
    store
        .commit(commit_of(vec![write(run_id, expect, time, bodies)]))
        .await
}

/// Appends whatever the journal looks like.
pub(crate) async fn append(
    store: &impl RunStore,
    run_id: &RunId,
    time: i64,
    bodies: &[Body],
) -> Vec<Event> {
    try_append(store, run_id, Expect::Any, time, bodies)
        .await
        .unwrap()
        .events
}

/// A run that was created and ended.
pub(crate) async fn ended_run(store: &impl RunStore, run_id: &RunId, time: i64) -> Vec<Event> {
    append(
        store,
        run_id,
        time,
        &[created().into(), started(), step("one"), completed()],
    )
    .await
}

pub(crate) async fn all_events(store: &impl RunStore, run_id: &RunId) -> Vec<Event> {
    store.events(run_id, 0, usize::MAX).await.unwrap()
}
