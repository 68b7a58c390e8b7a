//! Two processes on one home, in effect: two stores with nothing in common but the files.

use std::time::Duration;

use windlass_ports::{CommitError, Expect, RunStore};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::RunState;

use super::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_append_to_the_same_journals() {
    let home = tempfile::tempdir().unwrap();
    let run = id("run_1");
    {
        let store = open(home.path());
        append(&store, &run, 1, &[created().into(), started()]).await;
    }
    let writers: Vec<_> = (0..2)
        .map(|n| {
            let (store, run) = (open(home.path()), run.clone());
            tokio::spawn(async move {
                for k in 0..100 {
                    append(&store, &run, k, &[said(&format!("{n}/{k}"))]).await;
                    append(&store, &id(&format!("run_{n}_{k}")), k, &[created().into()]).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let store = open(home.path());
    let events = all_events(&store, &run).await;
    assert_eq!(events.len(), 202);
    for n in 0..2 {
        let own: Vec<_> = events
            .iter()
            .filter_map(|event| event.payload.value()["data"].as_str().map(str::to_owned))
            .filter(|text| text.starts_with(&format!("{n}/")))
            .collect();
        assert_eq!(
            own,
            (0..100).map(|k| format!("{n}/{k}")).collect::<Vec<_>>(),
            "in order"
        );
    }
    assert_eq!(store.unfinished().await.unwrap(), 201);
}

#[tokio::test]
async fn a_store_sees_at_once_what_another_committed() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (open(home.path()), open(home.path()));
    let run = id("run_1");
    append(&one, &run, 1, &[with_token("tok_1").into()]).await;
    assert_eq!(
        two.run(&run).await.unwrap().unwrap().state,
        RunState::Queued
    );
    append(&two, &run, 2, &[started()]).await;
    // The first store remembers the journal; it must notice that it moved on.
    let queued = try_append(
        &one,
        &run,
        Expect::State(vec![RunState::Queued]),
        3,
        &[said("x")],
    )
    .await;
    assert!(
        matches!(
            queued,
            Err(CommitError::Unexpected {
                state: Some(RunState::Running),
                ..
            })
        ),
        "{queued:?}"
    );
    let spent = try_append(
        &two,
        &id("run_2"),
        Expect::New,
        3,
        &[with_token("tok_1").into()],
    )
    .await;
    assert!(
        matches!(spent, Err(CommitError::TokenUsed { .. })),
        "{spent:?}"
    );
    append(&one, &run, 4, &[step("one")]).await;
    assert_eq!(all_events(&two, &run).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_at_two_stores_creates_one_run() {
    let home = tempfile::tempdir().unwrap();
    let stores = [
        std::sync::Arc::new(open(home.path())),
        std::sync::Arc::new(open(home.path())),
    ];
    for round in 0..20 {
        let tasks: Vec<_> = (0..8)
            .map(|n| {
                let store = std::sync::Arc::clone(&stores[n % 2]);
                tokio::spawn(async move {
                    let run = id(&format!("run_{round}_{n}"));
                    let created = with_token(&format!("tok_{round}"));
                    try_append(&*store, &run, Expect::New, 1, &[created.into()])
                        .await
                        .is_ok()
                })
            })
            .collect();
        let mut won = 0;
        for task in tasks {
            won += usize::from(task.await.unwrap());
        }
        assert_eq!(won, 1, "round {round}");
    }
}

#[tokio::test]
async fn subscribers_see_their_own_commits_and_those_of_others() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (open(home.path()), open(home.path()));
    let mut own = one.changes();
    let mut other = two.changes();
    append(&one, &id("run_1"), 1, &[created().into()]).await;
    for (changes, who) in [(&mut own, "own"), (&mut other, "other")] {
        tokio::time::timeout(
            Duration::from_secs(10),
            changes.wait_for(|position| *position == 1),
        )
        .await
        .unwrap_or_else(|_| panic!("the {who} store said nothing"))
        .unwrap();
    }
    // Nobody listens for a while; a new subscriber hears again.
    drop(other);
    append(&one, &id("run_1"), 2, &[started()]).await;
    let mut other = two.changes();
    append(&one, &id("run_1"), 3, &[said("x")]).await;
    tokio::time::timeout(
        Duration::from_secs(10),
        other.wait_for(|position| *position == 3),
    )
    .await
    .unwrap()
    .unwrap();
}

/// The poll looks for what is later than all it knows; a commit of ours may come before its look
/// and hide what another process did just before.
#[tokio::test]
async fn own_plain_steps_do_not_hide_the_turns_of_others() {
    let home = tempfile::tempdir().unwrap();
    let (one, run) = (open(home.path()), id("run_1"));
    append(&one, &run, 1, &[created().into(), started()]).await;
    let never = SqliteStoreOptions {
        poll_interval: Duration::from_secs(3600),
        ..SqliteStoreOptions::default()
    };
    let two = SqliteStore::open(home.path(), never).unwrap();
    append(&two, &run, 2, &[step("one")]).await;
    let mut turns = two.turns();
    append(&two, &run, 3, &[step("two")]).await;
    assert!(!turns.has_changed().unwrap(), "a plain step wakes nobody");
    append(&one, &run, 4, &[completed()]).await;
    append(&two, &id("run_2"), 5, &[step("three")]).await;
    assert!(
        turns.has_changed().unwrap(),
        "the run of the other has ended"
    );
    turns.mark_unchanged();
    append(&two, &id("run_2"), 6, &[step("four")]).await;
    assert!(!turns.has_changed().unwrap(), "and that was announced once");
}
