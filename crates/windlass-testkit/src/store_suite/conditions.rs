//! Conditions: what a journal must look like, checked in the commit's transaction.

use serde_json::json;
use windlass_ports::{Commit, CommitError, Expect};
use windlass_types::{
    RunState,
    journal::{RunCompleted, RunStarted},
};

use super::{
    StoreFactory,
    sample::{append, created, event, id, run_in, write},
};

fn started() -> windlass_types::NewEvent {
    event(
        1,
        RunStarted {
            epoch: 1,
            attempt: 1,
        },
    )
}

/// A commit whose last condition fails leaves nothing of its first write.
pub async fn a_commit_is_all_or_nothing(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Queued, 0).await;
    let position = store.position().await.unwrap();
    let writes = vec![
        write("run_2", Expect::New, vec![event(1, created())]),
        write(
            "run_1",
            Expect::State(vec![RunState::Completed]),
            vec![started()],
        ),
    ];
    let refused = store
        .commit(Commit {
            writes,
            lease: None,
        })
        .await
        .unwrap_err();
    assert!(
        matches!(refused, CommitError::Unexpected { run_id, state: Some(RunState::Queued) } if run_id == id("run_1"))
    );
    assert!(store.run(&id("run_2")).await.unwrap().is_none());
    assert_eq!(store.position().await.unwrap(), position);
    let writes = vec![
        write("run_2", Expect::New, vec![event(1, created())]),
        write(
            "run_1",
            Expect::State(vec![RunState::Queued]),
            vec![started()],
        ),
    ];
    assert_eq!(
        store
            .commit(Commit {
                writes,
                lease: None
            })
            .await
            .unwrap()
            .events
            .len(),
        2
    );
}

/// `New` refuses a journal that exists, a run's or not.
pub async fn new_means_new(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Running, 0).await;
    let refused = append(&*store, "run_1", Expect::New, vec![started()])
        .await
        .unwrap_err();
    assert!(
        matches!(
            refused,
            CommitError::Unexpected {
                state: Some(RunState::Running),
                ..
            }
        ),
        "{refused:?}"
    );
    append(&*store, "sys_other", Expect::New, vec![started()])
        .await
        .unwrap();
    let refused = append(&*store, "sys_other", Expect::New, vec![started()])
        .await
        .unwrap_err();
    assert!(
        matches!(refused, CommitError::Unexpected { state: None, .. }),
        "{refused:?}"
    );
}

/// `State` holds for runs in one of the states, and for nothing else.
pub async fn states_are_conditions(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Running, 0).await;
    let active = Expect::State(vec![RunState::Queued, RunState::Running]);
    append(
        &*store,
        "run_1",
        active.clone(),
        vec![event(
            1,
            RunCompleted {
                output: json!(null),
            },
        )],
    )
    .await
    .unwrap();
    let refused = append(&*store, "run_1", active.clone(), vec![started()])
        .await
        .unwrap_err();
    assert!(
        matches!(
            refused,
            CommitError::Unexpected {
                state: Some(RunState::Completed),
                ..
            }
        ),
        "{refused:?}"
    );
    let refused = append(&*store, "run_absent", active, vec![started()])
        .await
        .unwrap_err();
    assert!(
        matches!(refused, CommitError::Unexpected { state: None, .. }),
        "{refused:?}"
    );
}

/// `run.created` begins a journal; anywhere else it is refused.
pub async fn a_run_is_created_once_and_first(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Queued, 0).await;
    for (run_id, events) in [
        ("run_1", vec![event(1, created())]),
        ("run_2", vec![started(), event(1, created())]),
        ("run_3", vec![event(1, created()), event(1, created())]),
    ] {
        let refused = append(&*store, run_id, Expect::Any, events).await;
        assert!(
            matches!(refused, Err(CommitError::Unexpected { .. })),
            "{run_id}: {refused:?}"
        );
    }
    assert_eq!(store.events(&id("run_1"), 0, 10).await.unwrap().len(), 1);
}
