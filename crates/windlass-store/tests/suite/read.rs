//! Questions: pages, cursors, the feed; and that altered data is reported, never returned.

use std::path::Path;

use windlass_ports::{RunFilter, RunStore, StoreError};
use windlass_types::{
    Principal, RunRecord, RunState, code,
    journal::{ParentRef, RunCreated},
};

use super::support::*;

#[tokio::test]
async fn events_are_paged_and_every_page_verifies() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let run = id("run_1");
    let bodies: Vec<_> = (0..9).map(|n| step(&format!("s{n}"))).collect();
    append(&store, &run, 1, &[created().into()]).await;
    append(&store, &run, 2, &bodies).await;
    for (after, limit, expected) in [
        (0, 3, vec![1, 2, 3]),
        (3, 3, vec![4, 5, 6]),
        (8, 100, vec![9, 10]),
        (10, 100, vec![]),
        (99, 100, vec![]),
        (0, 0, vec![]),
    ] {
        let page = store.events(&run, after, limit).await.unwrap();
        assert_eq!(
            page.iter().map(|event| event.seq).collect::<Vec<u64>>(),
            expected,
            "after {after}"
        );
    }
    assert!(
        store
            .events(&id("run_unknown"), 0, 9)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn runs_are_filtered_and_paged_newest_first() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let parent = id("run_0");
    for n in 0..10 {
        let by_grace = RunCreated {
            principal: Principal::local("grace"),
            ..created()
        };
        let child = RunCreated {
            kind: "other".into(),
            parent: Some(ParentRef {
                run_id: parent.clone(),
                key: "k".into(),
            }),
            ..created()
        };
        let created = match n {
            3 => by_grace,
            5 | 6 => child,
            _ => created(),
        };
        append(&store, &id(&format!("run_{n}")), n, &[created.into()]).await;
    }
    append(&store, &id("run_2"), 20, &[started()]).await;
    append(&store, &id("run_7"), 20, &[started(), completed()]).await;
    let held = windlass_types::journal::RunHeld {
        problem: windlass_types::Problem::internal("a", "b"),
    };
    append(&store, &id("run_8"), 20, &[held.into()]).await;

    let listed = |filter: RunFilter| async {
        let page = store.runs(filter).await.unwrap();
        page.runs
            .into_iter()
            .map(|run| run.run_id.to_string().replace("run_", ""))
            .collect::<Vec<_>>()
            .join("")
    };
    let all = RunFilter {
        limit: 100,
        ..Default::default()
    };
    let cases = [
        (all.clone(), "9876543210"),
        (
            RunFilter {
                kind: Some("other".into()),
                ..all.clone()
            },
            "65",
        ),
        (
            RunFilter {
                principal: Some("local:grace".into()),
                ..all.clone()
            },
            "3",
        ),
        (
            RunFilter {
                parent: Some(parent),
                ..all.clone()
            },
            "65",
        ),
        (
            RunFilter {
                states: vec![RunState::Running, RunState::Completed],
                ..all.clone()
            },
            "72",
        ),
        (
            RunFilter {
                states: vec![RunState::Failed],
                ..all.clone()
            },
            "",
        ),
        (
            RunFilter {
                kind: Some("demo".into()),
                states: vec![RunState::Queued],
                ..all.clone()
            },
            "94310",
        ),
        (
            RunFilter {
                limit: 0,
                ..all.clone()
            },
            "",
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(listed(filter.clone()).await, expected, "{filter:?}");
    }

    let mut seen = String::new();
    let mut filter = RunFilter {
        limit: 3,
        ..Default::default()
    };
    loop {
        let page = store.runs(filter.clone()).await.unwrap();
        assert!(page.runs.len() <= 3);
        seen.extend(
            page.runs
                .iter()
                .map(|run| run.run_id.as_str().replace("run_", "")),
        );
        let Some(next) = page.next else { break };
        filter.before = Some(next);
    }
    assert_eq!(seen, "9876543210");

    assert_eq!(store.unfinished().await.unwrap(), 8);
}

#[tokio::test]
async fn the_feed_reports_its_position() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    assert_eq!(store.position().await.unwrap(), 0);
    for n in 0..4 {
        ended_run(&store, &id(&format!("run_{n}")), n).await;
    }
    assert_eq!(store.position().await.unwrap(), 16);
    let summary = |page: &windlass_ports::FeedPage| {
        let entries: Vec<u64> = page.entries.iter().map(|entry| entry.position).collect();
        (entries, page.position)
    };
    type Case = (u64, &'static [&'static str], usize, Vec<u64>, u64);
    let cases: [Case; 7] = [
        (0, &[], 3, vec![1, 2, 3], 3),
        (3, &[], 100, (4..=16).collect(), 16),
        (16, &[], 100, vec![], 16),
        (99, &[], 100, vec![], 99),
        (0, &["run.created"], 100, vec![1, 5, 9, 13], 16),
        (0, &["run.created", "run.completed"], 3, vec![1, 4, 5], 5),
        (7, &["it's"], 0, vec![], 7),
    ];
    for (after, types, limit, entries, position) in cases {
        let page = store.feed(after, types, limit).await.unwrap();
        assert_eq!(
            summary(&page),
            (entries, position),
            "after {after} {types:?}"
        );
    }
}

fn tamper(home: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(home.join("windlass.db")).unwrap();
    assert!(connection.execute(sql, []).unwrap() > 0, "{sql}");
}

fn damaged<T: std::fmt::Debug>(answer: Result<T, StoreError>, what: &str) {
    assert!(
        matches!(answer, Err(StoreError::Damaged(_))),
        "{what}: {answer:?}"
    );
}

/// A list has the others, so it says of a damaged run that it is one.
fn told_as_damaged(run: &RunRecord) -> Result<(), StoreError> {
    match &run.problem {
        Some(problem) if problem.code() == &code::STORE_DAMAGED => {
            Err(StoreError::Damaged(problem.to_string()))
        }
        _ => Ok(()),
    }
}

#[tokio::test]
async fn altered_rows_are_reported_and_never_returned() {
    type Ask =
        fn(&windlass_store::SqliteStore) -> futures::future::BoxFuture<'_, Result<(), StoreError>>;
    let events: Ask =
        |store| Box::pin(async { store.events(&id("run_1"), 0, 100).await.map(drop) });
    let tail: Ask = |store| Box::pin(async { store.events(&id("run_1"), 2, 100).await.map(drop) });
    let feed: Ask = |store| Box::pin(async { store.feed(0, &[], 100).await.map(drop) });
    let run: Ask = |store| Box::pin(async { store.run(&id("run_1")).await.map(drop) });
    let runs: Ask = |store| {
        Box::pin(async {
            store
                .runs(RunFilter {
                    limit: 9,
                    ..Default::default()
                })
                .await
                .and_then(|page| told_as_damaged(&page.runs[0]))
        })
    };
    let token: Ask =
        |store| Box::pin(async { store.redeemed_by(&"tok_1".parse().unwrap()).await.map(drop) });
    let cases: &[(&str, Ask)] = &[
        (
            "UPDATE events SET payload = replace(payload, 'one', 'two') WHERE seq = 3",
            events,
        ),
        (
            "UPDATE events SET payload = replace(payload, 'one', 'two') WHERE seq = 3",
            feed,
        ),
        (
            "UPDATE events SET payload = substr(payload, 2) WHERE seq = 3",
            events,
        ),
        ("UPDATE events SET time = time + 1 WHERE seq = 3", tail),
        ("UPDATE events SET type = 'step.failed' WHERE seq = 3", tail),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 2", tail),
        (
            "UPDATE events SET hash = zeroblob(31) WHERE seq = 2",
            events,
        ),
        ("DELETE FROM events WHERE seq = 2", events),
        ("DELETE FROM events WHERE seq = 2", tail),
        ("UPDATE events SET span_id = zeroblob(8) WHERE seq = 4", run),
        (
            "UPDATE events SET payload = replace(payload, 'demo', 'omed') WHERE seq = 1",
            run,
        ),
        ("UPDATE runs SET state = 'failed'", run),
        ("UPDATE runs SET state = 'lost'", runs),
        ("UPDATE runs SET kind = 'other'", runs),
        (
            "UPDATE runs SET live = replace(live, 'true', 'false')",
            runs,
        ),
        ("UPDATE journals SET anchor_seq = 1", events),
        ("UPDATE journals SET imported_seq = 4", run),
        ("UPDATE tokens SET run_id = 'run_2'", token),
    ];
    for (sql, ask) in cases {
        let home = tempfile::tempdir().unwrap();
        let store = open(home.path());
        let bodies = [
            with_token("tok_1").into(),
            started(),
            step("one"),
            completed(),
        ];
        append(&store, &id("run_1"), 5, &bodies).await;
        ask(&store).await.unwrap();
        tamper(home.path(), sql);
        damaged(ask(&store).await, sql);
    }
}

#[tokio::test]
async fn nothing_is_appended_after_an_altered_event() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    ended_run(&store, &id("run_1"), 1).await;
    ended_run(&store, &id("run_2"), 1).await;
    drop(store);
    tamper(
        home.path(),
        "UPDATE events SET time = 99 WHERE position = 4",
    );
    let store = open(home.path());
    let refused = try_append(
        &store,
        &id("run_1"),
        windlass_ports::Expect::Any,
        2,
        &[said("x")],
    )
    .await;
    assert!(
        matches!(
            refused,
            Err(windlass_ports::CommitError::Store(StoreError::Damaged(_)))
        ),
        "{refused:?}"
    );
    append(&store, &id("run_2"), 2, &[said("others go on")]).await;
}
