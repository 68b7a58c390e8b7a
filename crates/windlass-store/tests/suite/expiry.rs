//! What goes by age, without a prune.

use std::time::Duration;

use windlass_ports::{RunStore as _, StoreMaintenance as _, store::Retention};

use super::support::*;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Entries of the audit go by age, without a prune, and the chain stays whole.
#[tokio::test]
async fn audit_entries_go_by_age() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let audit = id("sys_audit");
    for day in 0..10 {
        append(&store, &audit, day * DAY, &[said(&format!("day {day}"))]).await;
    }
    let expire = |now: i64| {
        let retention = Retention {
            audit: Some(Duration::from_secs(5 * 24 * 3600)),
            ..Retention::default()
        };
        store.expire(retention, at(now * DAY))
    };
    assert_eq!(expire(4).await.unwrap().removed.events, 0);
    assert_eq!(expire(9).await.unwrap().removed.events, 5);
    let left: Vec<u64> = all_events(&store, &audit)
        .await
        .iter()
        .map(|event| event.seq)
        .collect();
    assert_eq!(left, [6, 7, 8, 9, 10]);
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    let flushes = store.flushes();
    assert_eq!(expire(9).await.unwrap().removed.events, 0);
    assert_eq!(
        store.flushes(),
        flushes,
        "a round that finds nothing writes nothing"
    );
}
