//! Backup, check and prune.

use std::{os::unix::fs::PermissionsExt, time::Duration};

use windlass_ports::{
    BlobError, BlobStore, Expect, RunFilter, RunStore, StoreError, StoreMaintenance,
};
use windlass_store::SqliteStore;
use windlass_types::{
    ArtifactRef, Body, Digest, Principal, RunId, Timestamp, Visibility, journal::*,
};

use super::support::*;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Long after the contents of these tests were stored, by any clock.
const FAR: i64 = 4_000_000_000_000;

fn artifact(name: &str, content: &[u8], expires_at: Option<Timestamp>) -> Body {
    let artifact = ArtifactRef {
        name: name.into(),
        content_type: "text/plain".into(),
        sha256: Digest::of(content),
        size: content.len() as u64,
        visibility: Visibility::Private,
        expires_at,
    };
    ArtifactStored {
        key: name.into(),
        artifact,
    }
    .into()
}

async fn listed(store: &SqliteStore) -> Vec<String> {
    let page = store
        .runs(RunFilter {
            limit: 100,
            ..Default::default()
        })
        .await
        .unwrap();
    page.runs
        .into_iter()
        .rev()
        .map(|run| run.run_id.to_string())
        .collect()
}

#[tokio::test]
async fn a_backup_is_a_complete_store_taken_while_it_is_used() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let run = id("run_1");
    let (small, large) = (b"small".to_vec(), vec![9; 200_000]);
    store.put(small.clone()).await.unwrap();
    store.put(large.clone()).await.unwrap();
    append(
        &store,
        &run,
        1,
        &[
            created().into(),
            artifact("small", &small, None),
            artifact("large", &large, None),
            completed(),
        ],
    )
    .await;
    let target = home.path().join("copies/first");
    fs_err::create_dir(home.path().join("copies")).unwrap();
    let bytes = store.backup(target.clone()).await.unwrap();
    assert!(bytes > 200_000, "{bytes}");
    append(&store, &run, 2, &[said("after the backup")]).await;

    let mode =
        |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&target), mode(&target.join("windlass.db"))),
        (0o700, 0o600)
    );
    let copy = open(&target);
    assert_eq!(all_events(&copy, &run).await.len(), 4);
    assert_eq!(copy.get(Digest::of(&small)).await.unwrap(), small);
    assert_eq!(copy.get(Digest::of(&large)).await.unwrap(), large);
    let report = copy.check().await.unwrap();
    assert_eq!((report.findings, report.blobs), (vec![], 2));

    let again = store.backup(target).await.unwrap_err();
    assert!(
        again
            .to_string()
            .ends_with("exists; a backup goes to a new directory"),
        "{again}"
    );
    assert!(
        store
            .backup(home.path().join("no/such/parent"))
            .await
            .is_ok()
    );
    assert_eq!(
        fs_err::read_dir(home.path().join("copies"))
            .unwrap()
            .count(),
        1,
        "nothing half-made"
    );
}

#[tokio::test]
async fn check_finds_every_kind_of_damage() {
    let cases = [
        (
            "UPDATE events SET time = 9 WHERE seq = 3",
            "journal run_1: event 3 was altered: its content does not match its hash",
        ),
        (
            "DELETE FROM events WHERE seq = 2",
            "journal run_1: event 2 is missing (found 3)",
        ),
        (
            "DELETE FROM events WHERE seq = 5",
            "journal run_1 ends at event 4, but had event 5",
        ),
        (
            "UPDATE runs SET state = 'queued'",
            "the row 1 of runs was altered",
        ),
        (
            "DELETE FROM runs",
            "the run row of run_1 is not what its journal says",
        ),
        ("DELETE FROM artifacts", "row 1/3 of artifacts is missing"),
        ("DELETE FROM tokens", "row tok_1 of tokens is missing"),
        (
            "INSERT INTO disabled_endpoints VALUES ('u', 1, 1)",
            "row u of disabled_endpoints comes from no journal",
        ),
        (
            "INSERT INTO api_keys VALUES ('key_1', '{}', 1)",
            "row key_1 of api_keys comes from no journal",
        ),
        ("UPDATE blobs SET bytes = x'00'", " was altered"),
        ("DELETE FROM blobs", "of an artifact is missing"),
    ];
    for (sql, expected) in cases {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        store.put(b"content".to_vec()).await.unwrap();
        let bodies = [
            with_token("tok_1").into(),
            started(),
            artifact("a", b"content", None),
            step("one"),
            completed(),
        ];
        append(&store, &id("run_1"), 1, &bodies).await;
        let clean = store.check().await.unwrap();
        assert_eq!(
            (clean.journals, clean.events, clean.blobs, clean.findings),
            (1, 5, 1, vec![])
        );
        rusqlite::Connection::open(home.path().join("windlass.db"))
            .unwrap()
            .execute(sql, [])
            .unwrap();
        let findings = store.check().await.unwrap().findings;
        assert!(
            findings.iter().any(|finding| finding.contains(expected)),
            "{sql}: {findings:?}"
        );
    }
}

#[tokio::test]
async fn check_finds_altered_and_missing_files() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let bytes = vec![5; 100_000];
    let digest = store.put(bytes.clone()).await.unwrap();
    append(
        &store,
        &id("run_1"),
        1,
        &[created().into(), artifact("a", &bytes, None)],
    )
    .await;
    let name = digest.to_string();
    let path = home.path().join("blobs").join(&name[..2]).join(&name[2..]);
    fs_err::write(&path, b"other").unwrap();
    assert_eq!(
        store.check().await.unwrap().findings,
        [format!("content {digest} was altered")]
    );
    fs_err::remove_file(&path).unwrap();
    assert_eq!(
        store.check().await.unwrap().findings,
        [format!("content {digest} of an artifact is missing")]
    );
}

fn child_of(parent: &RunId) -> Body {
    RunCreated {
        parent: Some(ParentRef {
            run_id: parent.clone(),
            key: "k".into(),
        }),
        ..created()
    }
    .into()
}

fn enqueued(delivery: &str) -> Body {
    WebhookEnqueued {
        key: "w".into(),
        delivery: WebhookDelivery {
            id: delivery.parse().unwrap(),
            url: "https://example.com".into(),
            event: "e".into(),
            body: "{}".into(),
            secret_name: None,
        },
    }
    .into()
}

fn delivered(delivery: &str) -> Body {
    DeliveryAttempted {
        delivery_id: delivery.parse().unwrap(),
        attempt: 1,
        status: Some(200),
        error: None,
        duration_ms: 1,
        verdict: DeliveryVerdict::Delivered,
        address: None,
        answer: None,
    }
    .into()
}

#[tokio::test]
async fn prune_removes_old_ended_runs_and_nothing_pending() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let old = |bodies: &[Body]| [&[created().into(), started()], bodies, &[completed()]].concat();
    append(&store, &id("run_old"), DAY, &old(&[enqueued("dlv_done")])).await;
    append(&store, &id("run_owing"), DAY, &old(&[enqueued("dlv_owed")])).await;
    append(
        &store,
        &id("run_running"),
        DAY,
        &[created().into(), started()],
    )
    .await;
    append(
        &store,
        &id("run_child_of_running"),
        DAY,
        &[child_of(&id("run_running")), completed()],
    )
    .await;
    append(
        &store,
        &id("run_child_of_old"),
        DAY,
        &[child_of(&id("run_old")), completed()],
    )
    .await;
    append(
        &store,
        &id("run_orphan"),
        DAY,
        &[child_of(&id("run_nowhere")), completed()],
    )
    .await;
    append(&store, &id("run_new"), 9 * DAY, &old(&[])).await;
    append(&store, &id("sys_webhooks"), DAY, &[delivered("dlv_done")]).await;

    let keep = Duration::from_secs(3 * 24 * 60 * 60);
    let foreseen = store.prune(keep, at(10 * DAY), true).await.unwrap();
    assert_eq!(listed(&store).await.len(), 7, "a dry run removes nothing");
    let done = store.prune(keep, at(10 * DAY), false).await.unwrap();
    assert_eq!((done.runs, done.events, done.blobs), (3, 9, 0));
    assert_eq!((foreseen.runs, foreseen.events, foreseen.blobs), (3, 9, 0));
    assert_eq!(
        listed(&store).await,
        [
            "run_owing",
            "run_running",
            "run_child_of_running",
            "run_new"
        ]
    );
    assert!(all_events(&store, &id("run_old")).await.is_empty());
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    assert_eq!(
        store.prune(keep, at(10 * DAY), false).await.unwrap().events,
        0,
        "twice is once"
    );
}

#[tokio::test]
async fn assigned_numbers_are_not_reused() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    append(&store, &id("run_kept"), 20 * DAY, &[created().into()]).await;
    ended_run(&store, &id("run_old"), DAY).await;
    let before = store.position().await.unwrap();
    let cursor = store
        .runs(RunFilter {
            limit: 1,
            ..Default::default()
        })
        .await
        .unwrap()
        .next;
    store
        .prune(Duration::ZERO, at(10 * DAY), false)
        .await
        .unwrap();
    assert_eq!(store.position().await.unwrap(), before);
    drop(store);
    let store = open(home.path());
    append(&store, &id("run_next"), DAY, &[created().into()]).await;
    let feed = store.feed(before, &[], 10).await.unwrap();
    assert_eq!(
        feed.entries.len(),
        1,
        "a reader that had seen everything sees the new event"
    );
    let page = store
        .runs(RunFilter {
            before: cursor,
            limit: 9,
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(
        page.runs.len(),
        1,
        "and a cursor taken before leads to older runs only"
    );
}

#[tokio::test]
async fn a_spent_token_stays_spent_when_its_run_is_pruned() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    append(
        &store,
        &id("run_1"),
        10 * DAY,
        &[with_token("tok_1").into(), completed()],
    )
    .await;
    store
        .prune(Duration::ZERO, at(10 * DAY + 1), false)
        .await
        .unwrap();
    assert!(listed(&store).await.is_empty());
    let again = try_append(
        &store,
        &id("run_2"),
        Expect::New,
        10 * DAY,
        &[with_token("tok_1").into()],
    )
    .await;
    assert!(
        matches!(again, Err(windlass_ports::CommitError::TokenUsed { .. })),
        "{again:?}"
    );
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    store
        .prune(Duration::ZERO, at(12 * DAY), false)
        .await
        .unwrap();
    assert_eq!(
        store.redeemed_by(&"tok_1".parse().unwrap()).await.unwrap(),
        None,
        "long expired"
    );
}

fn key(created: bool) -> Body {
    let key_id = "key_1".parse().unwrap();
    let principal = Principal::local("ada");
    if created {
        KeyCreated {
            key_id,
            name: "ci".into(),
            secret_hash: Digest::ZERO,
            tier: "t".into(),
            scopes: vec![],
            expires_at: None,
            principal,
        }
        .into()
    } else {
        KeyRevoked { key_id, principal }.into()
    }
}

#[tokio::test]
async fn system_journals_lose_their_beginning_and_still_verify() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let (audit, keys, hooks) = (id("sys_audit"), id("sys_keys"), id("sys_webhooks"));
    for n in 0..10 {
        append(&store, &audit, n * DAY, &[said(&n.to_string())]).await;
    }
    append(&store, &keys, DAY, &[key(true), key(false), said("x")]).await;
    append(
        &store,
        &id("run_kept"),
        DAY,
        &[created().into(), enqueued("dlv_1")],
    )
    .await;
    let off = EndpointDisabled {
        url: "https://gone.example".into(),
        owner: Some("hook".to_owned()),
    };
    append(
        &store,
        &hooks,
        DAY,
        &[said("old"), off.into(), delivered("dlv_1")],
    )
    .await;

    let report = store
        .prune(Duration::ZERO, at(4 * DAY), false)
        .await
        .unwrap();
    assert_eq!(
        (report.runs, report.events),
        (0, 6),
        "five audits and one word before the switch-off"
    );
    let seqs = |events: Vec<windlass_types::Event>| {
        events.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(all_events(&store, &audit).await), [6, 7, 8, 9, 10]);
    assert_eq!(
        seqs(store.events(&audit, 2, 2).await.unwrap()),
        [6, 7],
        "from before the anchor"
    );
    assert_eq!(seqs(store.events(&audit, 8, 9).await.unwrap()), [9, 10]);
    assert_eq!(
        seqs(all_events(&store, &keys).await),
        [1, 2, 3],
        "keys rest on their events"
    );
    assert_eq!(seqs(all_events(&store, &hooks).await), [2, 3]);
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());

    // Everything gone: the chain still continues from the anchor.
    store
        .prune(Duration::ZERO, at(100 * DAY), false)
        .await
        .unwrap();
    assert!(all_events(&store, &audit).await.is_empty());
    append(&store, &audit, 101 * DAY, &[said("next")]).await;
    assert_eq!(seqs(all_events(&store, &audit).await), [11]);
    drop(store);
    let store = open(home.path());
    append(&store, &audit, 102 * DAY, &[said("after reopening")]).await;
    assert_eq!(seqs(all_events(&store, &audit).await), [11, 12]);
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());

    rusqlite::Connection::open(home.path().join("windlass.db"))
        .unwrap()
        .execute("DELETE FROM events WHERE seq = 11", [])
        .unwrap();
    let cut = store.events(&audit, 0, 9).await;
    assert!(
        matches!(cut, Err(StoreError::Damaged(_))),
        "an anchor is not an excuse: {cut:?}"
    );
}

#[tokio::test]
async fn contents_go_when_nobody_names_them_or_they_expired() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let large = |n: u8| vec![n; 100_000];
    let named = |n: u8| [b"named".to_vec(), large(1)][usize::from(n)].clone();
    for content in [
        b"named".to_vec(),
        b"expired".to_vec(),
        b"nobody's".to_vec(),
        large(1),
        large(2),
        large(3),
    ] {
        store.put(content).await.unwrap();
    }
    append(
        &store,
        &id("run_1"),
        FAR,
        &[
            created().into(),
            artifact("a", &named(0), None),
            artifact("b", &named(1), Some(at(FAR + 10))),
            artifact("c", b"expired", Some(at(FAR - 1))),
            artifact("d", &large(2), Some(at(FAR - 1))),
        ],
    )
    .await;
    let young = store.prune(Duration::ZERO, at(0), false).await.unwrap();
    assert_eq!(young.blobs, 0, "just stored: its event may be on the way");
    let foreseen = store.prune(Duration::ZERO, at(FAR), true).await.unwrap();
    let report = store.prune(Duration::ZERO, at(FAR), false).await.unwrap();
    assert_eq!((foreseen.blobs, report.blobs), (4, 4));
    assert!(report.bytes >= 200_000, "{report:?}");
    for n in 0..2 {
        assert_eq!(store.get(Digest::of(&named(n))).await.unwrap(), named(n));
    }
    for gone in [
        b"expired".to_vec(),
        b"nobody's".to_vec(),
        large(2),
        large(3),
    ] {
        assert!(matches!(
            store.get(Digest::of(&gone)).await,
            Err(BlobError::Missing(_))
        ));
    }
    assert_eq!(
        store.artifacts(&id("run_1")).await.unwrap().len(),
        4,
        "what was there is still reported"
    );
}

#[tokio::test]
async fn prune_frees_space_while_commits_continue() {
    let home = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(open(home.path()));
    for n in 0..300 {
        let bodies = [created().into(), said(&"x".repeat(20_000)), completed()];
        append(&*store, &id(&format!("run_{n}")), DAY, &bodies).await;
    }
    let database = home.path().join("windlass.db");
    let writer = tokio::spawn({
        let store = std::sync::Arc::clone(&store);
        async move {
            for n in 0..50 {
                append(&*store, &id("run_live"), 20 * DAY, &[said(&n.to_string())]).await;
            }
        }
    });
    let report = store
        .prune(Duration::ZERO, at(10 * DAY), false)
        .await
        .unwrap();
    writer.await.unwrap();
    assert_eq!(report.runs, 300);
    assert!(report.bytes > 5_000_000, "{report:?}");
    assert_eq!(all_events(&*store, &id("run_live")).await.len(), 50);
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    let size = fs_err::metadata(database).unwrap().len();
    assert!(size < 2_000_000, "{size}");
}
