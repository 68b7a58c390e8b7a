//! Journals from elsewhere: stored as they are, or refused with a reason; they cause nothing.

use windlass_ports::{
    CommitError, DeliveryFilter, DeliveryState, Expect, RunStore, StoreMaintenance,
};
use windlass_types::{
    Body, Digest, Event, KeyId, Principal, RunState,
    event::ChainHead,
    journal::{EndpointDisabled, KeyCreated, WebhookDelivery, WebhookEnqueued},
};

use super::support::*;

fn chain(run: &str, bodies: &[Body]) -> Vec<Event> {
    let mut head = ChainHead::default();
    let mut events = Vec::new();
    for (n, body) in bodies.iter().enumerate() {
        let event = Event::chain(id(run), head.seq + 1, head.hash, new_event(n as i64, body));
        head = ChainHead {
            seq: event.seq,
            hash: event.hash,
        };
        events.push(event);
    }
    events
}

fn webhook() -> Body {
    WebhookEnqueued {
        key: "w".into(),
        delivery: WebhookDelivery {
            id: "dlv_1".parse().unwrap(),
            url: "https://example.com".into(),
            event: "e".into(),
            body: "{}".into(),
            secret_name: None,
        },
    }
    .into()
}

#[tokio::test]
async fn an_exported_journal_is_imported_with_its_hashes() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = open(from.path());
    let run = id("run_1");
    ended_run(&source, &run, 7).await;
    let exported = all_events(&source, &run).await;
    let target = open(to.path());
    target.import(exported.clone()).await.unwrap();
    assert_eq!(all_events(&target, &run).await, exported);
    assert_eq!(
        target.run(&run).await.unwrap(),
        source.run(&run).await.unwrap()
    );
    // It is history: nothing follows, whatever the state is expected to be.
    for expect in [
        Expect::Any,
        Expect::State(vec![RunState::Completed]),
        Expect::At(4),
    ] {
        let refused = try_append(&target, &run, expect, 9, &[said("after")]).await;
        assert!(
            matches!(refused, Err(CommitError::Imported { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(target.check().await.unwrap().findings, Vec::<String>::new());
    let again = target.import(exported).await;
    assert!(
        matches!(
            again,
            Err(CommitError::Unexpected {
                state: Some(RunState::Completed),
                ..
            })
        ),
        "{again:?}"
    );
}

#[tokio::test]
async fn what_does_not_verify_is_refused() {
    let good = chain("run_1", &[created().into(), started(), completed()]);
    let mut altered = good.clone();
    altered[1].time = at(99);
    let mut gap = good.clone();
    gap.remove(1);
    let mut mixed = good.clone();
    mixed[2].run_id = id("run_2");
    let cases = [
        (vec![], "it has no events"),
        (
            altered,
            "event 2 was altered: its content does not match its hash",
        ),
        (gap, "event 2 is missing (found 3)"),
        (good[1..].to_vec(), "event 1 is missing (found 2)"),
        (mixed, "it holds events of run_1 and of run_2"),
        (
            chain("run_1", &[started()]),
            "it does not begin with run.created",
        ),
        (
            chain("sys_keys", &[created().into()]),
            "sys_keys is a journal of the store itself",
        ),
    ];
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    for (events, why) in cases {
        let error = store.import(events).await.unwrap_err().to_string();
        assert_eq!(
            error,
            format!("the store is damaged: the imported journal is refused: {why}")
        );
    }
    assert_eq!(store.position().await.unwrap(), 0);
    let doubled = chain("run_1", &[created().into(), created().into()]);
    assert!(matches!(
        store.import(doubled).await,
        Err(CommitError::Unexpected { .. })
    ));
}

#[tokio::test]
async fn an_imported_run_sends_nothing_and_brings_no_keys() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let key = KeyCreated {
        key_id: "key_1".parse::<KeyId>().unwrap(),
        name: "forged".into(),
        secret_hash: Digest::of(b"known"),
        tier: "standard".into(),
        scopes: vec![],
        expires_at: None,
        principal: Principal::local("mallory"),
    };
    let disabled = EndpointDisabled {
        url: "https://ours.example".into(),
        owner: None,
    };
    let events = chain(
        "run_1",
        &[
            created().into(),
            webhook(),
            key.into(),
            disabled.into(),
            completed(),
        ],
    );
    store.import(events).await.unwrap();
    assert!(store.api_keys().await.unwrap().is_empty());
    assert_eq!(store.next_delivery_due().await.unwrap(), None);
    let deliveries = store
        .deliveries(DeliveryFilter {
            limit: 9,
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(
        deliveries.iter().map(|d| d.state).collect::<Vec<_>>(),
        [DeliveryState::Dead]
    );
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
}
