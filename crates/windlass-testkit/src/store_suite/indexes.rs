//! Indexes: what is read besides the events is what the events say.

use serde_json::json;
use windlass_ports::{Expect, RunFilter};
use windlass_types::{
    ApprovalTerms, ArtifactRef, Digest, KeyId, Principal, Problem, RunRecord, RunState, Scope,
    Visibility,
    journal::{
        ApprovalGate, ArtifactStored, ChildStarted, KeyCreated, KeyRevoked, KeyUsed, ParentRef,
        RunCancelled, RunCreated, RunFailed, RunStarted, RunUnwinding, SignalReceived, TimerFired,
        TimerStarted, UnwindReason, WaitStarted,
    },
};

use super::{
    StoreFactory,
    sample::{append, at, create, created, event, id, run_in},
};

/// After every event of a long scenario the record is the fold of the journal.
pub async fn records_are_folds_of_their_journals(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    let first = RunCreated {
        parent: Some(ParentRef {
            run_id: id("run_parent"),
            key: "child".to_owned(),
        }),
        idempotency_key: Some("k".to_owned()),
        confirm_token: Some("tok_1".parse().unwrap()),
        plan_digest: Some(Digest::of(b"plan")),
        approval: Some(ApprovalGate::Wanted {
            terms: ApprovalTerms::by(["local:*"]),
            rule: "r".to_owned(),
        }),
        ..created()
    };
    create(&*store, "run_1", first).await.unwrap();
    let ada = Principal::local("ada");
    let events = [
        event(
            1,
            RunStarted {
                epoch: 1,
                attempt: 1,
            },
        ),
        event(
            2,
            TimerStarted {
                key: "t".to_owned(),
                fire_at: at(60),
            },
        ),
        event(
            3,
            WaitStarted {
                key: "w".to_owned(),
                signal: "approval".to_owned(),
                also: None,
                question: None,
                prompt: Some("really?".to_owned()),
                plan_digest: Some(Digest::of(b"plan")),
                terms: ApprovalTerms::by(["local:boss"]),
                lines: vec!["+ one file".to_owned()],
                deadline: Some(at(90)),
            },
        ),
        event(
            4,
            TimerFired {
                key: "t".to_owned(),
            },
        ),
        event(
            5,
            ChildStarted {
                key: "c".to_owned(),
                run_id: id("run_child"),
                kind: "demo".to_owned(),
            },
        ),
        event(
            6,
            SignalReceived {
                signal: "cancel".to_owned(),
                principal: ada,
                payload: json!({}),
            },
        ),
        event(
            7,
            RunStarted {
                epoch: 2,
                attempt: 2,
            },
        ),
        event(
            8,
            RunUnwinding {
                reason: UnwindReason::Failed,
                problem: Some(Problem::internal("suite", "why")),
            },
        ),
        event(
            9,
            RunFailed {
                problem: Problem::internal("suite", "why"),
                residue: vec!["c".to_owned()],
            },
        ),
    ];
    for new in events {
        append(&*store, "run_1", Expect::Any, vec![new])
            .await
            .unwrap();
        let events = store.events(&id("run_1"), 0, 100).await.unwrap();
        let record = store.run(&id("run_1")).await.unwrap();
        assert_eq!(
            record,
            RunRecord::fold(&events).unwrap(),
            "after {}",
            events.last().unwrap().event_type
        );
    }
    assert!(store.run(&id("run_absent")).await.unwrap().is_none());
}

/// Lists are newest first, filtered, and paged without gaps or repetitions.
pub async fn runs_are_listed_newest_first(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    for (number, state) in [
        RunState::Completed,
        RunState::Running,
        RunState::Queued,
        RunState::Completed,
    ]
    .into_iter()
    .enumerate()
    {
        run_in(&*store, &format!("run_{number}"), state, 0).await;
    }
    let other = RunCreated {
        kind: "other".to_owned(),
        principal: Principal::local("eve"),
        parent: Some(ParentRef {
            run_id: id("run_0"),
            key: "c".to_owned(),
        }),
        ..created()
    };
    create(&*store, "run_4", other).await.unwrap();
    append(
        &*store,
        "sys_other",
        Expect::Any,
        vec![event(
            0,
            RunStarted {
                epoch: 1,
                attempt: 1,
            },
        )],
    )
    .await
    .unwrap();
    let all = RunFilter {
        limit: 100,
        ..RunFilter::default()
    };
    let cases = [
        (
            all.clone(),
            vec!["run_4", "run_3", "run_2", "run_1", "run_0"],
        ),
        (
            RunFilter {
                kind: Some("other".to_owned()),
                ..all.clone()
            },
            vec!["run_4"],
        ),
        (
            RunFilter {
                states: vec![RunState::Completed],
                ..all.clone()
            },
            vec!["run_3", "run_0"],
        ),
        (
            RunFilter {
                states: vec![RunState::Queued, RunState::Running],
                ..all.clone()
            },
            vec!["run_4", "run_2", "run_1"],
        ),
        (
            RunFilter {
                principal: Some("local:eve".to_owned()),
                ..all.clone()
            },
            vec!["run_4"],
        ),
        (
            RunFilter {
                parent: Some(id("run_0")),
                ..all.clone()
            },
            vec!["run_4"],
        ),
        (
            RunFilter {
                parent: Some(id("run_1")),
                ..all.clone()
            },
            vec![],
        ),
    ];
    for (filter, expected) in cases {
        let page = store.runs(filter.clone()).await.unwrap();
        let names: Vec<_> = page
            .runs
            .iter()
            .map(|record| record.run_id.as_str())
            .collect();
        assert_eq!(names, expected, "{filter:?}");
        assert_eq!(page.next, None, "{filter:?}");
    }
    let mut names = Vec::new();
    let mut filter = RunFilter {
        limit: 2,
        ..RunFilter::default()
    };
    loop {
        let page = store.runs(filter.clone()).await.unwrap();
        names.extend(
            page.runs
                .iter()
                .map(|record| record.run_id.as_str().to_owned()),
        );
        match page.next {
            Some(next) => filter.before = Some(next),
            None => break,
        }
    }
    assert_eq!(names, ["run_4", "run_3", "run_2", "run_1", "run_0"]);
}

/// Unfinished runs are counted, and no others.
pub async fn unfinished_runs_are_counted(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    for (number, state) in [
        RunState::Running,
        RunState::Completed,
        RunState::Queued,
        RunState::Held,
        RunState::Queued,
    ]
    .into_iter()
    .enumerate()
    {
        run_in(&*store, &format!("run_{number}"), state, 0).await;
    }
    assert_eq!(store.unfinished().await.unwrap(), 3);
    append(
        &*store,
        "run_0",
        Expect::Any,
        vec![event(1, RunCancelled { residue: vec![] })],
    )
    .await
    .unwrap();
    assert_eq!(store.unfinished().await.unwrap(), 2);
}

/// Of artifacts with the same name the latest counts.
pub async fn artifacts_are_the_latest_of_each_name(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Running, 0).await;
    let stored = |name: &str, content: &[u8]| {
        let artifact = ArtifactRef {
            name: name.to_owned(),
            content_type: "text/plain".to_owned(),
            sha256: Digest::of(content),
            size: content.len() as u64,
            visibility: Visibility::Public,
            expires_at: Some(at(100)),
        };
        event(
            1,
            ArtifactStored {
                key: format!("artifact:{name}"),
                artifact,
            },
        )
    };
    append(
        &*store,
        "run_1",
        Expect::Any,
        vec![stored("b", b"1"), stored("a", b"2"), stored("b", b"33")],
    )
    .await
    .unwrap();
    let artifacts = store.artifacts(&id("run_1")).await.unwrap();
    let shown: Vec<_> = artifacts
        .iter()
        .map(|artifact| (artifact.name.as_str(), artifact.size))
        .collect();
    assert_eq!(shown, [("a", 1), ("b", 2)]);
    assert_eq!(artifacts[1].sha256, Digest::of(b"33"));
    assert!(store.artifacts(&id("run_absent")).await.unwrap().is_empty());
}

fn key_created(key_id: &KeyId, name: &str) -> KeyCreated {
    KeyCreated {
        key_id: key_id.clone(),
        name: name.to_owned(),
        secret_hash: Digest::of(name.as_bytes()),
        tier: "standard".to_owned(),
        scopes: vec![Scope::new("runs")],
        expires_at: Some(at(100)),
        principal: Principal::local("ada"),
    }
}

/// Keys are made and revoked once, and never by a run's journal, which may come from a file.
pub async fn keys_come_from_the_key_journal_only(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    let (one, two): (KeyId, KeyId) = ("key_1".parse().unwrap(), "key_2".parse().unwrap());
    let revoked = |key_id: &KeyId| KeyRevoked {
        key_id: key_id.clone(),
        principal: Principal::local("ada"),
    };
    append(
        &*store,
        "sys_keys",
        Expect::Any,
        vec![event(1, key_created(&one, "first"))],
    )
    .await
    .unwrap();
    append(
        &*store,
        "sys_keys",
        Expect::Any,
        vec![event(2, key_created(&two, "second"))],
    )
    .await
    .unwrap();
    run_in(&*store, "run_1", RunState::Running, 0).await;
    let forged: KeyId = "key_forged".parse().unwrap();
    append(
        &*store,
        "run_1",
        Expect::Any,
        vec![
            event(3, key_created(&forged, "forged")),
            event(3, revoked(&two)),
        ],
    )
    .await
    .unwrap();
    append(
        &*store,
        "sys_keys",
        Expect::Any,
        vec![event(4, revoked(&one))],
    )
    .await
    .unwrap();
    append(
        &*store,
        "sys_keys",
        Expect::Any,
        vec![
            event(5, revoked(&one)),
            event(6, key_created(&one, "again")),
        ],
    )
    .await
    .unwrap();
    let keys = store.api_keys().await.unwrap();
    let shown: Vec<_> = keys
        .iter()
        .map(|key| (key.key_id.as_str(), key.name.as_str(), key.revoked_at))
        .collect();
    assert_eq!(
        shown,
        [("key_1", "first", Some(at(4))), ("key_2", "second", None)]
    );
    assert_eq!(
        (keys[0].created_at, keys[0].expires_at),
        (at(1), Some(at(100)))
    );
    assert_eq!(keys[0].secret_hash, Digest::of(b"first"));
}

/// A key's last use is the latest that was noted, wherever but in a run's journal.
pub async fn keys_know_when_they_were_last_used(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    let key_id: KeyId = "key_1".parse().unwrap();
    let used = |seconds: i64| {
        event(
            seconds,
            KeyUsed {
                key_id: key_id.clone(),
            },
        )
    };
    append(
        &*store,
        "sys_keys",
        Expect::Any,
        vec![event(1, key_created(&key_id, "first"))],
    )
    .await
    .unwrap();
    assert_eq!(store.api_keys().await.unwrap()[0].last_used_at, None);
    run_in(&*store, "run_1", RunState::Running, 0).await;
    append(&*store, "run_1", Expect::Any, vec![used(50)])
        .await
        .unwrap();
    append(
        &*store,
        "sys_key_uses",
        Expect::Any,
        vec![used(7), used(30), used(9)],
    )
    .await
    .unwrap();
    assert_eq!(
        store.api_keys().await.unwrap()[0].last_used_at,
        Some(at(30))
    );
}
