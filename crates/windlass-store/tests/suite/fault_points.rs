//! The writer fails at each of its points: what callers see, what is stored, what is next.

use std::sync::{Arc, Mutex};

use windlass_ports::{CommitError, Expect, StoreError, StoreMaintenance};
use windlass_store::{EventMark, FaultPoint, SqliteStore, SqliteStoreOptions, StoreFaults};

use super::support::*;

type Seen = (FaultPoint, Vec<(String, u64, String)>);

/// Fails once at a point, and writes down every call.
#[derive(Default)]
struct Script {
    fail: Mutex<Option<(FaultPoint, StoreError)>>,
    seen: Mutex<Vec<Seen>>,
}

impl StoreFaults for Script {
    fn at(&self, point: FaultPoint, events: &[EventMark]) -> Result<(), StoreError> {
        let marks = events
            .iter()
            .map(|mark| (mark.run_id.to_string(), mark.seq, mark.event_type.clone()))
            .collect();
        self.seen.lock().unwrap().push((point, marks));
        let mut fail = self.fail.lock().unwrap();
        match fail.take() {
            Some((at, error)) if at == point => Err(error),
            other => {
                *fail = other;
                Ok(())
            }
        }
    }
}

fn store_with(script: &Arc<Script>, home: &std::path::Path) -> SqliteStore {
    let faults: Arc<dyn StoreFaults> = Arc::<Script>::clone(script);
    SqliteStore::open(
        home,
        SqliteStoreOptions {
            faults: Some(faults),
            ..Default::default()
        },
    )
    .unwrap()
}

#[tokio::test]
async fn points_are_reached_in_order_with_the_events_in_hand() {
    let home = tempfile::tempdir().unwrap();
    let script = Arc::new(Script::default());
    let store = store_with(&script, home.path());
    append(&store, &id("run_1"), 1, &[created().into(), started()]).await;
    let marks = vec![
        ("run_1".to_owned(), 1, "run.created".to_owned()),
        ("run_1".to_owned(), 2, "run.started".to_owned()),
    ];
    let expected: Vec<Seen> = [
        FaultPoint::BeforeWrite,
        FaultPoint::AfterWrite,
        FaultPoint::AfterCommit,
    ]
    .map(|point| (point, marks.clone()))
    .into();
    assert_eq!(*script.seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_failure_before_the_commit_leaves_nothing_and_the_next_commit_works() {
    for point in [FaultPoint::BeforeWrite, FaultPoint::AfterWrite] {
        for error in [
            StoreError::Full,
            StoreError::Io("the disk failed".into()),
            StoreError::Busy,
        ] {
            let home = tempfile::tempdir().unwrap();
            let script = Arc::new(Script::default());
            let store = store_with(&script, home.path());
            let run = id("run_1");
            append(&store, &run, 1, &[created().into()]).await;
            *script.fail.lock().unwrap() = Some((point, error.clone()));
            let failed = try_append(&store, &run, Expect::Any, 2, &[started()]).await;
            let Err(CommitError::Store(reported)) = failed else {
                panic!("{failed:?}")
            };
            assert_eq!(reported.to_string(), error.to_string());
            assert_eq!(all_events(&store, &run).await.len(), 1);
            let next = append(&store, &run, 3, &[started()]).await;
            assert_eq!(next[0].seq, 2, "{point:?} {error}");
            assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn a_failure_after_the_commit_loses_the_answer_but_not_the_event() {
    let home = tempfile::tempdir().unwrap();
    let script = Arc::new(Script::default());
    let store = store_with(&script, home.path());
    let run = id("run_1");
    *script.fail.lock().unwrap() = Some((
        FaultPoint::AfterCommit,
        StoreError::Io("the answer got lost".into()),
    ));
    assert!(
        try_append(&store, &run, Expect::New, 1, &[created().into()])
            .await
            .is_err()
    );
    assert_eq!(all_events(&store, &run).await.len(), 1);
    assert_eq!(append(&store, &run, 2, &[started()]).await[0].seq, 2);
}

/// After the disk failed, a store that no longer shows what was acknowledged stops writing.
#[tokio::test]
async fn an_acknowledged_event_that_is_gone_after_a_failure_stops_all_writing() {
    let home = tempfile::tempdir().unwrap();
    let script = Arc::new(Script::default());
    let store = store_with(&script, home.path());
    let (one, two) = (id("run_1"), id("run_2"));
    append(&store, &one, 1, &[created().into()]).await;
    append(&store, &two, 1, &[created().into()]).await;
    let thief = rusqlite::Connection::open(home.path().join("windlass.db")).unwrap();
    thief
        .execute("DELETE FROM events WHERE position = 2", [])
        .unwrap();
    *script.fail.lock().unwrap() = Some((
        FaultPoint::AfterWrite,
        StoreError::Io("the disk failed".into()),
    ));
    assert!(
        try_append(&store, &one, Expect::Any, 2, &[started()])
            .await
            .is_err()
    );
    for _ in 0..2 {
        let refused = try_append(&store, &one, Expect::Any, 3, &[started()]).await;
        assert!(
            matches!(refused, Err(CommitError::Store(StoreError::Damaged(_)))),
            "{refused:?}"
        );
    }
    assert_eq!(all_events(&store, &one).await.len(), 1, "reading continues");
}
