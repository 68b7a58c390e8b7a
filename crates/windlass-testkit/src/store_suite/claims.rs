//! Claims: a confirm token starts one run, an idempotency key stands for one.

use std::sync::Arc;

use windlass_ports::{Commit, CommitError, Counted, Expect, Quota};
use windlass_types::{
    Digest, Principal,
    journal::{RunCompleted, RunCreated},
};

use super::{
    StoreFactory,
    sample::{append, at, create, created, event, id, write},
};

fn with_key(key: &str) -> RunCreated {
    RunCreated {
        idempotency_key: Some(key.to_owned()),
        ..created()
    }
}

fn with_token(token: &str) -> RunCreated {
    RunCreated {
        confirm_token: Some(token.parse().expect("an id")),
        ..created()
    }
}

/// The same key belongs to another run only for another principal or kind.
pub async fn idempotency_keys_are_per_principal_and_kind(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    create(&*store, "run_1", with_key("k")).await.unwrap();
    let other_input = RunCreated {
        config_hash: Digest::of(b"other"),
        ..with_key("k")
    };
    match create(&*store, "run_2", other_input).await.unwrap_err() {
        CommitError::IdempotencyTaken {
            run_id,
            config_hash,
        } => {
            assert_eq!((run_id, config_hash), (id("run_1"), created().config_hash));
        }
        other => panic!("{other:?}"),
    }
    assert!(store.run(&id("run_2")).await.unwrap().is_none());
    create(
        &*store,
        "run_3",
        RunCreated {
            kind: "other".to_owned(),
            ..with_key("k")
        },
    )
    .await
    .unwrap();
    create(
        &*store,
        "run_4",
        RunCreated {
            principal: Principal::local("eve"),
            ..with_key("k")
        },
    )
    .await
    .unwrap();
    create(&*store, "run_5", with_key("l")).await.unwrap();
}

/// A token starts one run, and the store knows which.
pub async fn confirm_tokens_are_redeemed_once(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    assert_eq!(
        store.redeemed_by(&"tok_1".parse().unwrap()).await.unwrap(),
        None
    );
    create(&*store, "run_1", with_token("tok_1")).await.unwrap();
    assert_eq!(
        store.redeemed_by(&"tok_1".parse().unwrap()).await.unwrap(),
        Some(id("run_1"))
    );
    let refused = create(&*store, "run_2", with_token("tok_1"))
        .await
        .unwrap_err();
    assert!(matches!(refused, CommitError::TokenUsed { run_id } if run_id == id("run_1")));
    create(&*store, "run_3", with_token("tok_2")).await.unwrap();
}

/// A repeated call has both the token and the key of the first one: it is a repetition.
pub async fn the_idempotency_key_is_looked_at_before_the_token(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    let both = RunCreated {
        idempotency_key: Some("k".to_owned()),
        ..with_token("tok_1")
    };
    create(&*store, "run_1", both.clone()).await.unwrap();
    let repeated = create(&*store, "run_2", both.clone()).await.unwrap_err();
    assert!(
        matches!(repeated, CommitError::IdempotencyTaken { run_id, .. } if run_id == id("run_1"))
    );
    let other_key = RunCreated {
        idempotency_key: Some("l".to_owned()),
        ..both
    };
    let refused = create(&*store, "run_3", other_key).await.unwrap_err();
    assert!(
        matches!(refused, CommitError::TokenUsed { .. }),
        "{refused:?}"
    );
}

/// Two runs of one commit cannot share a token or a key either.
pub async fn one_commit_cannot_claim_twice(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    for (created, what) in [(with_key("k"), "key"), (with_token("tok_1"), "token")] {
        let writes = vec![
            write("run_1", Expect::New, vec![event(0, created.clone())]),
            write("run_2", Expect::New, vec![event(0, created)]),
        ];
        let refused = store
            .commit(Commit {
                writes,
                lease: None,
            })
            .await
            .unwrap_err();
        let expected = matches!(
            refused,
            CommitError::IdempotencyTaken { .. } | CommitError::TokenUsed { .. }
        );
        assert!(expected, "{what}: {refused:?}");
        assert!(store.run(&id("run_1")).await.unwrap().is_none(), "{what}");
    }
}

/// Of 64 callers at once with one token, and of 64 with one key, one wins and the others learn
/// who did.
pub async fn sixty_four_callers_have_one_winner(factory: &dyn StoreFactory) {
    // Half of them through another process.
    let stores = [factory.open().runs, factory.open().runs];
    for (created, what) in [(with_key("k"), "key"), (with_token("tok_1"), "token")] {
        let mut calls = tokio::task::JoinSet::new();
        for caller in 0..64 {
            let (store, created) = (Arc::clone(&stores[caller % 2]), created.clone());
            calls.spawn(
                async move { create(&*store, &format!("run_{what}_{caller}"), created).await },
            );
        }
        let (mut winners, mut named) = (Vec::new(), Vec::new());
        while let Some(call) = calls.join_next().await {
            match call.expect("no call panics") {
                Ok(committed) => winners.push(committed.events[0].run_id.clone()),
                Err(
                    CommitError::IdempotencyTaken { run_id, .. }
                    | CommitError::TokenUsed { run_id },
                ) => named.push(run_id),
                Err(error) => panic!("{what}: {error:?}"),
            }
        }
        assert_eq!(winners.len(), 1, "{what}");
        assert_eq!(named.len(), 63, "{what}");
        assert!(named.iter().all(|run_id| *run_id == winners[0]), "{what}");
    }
}

const ONE_AT_A_TIME: Quota = Quota {
    counted: Counted::Unfinished,
    limit: 1,
};

/// A quota counts a principal's runs of one kind, and a repeated call still finds its run.
pub async fn quotas_are_per_principal_and_kind(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    let within = |run_id: &'static str, seconds: i64, quotas: &[Quota], created: RunCreated| {
        let store = Arc::clone(&store);
        let expect = Expect::NewWithin(quotas.to_vec());
        async move { append(&*store, run_id, expect, vec![event(seconds, created)]).await }
    };
    let of = |user: &str, kind: &str| RunCreated {
        principal: Principal::local(user),
        kind: kind.to_owned(),
        ..created()
    };
    within("run_1", 10, &[ONE_AT_A_TIME], with_key("k"))
        .await
        .unwrap();
    match within("run_2", 20, &[ONE_AT_A_TIME], created()).await {
        Err(CommitError::OverQuota { quota, oldest }) => {
            assert_eq!((quota, oldest), (ONE_AT_A_TIME, at(10)));
        }
        other => panic!("{other:?}"),
    }
    let again = within("run_2", 20, &[ONE_AT_A_TIME], with_key("k")).await;
    assert!(
        matches!(again, Err(CommitError::IdempotencyTaken { .. })),
        "{again:?}"
    );
    within("run_3", 20, &[ONE_AT_A_TIME], of("eve", "demo"))
        .await
        .unwrap();
    within("run_4", 20, &[ONE_AT_A_TIME], of("ada", "other"))
        .await
        .unwrap();

    let end = RunCompleted {
        output: serde_json::Value::Null,
    };
    append(&*store, "run_1", Expect::Any, vec![event(30, end)])
        .await
        .unwrap();
    let hourly = |since: i64, limit: u32| Quota {
        counted: Counted::CreatedAfter(at(since)),
        limit,
    };
    for (since, limit, fits) in [(0, 1, false), (9, 1, false), (10, 1, true)] {
        let quotas = [ONE_AT_A_TIME, hourly(since, limit)];
        let made = within("run_5", 40, &quotas, created()).await;
        assert_eq!(made.is_ok(), fits, "{since} {limit}: {made:?}");
    }
}

/// However many callers there are at once, in whichever process, no more get in than there is
/// room for.
pub async fn sixty_four_callers_stay_within_the_quota(factory: &dyn StoreFactory) {
    let stores = [factory.open().runs, factory.open().runs];
    let quota = Quota {
        limit: 3,
        ..ONE_AT_A_TIME
    };
    let mut calls = tokio::task::JoinSet::new();
    for caller in 0..64 {
        let store = Arc::clone(&stores[caller % 2]);
        calls.spawn(async move {
            let expect = Expect::NewWithin(vec![quota]);
            let run_id = format!("run_{caller}");
            append(&*store, &run_id, expect, vec![event(0, created())]).await
        });
    }
    let mut made = 0;
    while let Some(call) = calls.join_next().await {
        match call.expect("no call panics") {
            Ok(_) => made += 1,
            Err(CommitError::OverQuota { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(made, 3);
}
