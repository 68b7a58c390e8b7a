//! Contents, imports and care of the store.

use std::time::Duration;

use serde_json::json;
use windlass_ports::{
    BlobError, CommitError, DeliveryFilter, DeliveryState, Expect, StoreError,
    store::{KeptFor, Retention},
};
use windlass_types::{
    ArtifactRef, Digest, Event, Problem, RunState, Visibility, code,
    journal::{
        ArtifactStored, DeliveryVerdict, KeyCreated, RunCompleted, RunCreated, RunFailed,
        StepCompleted,
    },
};

use super::{
    StoreFactory, Stores,
    outbox::{JOURNAL, attempted, enqueued},
    sample::{append, at, create, created, event, id, run_in},
};

/// What is put is what is had, small and large, however often it is put.
pub async fn contents_are_what_was_put(factory: &dyn StoreFactory) {
    let blobs = factory.open().blobs;
    let large: Vec<u8> = (0..600_000_u32).flat_map(u32::to_le_bytes).collect();
    for bytes in [Vec::new(), b"small".to_vec(), large] {
        let digest = blobs.put(bytes.clone()).await.unwrap();
        assert_eq!(digest, Digest::of(&bytes));
        assert_eq!(blobs.put(bytes.clone()).await.unwrap(), digest);
        assert!(
            blobs.get(digest).await.unwrap() == bytes,
            "{} bytes",
            bytes.len()
        );
    }
    let missing = Digest::of(b"never put");
    assert!(
        matches!(blobs.get(missing).await, Err(BlobError::Missing(digest)) if digest == missing)
    );
}

/// A journal made in another home.
async fn exported(factory: &dyn StoreFactory, name: &str) -> Vec<Event> {
    let store = factory.open().runs;
    create(&*store, name, created()).await.unwrap();
    let key = KeyCreated {
        key_id: "key_forged".parse().unwrap(),
        name: "forged".to_owned(),
        secret_hash: Digest::ZERO,
        tier: "standard".to_owned(),
        scopes: vec![],
        expires_at: None,
        principal: windlass_types::Principal::local("eve"),
    };
    let events = vec![
        enqueued(1, "dlv_imported", "https://x.test"),
        event(2, key),
        event(3, RunCompleted { output: json!(1) }),
    ];
    append(&*store, name, Expect::Any, events).await.unwrap();
    let events = store.events(&id(name), 0, 100).await.unwrap();
    assert_eq!(events.len(), 4);
    events
}

/// The same journal under another name, as another home would have made it.
fn renamed(events: &[Event], name: &str) -> Vec<Event> {
    let mut prev_hash = Digest::ZERO;
    events
        .iter()
        .map(|event| {
            let mut event = Event {
                run_id: id(name),
                prev_hash,
                ..event.clone()
            };
            event.hash = event.compute_hash();
            prev_hash = event.hash;
            event
        })
        .collect()
}

/// An imported journal has the hashes it came with and can be read like any other.
pub async fn imports_keep_their_hashes(factory: &dyn StoreFactory) {
    let events = renamed(&exported(factory, "run_1").await, "run_2");
    let store = factory.open().runs;
    store.import(events.clone()).await.unwrap();
    assert_eq!(store.events(&id("run_2"), 0, 100).await.unwrap(), events);
    assert_eq!(
        store.run(&id("run_2")).await.unwrap().unwrap().state,
        RunState::Completed
    );
    let refused = store.import(events).await.unwrap_err();
    assert!(matches!(refused, CommitError::Unexpected { run_id, .. } if run_id == id("run_2")));
    assert!(store.is_imported(&id("run_2")).await.unwrap());
    assert!(!store.is_imported(&id("run_1")).await.unwrap());
    let refused = append(
        &*store,
        "run_2",
        Expect::Any,
        vec![event(4, RunCompleted { output: json!(2) })],
    )
    .await;
    assert!(
        matches!(refused, Err(CommitError::Imported { .. })),
        "{refused:?}"
    );
    let feed = store.feed(0, &["run.created"], 10).await.unwrap();
    assert_eq!(feed.entries.len(), 2);
}

/// What does not verify, is not one run's, or would be a journal of the store's own, is refused.
pub async fn broken_imports_are_refused(factory: &dyn StoreFactory) {
    let events = renamed(&exported(factory, "run_1").await, "run_2");
    let store = factory.open().runs;
    let mut altered = events.clone();
    altered[1].time = at(99);
    let mut cut = events.clone();
    cut.remove(1);
    let mut mixed = events.clone();
    mixed.extend(renamed(&events, "run_3"));
    let without_beginning = events[1..].to_vec();
    for (name, broken) in [
        ("altered", altered),
        ("cut", cut),
        ("mixed", mixed),
        ("without beginning", without_beginning),
        ("empty", Vec::new()),
        ("system", renamed(&events, "sys_keys")),
    ] {
        let refused = store.import(broken).await;
        assert!(
            matches!(refused, Err(CommitError::Store(StoreError::Damaged(_)))),
            "{name}: {refused:?}"
        );
    }
    assert!(store.run(&id("run_2")).await.unwrap().is_none());
    assert!(
        store
            .events(&id("sys_keys"), 0, 1)
            .await
            .unwrap()
            .is_empty()
    );
}

/// What another home had to send is not sent here, and its keys open nothing.
pub async fn imports_bring_no_deliveries_and_no_keys(factory: &dyn StoreFactory) {
    let other = exported(factory, "run_1").await;
    let mut events = renamed(&other, "run_2");
    // A delivery id of its own: the first to use one keeps it.
    let payload = events[1]
        .payload
        .as_str()
        .replace("dlv_imported", "dlv_second");
    events[1].payload = windlass_types::Json::parse(&payload).unwrap();
    let events = renamed(&events, "run_2");
    let store = factory.open().runs;
    store.import(events).await.unwrap();
    let filter = DeliveryFilter {
        run_id: Some(id("run_2")),
        limit: 10,
        ..DeliveryFilter::default()
    };
    let deliveries = store.deliveries(filter).await.unwrap();
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0].state, DeliveryState::Dead);
    assert!(store.api_keys().await.unwrap().is_empty());
}

async fn run_with_artifact(stores: &Stores, name: &str, content: &[u8], seconds: i64) -> Digest {
    run_in(&*stores.runs, name, RunState::Running, seconds).await;
    let sha256 = stores.blobs.put(content.to_vec()).await.unwrap();
    let artifact = ArtifactRef {
        name: "report".to_owned(),
        content_type: "text/plain".to_owned(),
        sha256,
        size: content.len() as u64,
        visibility: Visibility::Private,
        expires_at: None,
    };
    let events = vec![
        event(
            seconds,
            ArtifactStored {
                key: "artifact:report".to_owned(),
                artifact,
            },
        ),
        event(
            seconds,
            RunCompleted {
                output: json!(null),
            },
        ),
    ];
    append(&*stores.runs, name, Expect::Any, events)
        .await
        .unwrap();
    sha256
}

/// A sound store is counted and nothing is found.
pub async fn checks_count_everything_and_find_nothing(factory: &dyn StoreFactory) {
    let stores = factory.open();
    run_with_artifact(&stores, "run_1", b"content", 0).await;
    run_in(&*stores.runs, "run_2", RunState::Held, 0).await;
    let report = stores.maintenance.check().await.unwrap();
    assert_eq!(report.findings, Vec::<String>::new());
    assert_eq!((report.journals, report.events, report.blobs), (2, 6, 1));
}

/// A backup goes to a new directory and does not disturb the store.
pub async fn backups_are_made_while_in_use(factory: &dyn StoreFactory) {
    let stores = factory.open();
    run_with_artifact(&stores, "run_1", b"content", 0).await;
    let directory = tempfile::tempdir().expect("a scratch directory can be made");
    let target = directory.path().join("backup");
    assert!(stores.maintenance.backup(target.clone()).await.unwrap() > 0);
    assert!(target.is_dir());
    run_in(&*stores.runs, "run_2", RunState::Queued, 0).await;
    assert!(
        stores.maintenance.backup(target).await.is_err(),
        "an existing backup is not overwritten"
    );
}

/// Old runs that have ended go with their contents; all others stay.
pub async fn prunes_take_old_ended_runs_only(factory: &dyn StoreFactory) {
    const DAY: i64 = 24 * 3600;
    let stores = factory.open();
    let old = run_with_artifact(&stores, "run_old", b"old content", 0).await;
    let young = run_with_artifact(&stores, "run_young", b"young content", 9 * DAY).await;
    run_in(&*stores.runs, "run_unfinished", RunState::Running, 0).await;
    let prune = |dry_run| {
        stores
            .maintenance
            .prune(Duration::from_secs(5 * DAY as u64), at(10 * DAY), dry_run)
    };
    for dry_run in [true, false] {
        assert!(stores.runs.run(&id("run_old")).await.unwrap().is_some());
        let report = prune(dry_run).await.unwrap();
        assert_eq!((report.runs, report.events), (1, 4), "dry run: {dry_run}");
    }
    assert!(stores.runs.run(&id("run_old")).await.unwrap().is_none());
    assert!(
        stores
            .runs
            .events(&id("run_old"), 0, 10)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(stores.runs.run(&id("run_young")).await.unwrap().is_some());
    assert!(
        stores
            .runs
            .run(&id("run_unfinished"))
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(stores.blobs.get(young).await.unwrap(), b"young content");
    // A content put a moment ago may be on its way to being named, so when it goes is the
    // store's own choice; that the run is forgotten is not.
    match stores.blobs.get(old).await {
        Ok(bytes) => assert_eq!(bytes, b"old content"),
        Err(error) => assert!(matches!(error, BlobError::Missing(_)), "{error:?}"),
    }
    assert_eq!(
        stores.maintenance.check().await.unwrap().findings,
        Vec::<String>::new()
    );
    assert_eq!(prune(false).await.unwrap().runs, 0);
}

/// Runs of a kind that is kept for a time only go when that is over, unless they owe a delivery;
/// runs of other kinds stay.
pub async fn runs_kept_for_a_time_go_when_it_is_over(factory: &dyn StoreFactory) {
    const DAY: i64 = 24 * 3600;
    let stores = factory.open();
    let runs = &*stores.runs;
    let old = run_with_artifact(&stores, "run_old", b"old content", 0).await;
    let young = run_with_artifact(&stores, "run_young", b"young content", 9 * DAY).await;
    run_in(runs, "run_unfinished", RunState::Running, 0).await;
    let done = |seconds| event(seconds, RunCompleted { output: json!(1) });
    create(runs, "run_owing", created()).await.unwrap();
    let owing = vec![enqueued(1, "dlv_owed", "https://x.test"), done(1)];
    append(runs, "run_owing", Expect::Any, owing).await.unwrap();
    let other = RunCreated {
        kind: "other".to_owned(),
        ..created()
    };
    create(runs, "run_other", other).await.unwrap();
    append(runs, "run_other", Expect::Any, vec![done(1)])
        .await
        .unwrap();
    let left = async || {
        let mut left = Vec::new();
        for name in ["old", "young", "unfinished", "owing", "other"] {
            let found = runs.run(&id(&format!("run_{name}"))).await.unwrap();
            left.extend(found.map(|_| name));
        }
        left.join(" ")
    };
    let expire = |seconds| {
        let kept = KeptFor {
            kind: "demo".to_owned(),
            keep: Duration::from_secs(5 * DAY as u64),
        };
        let retention = Retention {
            kinds: vec![kept],
            ..Retention::default()
        };
        stores.maintenance.expire(retention, at(seconds))
    };

    let early = expire(5 * DAY - 1).await.unwrap();
    assert_eq!(
        (early.removed.runs, early.next),
        (0, Some(at(5 * DAY))),
        "the first is due"
    );
    let expiry = expire(10 * DAY).await.unwrap();
    assert_eq!(expiry.removed.runs, 1);
    assert_eq!(expiry.next, Some(at(5 * DAY + 1)), "overdue, and it owes");
    assert_eq!(left().await, "young unfinished owing other");
    assert!(runs.events(&id("run_old"), 0, 9).await.unwrap().is_empty());
    match stores.blobs.get(old).await {
        Ok(bytes) => assert_eq!(bytes, b"old content", "young contents may stay for a while"),
        Err(error) => assert!(matches!(error, BlobError::Missing(_)), "{error:?}"),
    }

    let delivered = attempted(2, "dlv_owed", 1, DeliveryVerdict::Delivered);
    append(runs, JOURNAL, Expect::Any, vec![delivered])
        .await
        .unwrap();
    let expiry = expire(10 * DAY).await.unwrap();
    assert_eq!(
        (expiry.removed.runs, expiry.next),
        (1, Some(at(14 * DAY))),
        "it owes nothing any more"
    );
    assert_eq!(left().await, "young unfinished other");
    assert_eq!(stores.blobs.get(young).await.unwrap(), b"young content");
    let findings = stores.maintenance.check().await.unwrap().findings;
    assert_eq!(findings, Vec::<String>::new());
}

/// Ended runs of every kind go by themselves; not those that left effects behind, that owe a
/// delivery or that can still be rolled back.
pub async fn ended_runs_go_by_themselves(factory: &dyn StoreFactory) {
    const DAY: i64 = 24 * 3600;
    const DAYS: fn(u64) -> Duration = |days| Duration::from_secs(days * DAY as u64);
    let stores = factory.open();
    let runs = &*stores.runs;
    let done = || event(1, RunCompleted { output: json!(1) });
    let failed = |residue: &[&str]| {
        let problem = Problem::new(&code::TIMEOUT, "late");
        let residue = residue.iter().map(|&left| left.to_owned()).collect();
        event(1, RunFailed { problem, residue })
    };
    let undoable = StepCompleted {
        key: "one".to_owned(),
        input_hash: Digest::ZERO,
        output: json!(1),
        undoable: true,
        effect: None,
    };
    let stories = [
        ("done", vec![done()]),
        ("failed", vec![failed(&[])]),
        ("residue", vec![failed(&["a bucket"])]),
        ("undoable", vec![event(1, undoable), done()]),
        (
            "owing",
            vec![enqueued(1, "dlv_owed", "https://x.test"), done()],
        ),
        ("running", vec![]),
    ];
    for (name, events) in stories {
        let of_kind = RunCreated {
            kind: name.to_owned(),
            ..created()
        };
        create(runs, &format!("run_{name}"), of_kind).await.unwrap();
        if !events.is_empty() {
            append(runs, &format!("run_{name}"), Expect::Any, events)
                .await
                .unwrap();
        }
    }
    let left = async || {
        let mut left = Vec::new();
        for name in ["done", "failed", "residue", "undoable", "owing", "running"] {
            let found = runs.run(&id(&format!("run_{name}"))).await.unwrap();
            left.extend(found.map(|_| name));
        }
        left.join(" ")
    };
    let expire = |kinds: Vec<KeptFor>, keep: Option<u64>, day: i64| {
        let retention = Retention {
            kinds,
            runs: keep.map(DAYS),
            rollback: DAYS(30),
            audit: None,
        };
        stores.maintenance.expire(retention, at(day * DAY))
    };
    expire(vec![], None, 1000).await.unwrap();
    assert_eq!(left().await, "done failed residue undoable owing running");
    let longer = KeptFor {
        kind: "failed".to_owned(),
        keep: DAYS(20),
    };
    let expiry = expire(vec![longer], Some(7), 10).await.unwrap();
    assert_eq!(expiry.removed.runs, 1);
    assert_eq!(left().await, "failed residue undoable owing running");
    expire(vec![], Some(7), 29).await.unwrap();
    assert_eq!(left().await, "residue undoable owing running");
    expire(vec![], Some(7), 1000).await.unwrap();
    assert_eq!(left().await, "residue owing running");
    // A person may remove what is left of a run that failed.
    let pruned = stores.maintenance.prune(DAYS(7), at(1000 * DAY), false);
    assert_eq!(pruned.await.unwrap().runs, 1);
    assert_eq!(left().await, "owing running");
    let findings = stores.maintenance.check().await.unwrap().findings;
    assert_eq!(findings, Vec::<String>::new());
}

/// The call that an imported run belongs to was made elsewhere: its key is free here, and taken
/// here it does not keep the run out.
pub async fn imports_claim_no_idempotency_key(factory: &dyn StoreFactory) {
    let keyed = |key: &str| RunCreated {
        idempotency_key: Some(key.to_owned()),
        ..created()
    };
    let stores = factory.open();
    let runs = &*stores.runs;
    create(runs, "run_here", keyed("taken")).await.unwrap();
    let here = runs.events(&id("run_here"), 0, 9).await.unwrap();
    runs.import(renamed(&here, "run_there")).await.unwrap();
    let mut free = here;
    let payload = free[0].payload.as_str().replace("\"taken\"", "\"free\"");
    free[0].payload = windlass_types::Json::parse(&payload).unwrap();
    runs.import(renamed(&free, "run_free")).await.unwrap();
    let imported = runs.run(&id("run_free")).await.unwrap().unwrap();
    assert_eq!(imported.idempotency_key.as_deref(), Some("free"));
    create(runs, "run_new", keyed("free")).await.unwrap();
    for (key, holder) in [("taken", "run_here"), ("free", "run_new")] {
        let again = create(runs, "run_again", keyed(key)).await;
        assert!(
            matches!(&again, Err(CommitError::IdempotencyTaken { run_id, .. }) if *run_id == id(holder)),
            "{again:?}"
        );
    }
    let findings = stores.maintenance.check().await.unwrap().findings;
    assert_eq!(findings, Vec::<String>::new());
}
