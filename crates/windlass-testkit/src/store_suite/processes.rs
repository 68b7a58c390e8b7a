//! Several processes on one home: one drives, all see the same, what was said stays said.

use std::time::Duration;

use windlass_ports::{Commit, CommitError, Expect};
use windlass_types::{RunState, journal::RunStarted};

use super::{
    StoreFactory,
    sample::{append, event, id, run_in, write},
};

/// Far longer than a store's poll interval.
const PATIENCE: Duration = Duration::from_secs(20);

/// Only the newest driver's epoch writes; submissions carry none.
pub async fn old_epochs_are_fenced(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    run_in(&*first.runs, "run_1", RunState::Queued, 0).await;
    let commit = |epoch| Commit {
        writes: vec![write(
            "run_1",
            Expect::Any,
            vec![event(
                1,
                RunStarted {
                    epoch: 1,
                    attempt: 1,
                },
            )],
        )],
        epoch,
    };
    let lease = first.lease.try_acquire().unwrap().expect("nobody drives");
    let old = lease.epoch();
    first.runs.commit(commit(Some(old))).await.unwrap();
    drop(lease);
    let lease = second
        .lease
        .try_acquire()
        .unwrap()
        .expect("nobody drives any more");
    assert!(lease.epoch() > old);
    let refused = first.runs.commit(commit(Some(old))).await.unwrap_err();
    assert!(matches!(refused, CommitError::Fenced), "{refused:?}");
    first.runs.commit(commit(None)).await.unwrap();
    second
        .runs
        .commit(commit(Some(lease.epoch())))
        .await
        .unwrap();
    let refused = second
        .runs
        .commit(commit(Some(lease.epoch() + 1)))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, CommitError::Fenced),
        "an epoch nobody was given: {refused:?}"
    );
    assert_eq!(
        first.runs.events(&id("run_1"), 0, 10).await.unwrap().len(),
        4
    );
}

/// One holder at a time, in this process or another, until the lease is dropped.
pub async fn the_lease_is_held_by_one(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    let mut epochs = Vec::new();
    for _ in 0..3 {
        let lease = first.lease.try_acquire().unwrap().expect("nobody drives");
        assert!(second.lease.try_acquire().unwrap().is_none());
        assert!(first.lease.try_acquire().unwrap().is_none());
        assert!(second.lease.holder().is_some());
        epochs.push(lease.epoch());
        drop(lease);
    }
    assert!(
        epochs.windows(2).all(|pair| pair[0] < pair[1]),
        "{epochs:?}"
    );
    assert!(second.lease.try_acquire().unwrap().is_some());
}

/// Acknowledged is durable: a process that opens the home later finds all of it.
pub async fn what_was_committed_is_there_after_reopening(factory: &dyn StoreFactory) {
    let stores = factory.open();
    run_in(&*stores.runs, "run_1", RunState::Running, 0).await;
    let digest = stores.blobs.put(b"content".to_vec()).await.unwrap();
    let before = (
        stores.runs.events(&id("run_1"), 0, 10).await.unwrap(),
        stores.runs.run(&id("run_1")).await.unwrap(),
    );
    let position = stores.runs.position().await.unwrap();
    drop(stores);
    let stores = factory.open();
    let after = (
        stores.runs.events(&id("run_1"), 0, 10).await.unwrap(),
        stores.runs.run(&id("run_1")).await.unwrap(),
    );
    assert_eq!(after, before);
    assert_eq!(stores.runs.position().await.unwrap(), position);
    assert_eq!(stores.blobs.get(digest).await.unwrap(), b"content");
    append(
        &*stores.runs,
        "run_1",
        Expect::Any,
        vec![event(
            2,
            RunStarted {
                epoch: 2,
                attempt: 2,
            },
        )],
    )
    .await
    .unwrap();
    assert!(stores.runs.position().await.unwrap() > position);
}

/// A commit is noticed in its own process and in others.
pub async fn changes_are_noticed_by_everybody(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    let (mut own, mut other) = (first.runs.changes(), second.runs.changes());
    for name in ["run_1", "run_2"] {
        own.mark_unchanged();
        other.mark_unchanged();
        run_in(&*first.runs, name, RunState::Queued, 0).await;
        for (who, changes) in [("own", &mut own), ("other", &mut other)] {
            tokio::time::timeout(PATIENCE, changes.changed())
                .await
                .unwrap_or_else(|_| panic!("{who} noticed nothing"))
                .unwrap();
        }
        assert!(second.runs.run(&id(name)).await.unwrap().is_some());
    }
}
