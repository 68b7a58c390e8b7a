//! Commits: conditions, atomicity, uniqueness under concurrency.

use std::sync::Arc;

use windlass_ports::{CommitError, Expect, RunStore, StoreError};
use windlass_types::{RunState, event::ChainHead, event::verify_chain};

use super::support::*;

#[tokio::test]
async fn events_are_chained_and_returned_as_they_are_stored() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let run = id("run_1");
    let first = append(&store, &run, 10, &[created().into(), started()]).await;
    let second = append(&store, &run, 20, &[step("one"), completed()]).await;
    let committed = [first, second].concat();
    assert_eq!(
        verify_chain(ChainHead::default(), &committed).unwrap().seq,
        4
    );
    assert_eq!(all_events(&store, &run).await, committed);
    drop(store);
    assert_eq!(
        all_events(&open(home.path()), &run).await,
        committed,
        "after reopening"
    );
}

#[tokio::test]
async fn a_failed_condition_stores_nothing_of_its_commit() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (parent, child) = (id("run_parent"), id("run_child"));
    append(&store, &parent, 1, &[created().into()]).await;
    let commit = commit_of(vec![
        write(&child, Expect::New, 2, &[created().into()]),
        write(
            &parent,
            Expect::State(vec![RunState::Completed]),
            2,
            &[step("x")],
        ),
    ]);
    let error = store.commit(commit).await.unwrap_err();
    assert!(
        matches!(&error, CommitError::Unexpected { run_id, state: Some(RunState::Queued) } if *run_id == parent),
        "{error}"
    );
    assert!(store.run(&child).await.unwrap().is_none());
    assert_eq!(all_events(&store, &parent).await.len(), 1);
}

#[tokio::test]
async fn one_commit_writes_several_journals_and_one_journal_twice() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (parent, child) = (id("run_parent"), id("run_child"));
    let committed = store
        .commit(commit_of(vec![
            write(&parent, Expect::New, 1, &[created().into()]),
            write(&child, Expect::New, 1, &[created().into()]),
            write(&parent, Expect::Any, 1, &[started(), said("hello")]),
        ]))
        .await
        .unwrap();
    let places: Vec<(String, u64)> = committed
        .events
        .iter()
        .map(|event| (event.run_id.to_string(), event.seq))
        .collect();
    let expected = [
        ("run_parent", 1),
        ("run_child", 1),
        ("run_parent", 2),
        ("run_parent", 3),
    ];
    assert_eq!(places, expected.map(|(run, seq)| (run.to_owned(), seq)));
    assert_eq!(all_events(&store, &parent).await.len(), 3);
    assert_eq!(
        store.run(&parent).await.unwrap().unwrap().state,
        RunState::Running
    );
}

#[tokio::test]
async fn one_commit_cannot_create_a_run_twice_or_spend_a_token_twice() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (one, two) = (id("run_1"), id("run_2"));
    let twice = vec![
        write(&one, Expect::New, 1, &[created().into()]),
        write(&one, Expect::New, 1, &[created().into()]),
    ];
    assert!(matches!(
        store.commit(commit_of(twice)).await,
        Err(CommitError::Unexpected { .. })
    ));
    let spent = vec![
        write(&one, Expect::New, 1, &[with_token("tok_1").into()]),
        write(&two, Expect::New, 1, &[with_token("tok_1").into()]),
    ];
    assert!(
        matches!(store.commit(commit_of(spent)).await, Err(CommitError::TokenUsed { run_id }) if run_id == one)
    );
    let taken = vec![
        write(&one, Expect::New, 1, &[with_key("k").into()]),
        write(&two, Expect::New, 1, &[with_key("k").into()]),
    ];
    assert!(
        matches!(store.commit(commit_of(taken)).await, Err(CommitError::IdempotencyTaken { run_id, .. }) if run_id == one)
    );
    assert!(
        store
            .runs(windlass_ports::RunFilter {
                limit: 9,
                ..Default::default()
            })
            .await
            .unwrap()
            .runs
            .is_empty()
    );
}

#[tokio::test]
async fn an_event_of_an_unknown_type_is_kept_and_a_broken_one_refused() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let run = id("run_1");
    append(&store, &run, 1, &[created().into()]).await;
    let commit = |event| {
        commit_of(vec![windlass_ports::JournalWrite {
            run_id: run.clone(),
            expect: Expect::Any,
            events: vec![event],
        }])
    };
    store
        .commit(commit(raw_event(
            2,
            "future.thing",
            serde_json::json!({ "b": 1, "a": 2 }),
        )))
        .await
        .unwrap();
    assert_eq!(store.run(&run).await.unwrap().unwrap().last_seq, 2);
    let refused = store
        .commit(commit(raw_event(3, "run.started", serde_json::json!({}))))
        .await;
    assert!(
        matches!(refused, Err(CommitError::Store(StoreError::Io(_)))),
        "{refused:?}"
    );
    assert_eq!(all_events(&store, &run).await.len(), 2);
}

#[tokio::test]
async fn tokens_and_keys_stay_taken_and_name_their_run() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (one, two) = (id("run_1"), id("run_2"));
    let both = windlass_types::journal::RunCreated {
        idempotency_key: Some("k".into()),
        ..with_token("tok_1")
    };
    append(&store, &one, 1, &[both.clone().into()]).await;
    assert_eq!(
        store.redeemed_by(&"tok_1".parse().unwrap()).await.unwrap(),
        Some(one.clone())
    );
    assert_eq!(
        store.redeemed_by(&"tok_2".parse().unwrap()).await.unwrap(),
        None
    );

    let token = try_append(&store, &two, Expect::New, 2, &[with_token("tok_1").into()]).await;
    assert!(matches!(token, Err(CommitError::TokenUsed { run_id }) if run_id == one));
    // A caller who repeats the whole call learns which run the first one started.
    let again = try_append(&store, &two, Expect::New, 2, &[both.into()]).await;
    let Err(CommitError::IdempotencyTaken {
        run_id,
        config_hash,
    }) = again
    else {
        panic!("{again:?}")
    };
    assert_eq!((run_id, config_hash), (one, created().config_hash));
    // The key belongs to a principal and a kind.
    let elsewhere = [
        windlass_types::journal::RunCreated {
            kind: "other".into(),
            ..with_key("k")
        },
        windlass_types::journal::RunCreated {
            principal: windlass_types::Principal::local("grace"),
            ..with_key("k")
        },
    ];
    for (n, created) in elsewhere.into_iter().enumerate() {
        try_append(
            &store,
            &id(&format!("run_other_{n}")),
            Expect::New,
            3,
            &[created.into()],
        )
        .await
        .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_at_once_with_one_token_or_one_key_create_one_run() {
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    for round in 0..10 {
        for (what, created) in [
            ("token", with_token(&format!("tok_{round}"))),
            ("key", with_key(&format!("key_{round}"))),
        ] {
            let tasks: Vec<_> = (0..64)
                .map(|n| {
                    let (store, created) = (Arc::clone(&store), created.clone());
                    tokio::spawn(async move {
                        let run = id(&format!("run_{what}_{round}_{n}"));
                        try_append(&*store, &run, Expect::New, 1, &[created.into()])
                            .await
                            .map(|_| run)
                    })
                })
                .collect();
            let mut winners = Vec::new();
            let mut named = Vec::new();
            for task in tasks {
                match task.await.unwrap() {
                    Ok(run) => winners.push(run),
                    Err(
                        CommitError::TokenUsed { run_id }
                        | CommitError::IdempotencyTaken { run_id, .. },
                    ) => {
                        named.push(run_id);
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            assert_eq!(winners.len(), 1, "{what}");
            assert_eq!(
                named,
                vec![winners[0].clone(); 63],
                "{what}: losers learn who won"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_callers_of_one_journal_leave_one_chain() {
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    let journal = id("sys_audit");
    let tasks: Vec<_> = (0..64)
        .map(|n| {
            let (store, journal) = (Arc::clone(&store), journal.clone());
            tokio::spawn(async move {
                for k in 0..20 {
                    append(&*store, &journal, k, &[said(&format!("{n}/{k}"))]).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let events = all_events(&*store, &journal).await;
    assert_eq!(events.len(), 64 * 20);
    let texts: std::collections::BTreeSet<_> = events
        .iter()
        .map(|event| event.payload.as_str().to_owned())
        .collect();
    assert_eq!(texts.len(), 64 * 20, "nothing doubled, nothing lost");
}

#[tokio::test]
async fn commits_that_come_together_share_a_flush() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let before = store.flushes();
    append(&store, &id("run_alone"), 1, &[created().into()]).await;
    assert_eq!(store.flushes(), before + 1);
    let runs: Vec<_> = (0..200).map(|n| id(&format!("run_{n}"))).collect();
    let bodies = [created().into()];
    let commits = runs.iter().map(|run| append(&store, run, 1, &bodies));
    futures::future::join_all(commits).await;
    let flushes = store.flushes() - before - 1;
    assert!(
        (1..200).contains(&flushes),
        "{flushes} flushes of 200 commits"
    );
}
