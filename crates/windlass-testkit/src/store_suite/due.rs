//! Which runs have to be driven although no driver executes them.

use std::time::Duration;

use windlass_ports::{Expect, RunStore};
use windlass_types::{
    ApprovalTerms, Body, Principal, RunState,
    journal::{RunCancelled, RunStarted, SignalReceived, TimerFired, TimerStarted, WaitStarted},
    run::{DUE_NEW, Due},
};

use super::{
    StoreFactory,
    sample::{append, at, event, id, run_in},
};

fn started() -> Body {
    RunStarted {
        epoch: 1,
        attempt: 1,
    }
    .into()
}

fn timer(key: &str, seconds: i64) -> Body {
    TimerStarted {
        key: key.to_owned(),
        fire_at: at(seconds),
    }
    .into()
}

fn wait(deadline: Option<i64>) -> Body {
    WaitStarted {
        key: "wait".to_owned(),
        signal: "go".to_owned(),
        also: None,
        question: None,
        prompt: None,
        plan_digest: None,
        terms: ApprovalTerms::default(),
        lines: Vec::new(),
        deadline: deadline.map(at),
    }
    .into()
}

fn signal(name: &str) -> Body {
    SignalReceived {
        signal: name.to_owned(),
        principal: Principal::local("ada"),
        payload: serde_json::Value::Null,
    }
    .into()
}

async fn append_bodies(store: &dyn RunStore, run_id: &str, bodies: Vec<Body>) {
    let events = bodies.into_iter().map(|body| event(1, body)).collect();
    append(store, run_id, Expect::Any, events)
        .await
        .expect("events of a run can be stored");
}

async fn due(store: &dyn RunStore, after: Option<i64>, by: i64) -> Vec<String> {
    let due = store.due(after.map(at), at(by)).await;
    due.unwrap().iter().map(ToString::to_string).collect()
}

/// New runs, runs with a new signal, and timers by their time; nothing else.
pub async fn due_runs_are_found_without_the_others(factory: &dyn StoreFactory) {
    let stores = factory.open();
    let store = &*stores.runs;
    for run in [
        "run_new", "run_busy", "run_late", "run_soon", "run_asks", "run_told",
    ] {
        run_in(store, run, RunState::Queued, 0).await;
    }
    run_in(store, "run_over", RunState::Completed, 0).await;
    append_bodies(store, "run_busy", vec![started()]).await;
    append_bodies(store, "run_late", vec![started(), timer("a", 300)]).await;
    append_bodies(
        store,
        "run_soon",
        vec![started(), timer("a", 500), wait(Some(100))],
    )
    .await;
    append_bodies(store, "run_asks", vec![started(), wait(None)]).await;
    append_bodies(store, "run_told", vec![started(), wait(None), signal("go")]).await;
    assert_eq!(due(store, None, 99).await, ["run_new"]);
    assert_eq!(store.signalled().await.unwrap(), [id("run_told")]);
    assert_eq!(due(store, Some(0), 100).await, ["run_soon"]);
    assert_eq!(due(store, Some(100), 300).await, ["run_late"]);
    assert_eq!(store.next_due(at(0)).await.unwrap(), Some(at(100)));
    assert_eq!(store.next_due(at(100)).await.unwrap(), Some(at(300)));
    assert_eq!(store.next_due(at(300)).await.unwrap(), None);
    for (run, at, is_signalled) in [
        ("run_new", Some(DUE_NEW), false),
        ("run_told", None, true),
        ("run_soon", Some(at(100)), false),
        ("run_asks", None, false),
        ("run_busy", None, false),
        ("run_over", None, false),
    ] {
        let standing = store.standing(&id(run)).await.unwrap().unwrap();
        assert_eq!(standing.due, Due { at, is_signalled }, "{run}");
    }
    // A timer stays a timer whatever signals arrive.
    append_bodies(store, "run_soon", vec![signal("other")]).await;
    let standing = store.standing(&id("run_soon")).await.unwrap().unwrap();
    assert_eq!(
        (standing.due.at, standing.due.is_signalled),
        (Some(at(100)), true)
    );
    assert_eq!(store.standing(&id("run_none")).await.unwrap(), None);
    let key = "a".to_owned();
    append_bodies(store, "run_late", vec![TimerFired { key }.into()]).await;
    append_bodies(
        store,
        "run_told",
        vec![RunCancelled { residue: vec![] }.into()],
    )
    .await;
    append_bodies(store, "run_over", vec![signal("rollback")]).await;
    let far = at(0).after(Duration::from_secs(10_000));
    let all = store.due(None, far).await.unwrap();
    assert_eq!(all, [id("run_new"), id("run_soon")]);
    let signalled = store.signalled().await.unwrap();
    assert_eq!(signalled, [id("run_soon"), id("run_over")]);
    let report = stores.maintenance.check().await.unwrap();
    assert_eq!(report.findings, Vec::<String>::new());
}
