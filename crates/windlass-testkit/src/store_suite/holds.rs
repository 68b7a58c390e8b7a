//! What runs hold exclusively: one unfinished run per name, decided in the commit.

use windlass_ports::{Commit, CommitError, Expect, RunStore};
use windlass_types::{
    Body, Principal, RunState,
    journal::{OnHeld, RunCancelled, RunCompleted, RunCreated, SignalReceived},
    run::DUE_NEW,
};

use super::{
    StoreFactory, Stores,
    sample::{append, create, created, event, id, write},
};

fn holding(names: &[&str], on_held: OnHeld) -> RunCreated {
    RunCreated {
        holds: names.iter().map(|name| (*name).to_owned()).collect(),
        on_held,
        ..created()
    }
}

async fn end(store: &dyn RunStore, run_id: &str) -> Result<(), CommitError> {
    let output = serde_json::Value::Null;
    let events = vec![event(1, RunCompleted { output })];
    append(store, run_id, Expect::Any, events).await.map(drop)
}

async fn signal(store: &dyn RunStore, run_id: &str, name: &str) -> Result<(), CommitError> {
    let body = SignalReceived {
        signal: name.to_owned(),
        principal: Principal::local("ada"),
        payload: serde_json::Value::Null,
    };
    append(store, run_id, Expect::Any, vec![event(1, body)])
        .await
        .map(drop)
}

fn refusal(outcome: Result<impl Sized, CommitError>) -> (String, String) {
    match outcome.err() {
        Some(CommitError::Held { name, run_id, .. }) => (name, run_id.to_string()),
        other => panic!("not refused: {other:?}"),
    }
}

/// The runs that may begin.
async fn ready(store: &dyn RunStore) -> Vec<String> {
    let due = store.due(None, DUE_NEW).await.unwrap();
    due.iter().map(ToString::to_string).collect()
}

async fn check(stores: &Stores) {
    let report = stores.maintenance.check().await.unwrap();
    assert_eq!(report.findings, Vec::<String>::new());
}

/// Refused in the commit, also of another process and of the same commit; free once it ended.
pub async fn names_are_held_by_one_run(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    let both = holding(&["stack:shop", "stack:blog"], OnHeld::Refuse);
    create(&*first.runs, "run_1", both.clone()).await.unwrap();
    let blog = holding(&["stack:blog"], OnHeld::Refuse);
    let refused = create(&*second.runs, "run_2", blog.clone()).await;
    assert_eq!(
        refusal(refused),
        ("stack:blog".to_owned(), "run_1".to_owned())
    );
    assert!(second.runs.run(&id("run_2")).await.unwrap().is_none());
    create(
        &*second.runs,
        "run_3",
        holding(&["stack:other"], OnHeld::Refuse),
    )
    .await
    .unwrap();
    end(&*first.runs, "run_1").await.unwrap();
    let twice = Commit {
        writes: vec![
            write("run_4", Expect::New, vec![event(0, blog.clone())]),
            write("run_5", Expect::New, vec![event(0, blog.clone())]),
        ],
        lease: None,
    };
    assert_eq!(refusal(second.runs.commit(twice).await).1, "run_4");
    create(&*second.runs, "run_6", blog).await.unwrap();
    assert_eq!(ready(&*first.runs).await, ["run_3", "run_6"]);
    check(&first).await;
}

/// Who waits begins when every name is free, and nobody overtakes.
pub async fn names_are_given_in_the_order_of_creation(factory: &dyn StoreFactory) {
    let stores = factory.open();
    let store = &*stores.runs;
    let wait = |names: &[&str]| holding(names, OnHeld::Wait);
    create(store, "run_1", wait(&["a"])).await.unwrap();
    create(store, "run_2", wait(&["a", "b"])).await.unwrap();
    create(store, "run_3", wait(&["b"])).await.unwrap();
    create(store, "run_4", wait(&["a"])).await.unwrap();
    create(store, "run_5", wait(&["c"])).await.unwrap();
    assert_eq!(
        ready(store).await,
        ["run_1", "run_5"],
        "b is promised to run_2"
    );
    let refused = create(store, "run_6", holding(&["b"], OnHeld::Refuse)).await;
    assert_eq!(refusal(refused).1, "run_2");
    signal(store, "run_4", "approval").await.unwrap();
    assert_eq!(
        ready(store).await,
        ["run_1", "run_5"],
        "an answer frees no name"
    );
    end(store, "run_1").await.unwrap();
    assert_eq!(ready(store).await, ["run_2", "run_5"]);
    check(&stores).await;
    // A run that waits can be cancelled; it begins in order to end.
    signal(store, "run_3", "cancel").await.unwrap();
    assert_eq!(ready(store).await, ["run_2", "run_3", "run_5"]);
    let cancelled = Body::from(RunCancelled { residue: vec![] });
    append(store, "run_3", Expect::Any, vec![event(1, cancelled)])
        .await
        .unwrap();
    end(store, "run_2").await.unwrap();
    assert_eq!(ready(store).await, ["run_4", "run_5"]);
    check(&stores).await;
}

/// An ended run has lost its names; taking it back needs them again.
pub async fn a_rollback_needs_its_names_again(factory: &dyn StoreFactory) {
    let stores = factory.open();
    let store = &*stores.runs;
    let shop = holding(&["stack:shop"], OnHeld::Refuse);
    create(store, "run_1", shop.clone()).await.unwrap();
    end(store, "run_1").await.unwrap();
    create(store, "run_2", shop.clone()).await.unwrap();
    let refused = signal(store, "run_1", "rollback").await;
    assert_eq!(refusal(refused).1, "run_2");
    end(store, "run_2").await.unwrap();
    signal(store, "run_1", "rollback").await.unwrap();
    let record = store.run(&id("run_1")).await.unwrap().unwrap();
    assert_eq!(record.state, RunState::Unwinding);
    assert_eq!(refusal(create(store, "run_3", shop).await).1, "run_1");
    check(&stores).await;
}
