//! What is derived from events, as tables; and that it is always what the journals say.

use proptest::prelude::*;
use serde_json::json;
use windlass_ports::{DeliveryFilter, DeliveryState, RunStore, StoreMaintenance};
use windlass_types::{
    ApprovalTerms, ArtifactRef, Body, DeliveryId, Digest, KeyId, Principal, Problem, RunRecord,
    RunState, Scope, Visibility, journal::*,
};

use super::support::*;

fn timer(key: &str) -> Body {
    TimerStarted {
        key: key.into(),
        fire_at: at(500),
    }
    .into()
}

fn signal(name: &str) -> Body {
    SignalReceived {
        signal: name.into(),
        principal: Principal::local("ada"),
        payload: json!(null),
    }
    .into()
}

#[tokio::test]
async fn a_run_record_is_the_fold_of_its_journal() {
    let problem = || Problem::internal("step", "it broke");
    let cases: Vec<(&str, Vec<Body>, RunState)> = vec![
        ("queued", vec![], RunState::Queued),
        ("running", vec![started(), step("a")], RunState::Running),
        ("waiting", vec![started(), timer("t")], RunState::Waiting),
        (
            "woken",
            vec![started(), timer("t"), TimerFired { key: "t".into() }.into()],
            RunState::Running,
        ),
        (
            "cancel asked",
            vec![started(), signal("cancel")],
            RunState::Running,
        ),
        (
            "unwinding",
            vec![
                started(),
                RunUnwinding {
                    reason: UnwindReason::Failed,
                    problem: Some(problem()),
                }
                .into(),
            ],
            RunState::Unwinding,
        ),
        (
            "held",
            vec![started(), RunHeld { problem: problem() }.into()],
            RunState::Held,
        ),
        (
            "completed with null",
            vec![
                started(),
                RunCompleted {
                    output: json!(null),
                }
                .into(),
            ],
            RunState::Completed,
        ),
        (
            "failed",
            vec![
                started(),
                RunFailed {
                    problem: problem(),
                    residue: vec!["a".into()],
                }
                .into(),
            ],
            RunState::Failed,
        ),
        (
            "cancelled",
            vec![started(), RunCancelled { residue: vec![] }.into()],
            RunState::Cancelled,
        ),
        (
            "rolled back",
            vec![
                started(),
                completed(),
                signal("rollback"),
                RunRolledBack { residue: vec![] }.into(),
            ],
            RunState::RolledBack,
        ),
    ];
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    for (n, (name, bodies, state)) in cases.into_iter().enumerate() {
        let run = id(&format!("run_{n}"));
        append(&store, &run, 100, &[created().into()]).await;
        // One commit each, so that every fold goes through the stored row.
        for (k, body) in bodies.iter().enumerate() {
            append(&store, &run, 200 + k as i64, std::slice::from_ref(body)).await;
        }
        let record = store.run(&run).await.unwrap().unwrap();
        assert_eq!(record.state, state, "{name}");
        assert_eq!(
            Some(record),
            RunRecord::fold(&all_events(&store, &run).await).unwrap(),
            "{name}"
        );
    }
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
}

fn artifact(name: &str, content: &[u8]) -> ArtifactRef {
    ArtifactRef {
        name: name.into(),
        content_type: "text/plain".into(),
        sha256: Digest::of(content),
        size: content.len() as u64,
        visibility: Visibility::Private,
        expires_at: None,
    }
}

#[tokio::test]
async fn the_latest_artifact_of_each_name_is_listed() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let run = id("run_1");
    let stored = |artifact: &ArtifactRef| {
        Body::from(ArtifactStored {
            key: artifact.name.clone(),
            artifact: artifact.clone(),
        })
    };
    let (old, new, other) = (
        artifact("b.txt", b"old"),
        artifact("b.txt", b"new"),
        artifact("a.txt", b"a"),
    );
    append(
        &store,
        &run,
        1,
        &[created().into(), stored(&old), stored(&other), stored(&new)],
    )
    .await;
    assert_eq!(store.artifacts(&run).await.unwrap(), vec![other, new]);
    assert!(
        store
            .artifacts(&id("run_unknown"))
            .await
            .unwrap()
            .is_empty()
    );
}

fn key_created(key: &str) -> Body {
    KeyCreated {
        key_id: key.parse::<KeyId>().unwrap(),
        name: "ci".into(),
        secret_hash: Digest::of(b"secret"),
        tier: "standard".into(),
        scopes: vec![Scope::new("runs")],
        expires_at: Some(at(9000)),
        principal: Principal::local("ada"),
    }
    .into()
}

fn key_revoked(key: &str) -> Body {
    KeyRevoked {
        key_id: key.parse::<KeyId>().unwrap(),
        principal: Principal::local("ada"),
    }
    .into()
}

#[tokio::test]
async fn keys_are_created_and_revoked_once_and_never_by_a_run() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let journal = id("sys_keys");
    append(
        &store,
        &journal,
        10,
        &[key_created("key_1"), key_created("key_2")],
    )
    .await;
    append(
        &store,
        &journal,
        20,
        &[key_revoked("key_1"), key_revoked("key_unknown")],
    )
    .await;
    append(
        &store,
        &journal,
        30,
        &[key_revoked("key_1"), key_created("key_1")],
    )
    .await;
    append(
        &store,
        &id("run_1"),
        40,
        &[created().into(), key_created("key_3"), key_revoked("key_2")],
    )
    .await;
    let keys = store.api_keys().await.unwrap();
    let summary: Vec<_> = keys
        .iter()
        .map(|key| (key.key_id.as_str(), key.created_at, key.revoked_at))
        .collect();
    assert_eq!(
        summary,
        vec![("key_1", at(10), Some(at(20))), ("key_2", at(10), None)]
    );
    assert_eq!(keys[1].secret_hash, Digest::of(b"secret"));
    assert_eq!(
        (keys[1].expires_at, keys[1].scopes.clone()),
        (Some(at(9000)), vec![Scope::new("runs")])
    );
    assert!(
        store.run(&journal).await.unwrap().is_none(),
        "a system journal is no run"
    );
}

fn enqueued(delivery: &str, url: &str) -> Body {
    WebhookEnqueued {
        key: delivery.into(),
        delivery: WebhookDelivery {
            id: delivery.parse().unwrap(),
            url: url.into(),
            event: "run.completed".into(),
            body: r#"{"exact":  "bytes"}"#.into(),
            secret_name: Some("hook".into()),
        },
    }
    .into()
}

fn attempted(delivery: &str, attempt: u32, status: u16, verdict: DeliveryVerdict) -> Body {
    DeliveryAttempted {
        delivery_id: delivery.parse().unwrap(),
        attempt,
        status: Some(status),
        error: None,
        duration_ms: 12,
        verdict,
        address: Some("192.0.2.7:443".to_owned()),
        answer: None,
    }
    .into()
}

fn requeued(delivery: &str, due: i64) -> Body {
    DeliveryRequeued {
        delivery_id: delivery.parse().unwrap(),
        principal: Principal::local("ada"),
        due_at: at(due),
    }
    .into()
}

#[tokio::test]
async fn deliveries_follow_their_attempts() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (run, system) = (id("run_1"), id("sys_webhooks"));
    let (good, gone) = ("https://good.example/hook", "https://gone.example/hook");
    append(
        &store,
        &run,
        100,
        &[
            created().into(),
            enqueued("dlv_1", good),
            enqueued("dlv_2", gone),
            enqueued("dlv_3", good),
            enqueued("dlv_3", gone),
        ],
    )
    .await;
    let due = |by: i64| {
        let filter = DeliveryFilter {
            due_by: Some(at(by)),
            limit: 10,
            ..Default::default()
        };
        async {
            store
                .deliveries(filter)
                .await
                .unwrap()
                .into_iter()
                .map(|d| d.id.to_string())
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(due(99).await, Vec::<String>::new());
    assert_eq!(due(100).await, ["dlv_1", "dlv_2", "dlv_3"]);
    assert_eq!(store.next_delivery_due().await.unwrap(), Some(at(100)));

    append(
        &store,
        &system,
        110,
        &[
            attempted("dlv_1", 1, 503, DeliveryVerdict::Retry { due_at: at(400) }),
            attempted("dlv_2", 1, 410, DeliveryVerdict::Dead),
            EndpointDisabled {
                url: gone.into(),
                owner: None,
            }
            .into(),
            attempted("dlv_3", 1, 200, DeliveryVerdict::Delivered),
            attempted("dlv_unknown", 1, 200, DeliveryVerdict::Delivered),
        ],
    )
    .await;
    assert_eq!(due(399).await, Vec::<String>::new());
    assert_eq!(due(400).await, ["dlv_1"]);
    assert_eq!(store.next_delivery_due().await.unwrap(), Some(at(400)));

    // Asked for by hand: goes out although the receiver is off; others to it still wait.
    append(&store, &run, 120, &[enqueued("dlv_4", gone)]).await;
    append(&store, &system, 130, &[requeued("dlv_2", 300)]).await;
    assert_eq!(due(1000).await, ["dlv_2", "dlv_1"]);
    assert_eq!(store.next_delivery_due().await.unwrap(), Some(at(300)));

    let all = store
        .deliveries(DeliveryFilter {
            run_id: Some(run.clone()),
            limit: 10,
            ..Default::default()
        })
        .await;
    let states: Vec<_> = all
        .unwrap()
        .into_iter()
        .map(|d| (d.id.to_string(), d.state.as_str(), d.attempts, d.url))
        .collect();
    let expected = [
        ("dlv_3", "delivered", 1, good),
        ("dlv_4", "pending", 0, gone),
        ("dlv_2", "pending", 0, gone),
        ("dlv_1", "pending", 1, good),
    ];
    assert_eq!(
        states,
        expected.map(|(d, state, n, url)| (d.to_owned(), state, n, url.to_owned()))
    );
    let dead = DeliveryFilter {
        state: Some(DeliveryState::Dead),
        limit: 10,
        ..Default::default()
    };
    assert!(store.deliveries(dead).await.unwrap().is_empty());

    append(
        &store,
        &system,
        140,
        &[attempted("dlv_1", 2, 200, DeliveryVerdict::Delivered)],
    )
    .await;
    let attempts = store
        .attempts(&"dlv_1".parse::<DeliveryId>().unwrap())
        .await
        .unwrap();
    let summary: Vec<_> = attempts
        .iter()
        .map(|a| (a.time, a.attempt, a.status, a.duration_ms))
        .collect();
    assert_eq!(
        summary,
        vec![(at(110), 1, Some(503), 12), (at(140), 2, Some(200), 12)]
    );
    let record = store
        .deliveries(DeliveryFilter {
            limit: 1,
            ..Default::default()
        })
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        (record.run_id, record.body.as_str()),
        (run, r#"{"exact":  "bytes"}"#)
    );
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
}

/// Anything an engine could journal, in any order, sense or nonsense.
fn any_body() -> impl Strategy<Value = Body> {
    let key = prop_oneof![Just("a"), Just("b")];
    let delivery = prop_oneof![Just("dlv_1"), Just("dlv_2")];
    let url = prop_oneof![Just("https://one.example"), Just("https://two.example")];
    prop_oneof![
        Just(started()),
        Just(completed()),
        Just(Body::from(RunCompleted {
            output: json!(null)
        })),
        Just(Body::from(RunCancelled {
            residue: vec!["x".into()]
        })),
        Just(Body::from(RunRolledBack { residue: vec![] })),
        Just(Body::from(RunHeld {
            problem: Problem::internal("x", "y")
        })),
        Just(Body::from(RunUnwinding {
            reason: UnwindReason::Cancelled,
            problem: None
        })),
        Just(Body::from(RunFailed {
            problem: Problem::internal("x", "y"),
            residue: vec![]
        })),
        Just(signal("cancel")),
        Just(signal("rollback")),
        key.clone().prop_map(timer),
        key.clone()
            .prop_map(|key| TimerFired { key: key.into() }.into()),
        key.clone().prop_map(step),
        key.clone().prop_map(|key| Body::from(WaitStarted {
            key: key.into(),
            signal: "approval".into(),
            also: None,
            question: None,
            prompt: Some("go on?".into()),
            plan_digest: Some(Digest::of(b"plan")),
            terms: ApprovalTerms::by(["local:boss"]),
            lines: vec!["+ a.txt".into()],
            deadline: Some(at(7)),
        })),
        key.clone().prop_map(|key| WaitCompleted {
            key: key.into(),
            signal_seq: Some(3)
        }
        .into()),
        key.clone().prop_map(|key| ChildStarted {
            key: key.into(),
            run_id: id("run_c"),
            kind: "demo".into()
        }
        .into()),
        key.clone().prop_map(|key| Body::from(ChildCompleted {
            key: key.into(),
            run_id: id("run_c"),
            outcome: ChildOutcome::Completed { output: json!(1) },
        })),
        key.prop_map(|key| ArtifactStored {
            key: key.into(),
            artifact: artifact(key, b"content")
        }
        .into()),
        (delivery.clone(), url.clone()).prop_map(|(delivery, url)| enqueued(delivery, url)),
        delivery.clone().prop_map(|d| attempted(
            d,
            1,
            500,
            DeliveryVerdict::Retry { due_at: at(50) }
        )),
        delivery
            .clone()
            .prop_map(|d| attempted(d, 1, 200, DeliveryVerdict::Delivered)),
        delivery.prop_map(|d| requeued(d, 60)),
        url.prop_map(|url| EndpointDisabled {
            url: url.into(),
            owner: Some("hook".to_owned()),
        }
        .into()),
        Just(key_created("key_1")),
        Just(key_revoked("key_1")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_journaled_the_indexes_are_derived_the_same_again(
        commits in prop::collection::vec((0..3_usize, prop::collection::vec(any_body(), 1..5)), 1..30),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let home = tempfile::tempdir().unwrap();
            let store = open(home.path());
            windlass_ports::BlobStore::put(&store, b"content".to_vec()).await.unwrap();
            let journals = [id("run_1"), id("run_2"), id("sys_webhooks")];
            for run in &journals[..2] {
                append(&store, run, 1, &[created().into()]).await;
            }
            for (n, (journal, bodies)) in commits.iter().enumerate() {
                append(&store, &journals[*journal], n as i64, bodies).await;
            }
            for run in &journals[..2] {
                let folded = RunRecord::fold(&all_events(&store, run).await).unwrap();
                assert_eq!(store.run(run).await.unwrap(), folded);
            }
            assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
        });
    }
}
