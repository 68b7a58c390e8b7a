//! Journals: chained, complete, in order, exactly as written.

use serde_json::json;
use windlass_ports::Expect;
use windlass_types::{
    Body, Digest, Json, NewEvent, RunState,
    event::{ChainHead, SpanIds, verify_chain},
    journal::{DomainEvent, RunCompleted, RunStarted},
};

use super::{
    StoreFactory,
    sample::{append, at, created, event, id, run_in},
};

fn note(seconds: i64, text: &str) -> NewEvent {
    event(
        seconds,
        Body::Domain(
            "note".to_owned(),
            DomainEvent {
                key: text.to_owned(),
                data: json!({ "text": text }),
            },
        ),
    )
}

/// Events come back as they were written, with places and hashes that bind them together.
pub async fn events_are_chained_and_read_back(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    let first = append(
        &*store,
        "run_1",
        Expect::New,
        vec![event(0, created()), note(1, "a")],
    )
    .await
    .unwrap();
    let second = append(
        &*store,
        "run_1",
        Expect::Any,
        vec![note(2, "grüße \u{1F600} \"quoted\"\n")],
    )
    .await
    .unwrap();
    let written: Vec<_> = first.events.into_iter().chain(second.events).collect();
    assert_eq!(
        written.iter().map(|event| event.seq).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(written[0].prev_hash, Digest::ZERO);
    let read = store.events(&id("run_1"), 0, 100).await.unwrap();
    assert_eq!(read, written);
    verify_chain(ChainHead::default(), &read).unwrap();
    assert!(
        store
            .events(&id("run_absent"), 0, 100)
            .await
            .unwrap()
            .is_empty()
    );
}

/// Reading continues from any position, with a page limit.
pub async fn journals_are_read_in_pages(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Queued, 0).await;
    append(
        &*store,
        "run_1",
        Expect::Any,
        (1..=9).map(|n| note(n, &n.to_string())).collect(),
    )
    .await
    .unwrap();
    for (after, limit, expected) in [
        (0, 3, vec![1, 2, 3]),
        (3, 3, vec![4, 5, 6]),
        (8, 100, vec![9, 10]),
        (10, 5, vec![]),
        (99, 5, vec![]),
        (2, 0, vec![]),
    ] {
        let page = store.events(&id("run_1"), after, limit).await.unwrap();
        assert_eq!(
            page.iter().map(|event| event.seq).collect::<Vec<_>>(),
            expected,
            "after {after} limit {limit}"
        );
    }
}

/// A type this version does not know is stored and read like any other.
pub async fn events_of_unknown_types_are_kept(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Queued, 0).await;
    let future = NewEvent {
        time: at(1),
        event_type: "future.thing".to_owned(),
        payload: Json::parse(r#"{"b": 1,  "a": [null]}"#).unwrap(),
        spans: SpanIds::default(),
    };
    append(&*store, "run_1", Expect::Any, vec![future])
        .await
        .unwrap();
    let read = store.events(&id("run_1"), 1, 10).await.unwrap();
    assert_eq!(read[0].payload.as_str(), r#"{"b": 1,  "a": [null]}"#);
    assert_eq!(store.run(&id("run_1")).await.unwrap().unwrap().last_seq, 2);
}

/// What could not be read back is not stored, and neither is what came with it.
pub async fn unreadable_events_are_refused(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    let broken = NewEvent {
        time: at(1),
        event_type: "run.completed".to_owned(),
        payload: Json::parse(r#"{"no": "output"}"#).unwrap(),
        spans: SpanIds::default(),
    };
    assert!(
        append(
            &*store,
            "run_1",
            Expect::New,
            vec![event(0, created()), broken]
        )
        .await
        .is_err()
    );
    assert!(store.events(&id("run_1"), 0, 10).await.unwrap().is_empty());
    assert!(store.run(&id("run_1")).await.unwrap().is_none());
}

/// The feed shows all journals in commit order, by type, and says how far it looked.
pub async fn the_feed_has_everything_in_order(factory: &dyn StoreFactory) {
    const CREATED: &[&str] = &["run.created"];
    const ENDINGS: &[&str] = &["run.completed", "run.failed"];
    let store = factory.open().runs;
    assert_eq!(store.position().await.unwrap(), 0);
    assert_eq!(store.feed(0, &[], 10).await.unwrap().position, 0);
    run_in(&*store, "run_1", RunState::Queued, 0).await;
    run_in(&*store, "run_2", RunState::Queued, 1).await;
    let started = event(
        2,
        RunStarted {
            epoch: 1,
            attempt: 1,
        },
    );
    append(
        &*store,
        "run_1",
        Expect::Any,
        vec![started, event(2, RunCompleted { output: json!(1) })],
    )
    .await
    .unwrap();
    let show = |page: &windlass_ports::FeedPage| -> Vec<String> {
        page.entries
            .iter()
            .map(|entry| format!("{} {}", entry.event.run_id, entry.event.event_type))
            .collect()
    };
    let all = store.feed(0, &[], 100).await.unwrap();
    assert_eq!(
        show(&all),
        [
            "run_1 run.created",
            "run_2 run.created",
            "run_1 run.started",
            "run_1 run.completed"
        ]
    );
    assert!(
        all.entries
            .windows(2)
            .all(|pair| pair[0].position < pair[1].position)
    );
    assert_eq!(all.position, store.position().await.unwrap());
    assert_eq!(all.position, all.entries[3].position);
    assert_eq!(
        show(&store.feed(0, CREATED, 100).await.unwrap()),
        ["run_1 run.created", "run_2 run.created"]
    );
    let endings = store.feed(0, ENDINGS, 100).await.unwrap();
    assert_eq!(show(&endings), ["run_1 run.completed"]);
    assert_eq!(endings.position, all.position);
    // A full page ends where it ends; the next one continues from there.
    let first = store.feed(0, CREATED, 1).await.unwrap();
    assert_eq!(show(&first), ["run_1 run.created"]);
    assert_eq!(first.position, first.entries[0].position);
    let second = store.feed(first.position, CREATED, 10).await.unwrap();
    assert_eq!(show(&second), ["run_2 run.created"]);
    assert_eq!(second.position, all.position);
    assert!(
        store
            .feed(all.position, &[], 10)
            .await
            .unwrap()
            .entries
            .is_empty()
    );
}
