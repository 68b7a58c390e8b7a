//! The store in memory passes what every store must pass, and fails on request.

use windlass_ports::{
    Commit, CommitError, DriverScope, Expect, JournalWrite, Lease as _, RunStore as _, StoreError,
};
use windlass_testkit::{MemoryStore, Moment, store_suite::Stores};
use windlass_types::{Body, NewEvent, Timestamp, event::SpanIds, journal::RunStarted};

mod shared {
    //! The shared suite.
    use super::*;

    fn home() -> impl Fn() -> Stores {
        let disk = MemoryStore::new();
        move || Stores::of(disk.open_again())
    }

    windlass_testkit::store_suite!(home);
}

fn commit() -> Commit {
    let (event_type, payload) = Body::from(RunStarted {
        epoch: 1,
        attempt: 1,
    })
    .encode()
    .unwrap();
    let event = NewEvent {
        time: Timestamp::EPOCH,
        event_type,
        payload,
        spans: SpanIds::default(),
    };
    let write = JournalWrite {
        run_id: "sys_test".parse().unwrap(),
        expect: Expect::Any,
        events: vec![event],
    };
    Commit {
        writes: vec![write],
        lease: None,
    }
}

fn stored(store: &MemoryStore) -> usize {
    store.journal(&"sys_test".parse().unwrap()).len()
}

#[tokio::test]
async fn a_process_dies_on_request_and_leaves_what_was_committed() {
    for (moment, left) in [
        (Moment::BeforeWrite, 1),
        (Moment::AfterWrite, 1),
        (Moment::AfterCommit, 2),
    ] {
        let survivor = MemoryStore::new();
        let store = survivor.open_again();
        store.crash_at(2, moment);
        let driver = store.register(DriverScope::All).unwrap();
        store.commit(commit()).await.unwrap();
        assert!(survivor.holder().is_some());
        tokio::select! {
            biased;
            () = store.died() => {}
            _ = store.commit(commit()) => panic!("{moment:?}: a dead process was answered"),
        }
        assert_eq!(stored(&survivor), left, "{moment:?}");
        assert_eq!(store.acknowledged().len(), 1, "{moment:?}");
        assert_eq!(survivor.drivers(), [], "{moment:?}: its driver is dead");
        drop(driver);
    }
}

#[tokio::test]
async fn writes_fail_on_request_and_store_nothing() {
    let store = MemoryStore::new();
    store.fail_writes(2..=3, StoreError::Io("worn out".to_owned()));
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        outcomes.push(store.commit(commit()).await.is_ok());
    }
    assert_eq!(outcomes, [true, false, false, true]);
    assert_eq!(stored(&store), 2);
    store.set_full(true);
    assert!(matches!(
        store.open_again().commit(commit()).await,
        Err(CommitError::Store(StoreError::Full))
    ));
    store.set_full(false);
    store.commit(commit()).await.unwrap();
    assert_eq!(stored(&store), 3);
}

#[tokio::test]
async fn damage_is_reported_and_not_returned() {
    let store = MemoryStore::new();
    for _ in 0..3 {
        store.commit(commit()).await.unwrap();
    }
    let journal = "sys_test".parse().unwrap();
    store.damage(&journal, 2);
    assert!(matches!(
        store.events(&journal, 0, 10).await,
        Err(StoreError::Damaged(_))
    ));
    assert!(matches!(
        store.feed(0, &[], 10).await,
        Err(StoreError::Damaged(_))
    ));
    assert_eq!(
        store
            .events(&journal, 2, 10)
            .await
            .map(|events| events.len())
            .unwrap(),
        1
    );
}
