//! The outbox: deliveries follow the attempts recorded for them.

use windlass_ports::{DeliveryFilter, DeliveryState, Expect, RunStore};
use windlass_types::{
    DeliveryId, NewEvent, Principal, RunState, Timestamp,
    journal::{
        DeliveryAttempted, DeliveryRequeued, DeliveryVerdict, EndpointDisabled, WebhookDelivery,
        WebhookEnqueued,
    },
};

use super::{
    StoreFactory,
    sample::{append, at, event, id, run_in},
};

pub(super) const JOURNAL: &str = "sys_webhooks";

fn delivery_id(name: &str) -> DeliveryId {
    name.parse().expect("an id")
}

pub(super) fn enqueued(seconds: i64, name: &str, url: &str) -> NewEvent {
    let delivery = WebhookDelivery {
        id: delivery_id(name),
        url: url.to_owned(),
        event: "demo.done".to_owned(),
        body: format!("{{\"n\":\"{name}\"}}"),
        secret_name: Some("billing".to_owned()),
    };
    event(
        seconds,
        WebhookEnqueued {
            key: name.to_owned(),
            delivery,
        },
    )
}

pub(super) fn attempted(
    seconds: i64,
    name: &str,
    attempt: u32,
    verdict: DeliveryVerdict,
) -> NewEvent {
    let status = if verdict == DeliveryVerdict::Delivered {
        200
    } else {
        500
    };
    event(
        seconds,
        DeliveryAttempted {
            delivery_id: delivery_id(name),
            attempt,
            status: Some(status),
            error: None,
            duration_ms: 7,
            verdict,
            address: Some("192.0.2.7:443".to_owned()),
            answer: Some("come back".to_owned()),
        },
    )
}

async fn due(store: &dyn RunStore, by: Timestamp) -> Vec<String> {
    let filter = DeliveryFilter {
        due_by: Some(by),
        limit: 100,
        ..DeliveryFilter::default()
    };
    store
        .deliveries(filter)
        .await
        .unwrap()
        .into_iter()
        .map(|delivery| delivery.id.to_string())
        .collect()
}

/// Due when enqueued, later after a failure, never after the end; oldest due first.
pub async fn deliveries_follow_their_attempts(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    assert_eq!(store.next_delivery_due().await.unwrap(), None);
    run_in(&*store, "run_1", RunState::Running, 0).await;
    run_in(&*store, "run_2", RunState::Running, 0).await;
    append(
        &*store,
        "run_1",
        Expect::Any,
        vec![
            enqueued(2, "dlv_a", "https://a.test/x"),
            enqueued(2, "dlv_b", "https://b.test"),
        ],
    )
    .await
    .unwrap();
    append(
        &*store,
        "run_2",
        Expect::Any,
        vec![enqueued(1, "dlv_c", "https://a.test/x")],
    )
    .await
    .unwrap();
    assert_eq!(store.next_delivery_due().await.unwrap(), Some(at(1)));
    assert_eq!(due(&*store, at(0)).await, [""; 0]);
    assert_eq!(due(&*store, at(1)).await, ["dlv_c"]);
    assert_eq!(due(&*store, at(2)).await, ["dlv_c", "dlv_a", "dlv_b"]);

    let outcomes = vec![
        attempted(3, "dlv_c", 1, DeliveryVerdict::Retry { due_at: at(30) }),
        attempted(3, "dlv_a", 1, DeliveryVerdict::Delivered),
        attempted(3, "dlv_b", 1, DeliveryVerdict::Dead),
    ];
    append(&*store, JOURNAL, Expect::Any, outcomes)
        .await
        .unwrap();
    assert_eq!(due(&*store, at(29)).await, [""; 0]);
    assert_eq!(due(&*store, at(30)).await, ["dlv_c"]);
    assert_eq!(store.next_delivery_due().await.unwrap(), Some(at(30)));
    append(
        &*store,
        JOURNAL,
        Expect::Any,
        vec![attempted(31, "dlv_c", 2, DeliveryVerdict::Delivered)],
    )
    .await
    .unwrap();
    assert_eq!(store.next_delivery_due().await.unwrap(), None);

    let attempts = store.attempts(&delivery_id("dlv_c")).await.unwrap();
    let shown: Vec<_> = attempts
        .iter()
        .map(|attempt| (attempt.attempt, attempt.status, attempt.time))
        .collect();
    assert_eq!(shown, [(1, Some(500), at(3)), (2, Some(200), at(31))]);
    assert_eq!(
        (
            attempts[0].address.as_deref(),
            attempts[0].answer.as_deref()
        ),
        (Some("192.0.2.7:443"), Some("come back"))
    );
    let of_run = |run_id: &str| DeliveryFilter {
        run_id: Some(id(run_id)),
        limit: 100,
        ..DeliveryFilter::default()
    };
    let states: Vec<_> = store
        .deliveries(of_run("run_1"))
        .await
        .unwrap()
        .into_iter()
        .map(|delivery| (delivery.id.to_string(), delivery.state, delivery.attempts))
        .collect();
    let expected = [
        ("dlv_a".to_owned(), DeliveryState::Delivered, 1),
        ("dlv_b".to_owned(), DeliveryState::Dead, 1),
    ];
    assert_eq!(states, expected);
    let dead = DeliveryFilter {
        state: Some(DeliveryState::Dead),
        limit: 100,
        ..DeliveryFilter::default()
    };
    let dead = store.deliveries(dead).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].body, r#"{"n":"dlv_b"}"#);
    assert_eq!(
        (dead[0].secret_name.as_deref(), dead[0].created_at),
        (Some("billing"), at(2))
    );
    let one = DeliveryFilter {
        limit: 1,
        ..DeliveryFilter::default()
    };
    assert_eq!(store.deliveries(one).await.unwrap().len(), 1);
}

/// Nothing is due for a receiver that is gone except what is requested by hand.
pub async fn gone_receivers_get_only_what_is_asked_for_by_hand(factory: &dyn StoreFactory) {
    let store = factory.open().runs;
    run_in(&*store, "run_1", RunState::Running, 0).await;
    let url = "https://gone.test/hook";
    append(
        &*store,
        "run_1",
        Expect::Any,
        vec![enqueued(1, "dlv_a", url), enqueued(1, "dlv_b", url)],
    )
    .await
    .unwrap();
    let gone = event(
        2,
        EndpointDisabled {
            url: url.to_owned(),
            owner: Some("billing".to_owned()),
        },
    );
    append(
        &*store,
        JOURNAL,
        Expect::Any,
        vec![attempted(2, "dlv_a", 1, DeliveryVerdict::Dead), gone],
    )
    .await
    .unwrap();
    let of_another = WebhookEnqueued {
        key: "dlv_other".to_owned(),
        delivery: WebhookDelivery {
            id: delivery_id("dlv_other"),
            url: url.to_owned(),
            event: "demo.done".to_owned(),
            body: "{}".to_owned(),
            secret_name: Some("another".to_owned()),
        },
    };
    append(&*store, "run_1", Expect::Any, vec![event(2, of_another)])
        .await
        .unwrap();
    assert_eq!(
        due(&*store, at(100)).await,
        ["dlv_other"],
        "gone for those it said it to"
    );
    let delivered = attempted(2, "dlv_other", 1, DeliveryVerdict::Delivered);
    append(&*store, JOURNAL, Expect::Any, vec![delivered])
        .await
        .unwrap();
    assert_eq!(due(&*store, at(100)).await, [""; 0]);
    assert_eq!(store.next_delivery_due().await.unwrap(), None);
    let requeued = DeliveryRequeued {
        delivery_id: delivery_id("dlv_a"),
        principal: Principal::local("ada"),
        due_at: at(50),
    };
    append(&*store, JOURNAL, Expect::Any, vec![event(3, requeued)])
        .await
        .unwrap();
    assert_eq!(due(&*store, at(49)).await, [""; 0]);
    assert_eq!(due(&*store, at(100)).await, ["dlv_a"]);
    assert_eq!(store.next_delivery_due().await.unwrap(), Some(at(50)));
    let filter = DeliveryFilter {
        due_by: Some(at(100)),
        limit: 100,
        ..DeliveryFilter::default()
    };
    let again = store.deliveries(filter).await.unwrap();
    assert_eq!(
        (again[0].attempts, again[0].due_at),
        (0, at(50)),
        "a new round begins"
    );
    assert_eq!(
        store.attempts(&delivery_id("dlv_a")).await.unwrap().len(),
        1,
        "the log stays"
    );
}
