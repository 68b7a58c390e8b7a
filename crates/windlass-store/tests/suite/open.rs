//! Opening: modes of files, schema versions, stores that are lost or are not stores.

use std::os::unix::fs::PermissionsExt;

use windlass_ports::{BlobStore, DriverScope, Lease, RunStore, StoreError, StoreMaintenance};
use windlass_store::{Access, SqliteStore, SqliteStoreOptions};

use super::support::*;

fn read_only() -> SqliteStoreOptions {
    SqliteStoreOptions {
        access: Access::ReadOnly,
        ..Default::default()
    }
}

fn error_of(home: &std::path::Path) -> StoreError {
    match SqliteStore::open(home, SqliteStoreOptions::default()) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn directories_and_files_are_private() {
    let parent = tempfile::tempdir().unwrap();
    let home = parent.path().join("deep/home");
    let store = open(&home);
    ended_run(&store, &id("run_1"), 1).await;
    store.put(vec![1; 70_000]).await.unwrap();
    let driver = store.register(DriverScope::All).unwrap();
    let mut found = Vec::new();
    let mut pending = vec![home.clone()];
    while let Some(path) = pending.pop() {
        let metadata = fs_err::metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!(
            mode,
            if metadata.is_dir() { 0o700 } else { 0o600 },
            "{}",
            path.display()
        );
        if metadata.is_dir() {
            pending.extend(
                fs_err::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    for name in [
        "windlass.db",
        "windlass.db-wal",
        "windlass.db-shm",
        "drivers",
        "blobs",
        "blobs.lock",
    ] {
        assert!(found.iter().any(|file| file == name), "{name} in {found:?}");
    }
    drop((driver, store));
    fs_err::set_permissions(
        home.join("windlass.db"),
        std::fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    drop(open(&home));
    let mode = fs_err::metadata(home.join("windlass.db"))
        .unwrap()
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(mode, 0o600, "made private again");
}

#[test]
fn a_store_from_the_future_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let connection = rusqlite::Connection::open(home.path().join("windlass.db")).unwrap();
    connection
        .execute_batch("PRAGMA user_version = 77")
        .unwrap();
    insta::assert_snapshot!(error_of(home.path()), @"the store has schema 77, this version knows up to 5");
}

#[test]
fn files_that_are_not_stores_are_reported() {
    let garbage = tempfile::tempdir().unwrap();
    fs_err::write(garbage.path().join("windlass.db"), vec![b'x'; 8192]).unwrap();
    assert!(matches!(error_of(garbage.path()), StoreError::Damaged(_)));

    let foreign = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(foreign.path().join("windlass.db")).unwrap();
    connection
        .execute_batch("CREATE TABLE recipes (name TEXT)")
        .unwrap();
    drop(connection);
    insta::assert_snapshot!(error_of(foreign.path()), @"the store is damaged: windlass.db holds tables but no schema version; it is not a Windlass store");

    let lost = tempfile::tempdir().unwrap();
    drop(open(lost.path()));
    fs_err::write(lost.path().join("windlass.db"), b"").unwrap();
    insta::assert_snapshot!(error_of(lost.path()), @"the store is damaged: windlass.db is empty but its write-ahead log is not");

    let blocked = tempfile::tempdir().unwrap();
    fs_err::write(blocked.path().join("home"), b"a file").unwrap();
    assert!(matches!(
        error_of(&blocked.path().join("home")),
        StoreError::Io(_)
    ));
}

/// A store as the first schema left it: journals and events, no indexes.
#[tokio::test]
async fn an_old_store_is_migrated_and_its_indexes_are_derived() {
    let (new, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = open(new.path());
    let run = id("run_1");
    append(&source, &run, 5, &[with_token("tok_1").into(), started()]).await;
    append(&source, &id("sys_audit"), 6, &[said("hello")]).await;

    let connection = rusqlite::Connection::open(old.path().join("windlass.db")).unwrap();
    connection
        .execute_batch(include_str!("../../src/migrations/001_journal.sql"))
        .unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA user_version = 1; ATTACH '{}' AS newer; \
             INSERT INTO journals SELECT * FROM newer.journals; INSERT INTO events SELECT * FROM newer.events;",
            new.path().join("windlass.db").display()
        ))
        .unwrap();
    drop(connection);

    let migrated = open(old.path());
    assert_eq!(
        migrated.run(&run).await.unwrap(),
        source.run(&run).await.unwrap()
    );
    assert_eq!(
        migrated
            .redeemed_by(&"tok_1".parse().unwrap())
            .await
            .unwrap(),
        Some(run.clone())
    );
    assert_eq!(
        migrated.check().await.unwrap().findings,
        Vec::<String>::new()
    );
    append(&migrated, &run, 9, &[completed()]).await;
    drop(migrated);
    assert_eq!(all_events(&open(old.path()), &run).await.len(), 3);
}

/// Each of them is refused only by a bug: a process that is not first waits for the one that is. Readers
/// are in the way of SQLite's change to its log, for which it does not wait.
#[test]
fn stores_opened_at_once_create_one_store() {
    for _ in 0..10 {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().join("home");
        let begin = std::sync::Barrier::new(12);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    begin.wait();
                    drop(open(&home));
                });
            }
            for _ in 0..4 {
                scope.spawn(|| {
                    begin.wait();
                    for _ in 0..20 {
                        let database = rusqlite::Connection::open_with_flags(
                            home.join("windlass.db"),
                            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
                        );
                        let _ = database.and_then(|database| {
                            database.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
                        });
                    }
                });
            }
        });
        let store = open(&home);
        let findings = block_on(store.check()).unwrap().findings;
        assert_eq!(findings, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_read_only_store_answers_and_refuses_to_write() {
    let home = tempfile::tempdir().unwrap();
    let nothing = SqliteStore::open(home.path(), read_only())
        .err()
        .unwrap()
        .to_string();
    assert!(
        nothing.contains("windlass.db cannot be opened"),
        "{nothing}"
    );
    assert_eq!(
        fs_err::read_dir(home.path()).unwrap().count(),
        0,
        "and nothing made"
    );
    let run = id("run_1");
    {
        let store = open(home.path());
        ended_run(&store, &run, 1).await;
        store.put(b"content".to_vec()).await.unwrap();
    }
    let store = SqliteStore::open(home.path(), read_only()).unwrap();
    assert_eq!(all_events(&store, &run).await.len(), 4);
    assert_eq!(
        store
            .get(windlass_types::Digest::of(b"content"))
            .await
            .unwrap(),
        b"content"
    );
    let refused = try_append(&store, &run, windlass_ports::Expect::Any, 2, &[said("x")]).await;
    insta::assert_snapshot!(refused.unwrap_err(), @"the store failed: the store was opened read-only");
    assert!(store.put(b"more".to_vec()).await.is_err());
    assert!(store.register(DriverScope::All).is_err());
}

#[tokio::test]
async fn opening_does_not_depend_on_how_much_is_stored() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    for batch in 0..20 {
        let writes = (0..500)
            .map(|n| {
                let run = id(&format!("run_{batch}_{n}"));
                write(
                    &run,
                    windlass_ports::Expect::New,
                    1,
                    &[created().into(), started(), step("a"), completed()],
                )
            })
            .collect();
        store.commit(commit_of(writes)).await.unwrap();
    }
    drop(store);
    let small = tempfile::tempdir().unwrap();
    drop(open(small.path()));
    let took = |home: &std::path::Path| {
        let started = std::time::Instant::now();
        let store = open(home);
        let took = started.elapsed();
        drop(store);
        took
    };
    // By turns, and the quickest of each: what the machine does besides slows both down.
    let (mut full, mut empty) = (std::time::Duration::MAX, std::time::Duration::MAX);
    for _ in 0..10 {
        full = full.min(took(home.path()));
        empty = empty.min(took(small.path()));
    }
    let allowed = empty * 4 + std::time::Duration::from_millis(20);
    assert!(full < allowed, "{full:?} against {empty:?}");
    let store = open(home.path());
    assert_eq!(store.unfinished().await.unwrap(), 0);
}

#[tokio::test]
async fn a_store_without_leases_is_migrated_as_if_its_driver_had_died() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    for (run, bodies) in [
        ("run_queued", vec![]),
        ("run_running", vec![started(), step("a")]),
        ("run_waiting", vec![started(), timer(500), step("b")]),
        ("run_told", vec![started(), timer(500), signal()]),
        ("run_over", vec![started(), completed()]),
    ] {
        let bodies = [vec![created().into()], bodies].concat();
        append(&store, &id(run), 1, &bodies).await;
    }
    drop(store);
    // What version 2 would have left.
    let connection = rusqlite::Connection::open(home.path().join("windlass.db")).unwrap();
    connection
        .execute_batch(
            "DROP TABLE journal_heads; DROP TABLE pruned; DROP TABLE leases; DROP TABLE run_due; DROP TABLE run_holds; \
             ALTER TABLE floors DROP COLUMN lease; PRAGMA user_version = 2",
        )
        .unwrap();
    drop(connection);
    let store = open(home.path());
    let leases = store.leases().await.unwrap();
    let mut orphans: Vec<String> = leases
        .into_iter()
        .map(|lease| format!("{:?} {}", lease.name, lease.is_alive))
        .collect();
    orphans.sort_unstable();
    assert_eq!(
        orphans,
        ["run_running", "run_told", "run_waiting"].map(|run| format!("Run({run}) false"))
    );
    assert_eq!(store.due(None, at(0)).await.unwrap(), [id("run_queued")]);
    assert_eq!(store.next_due(at(0)).await.unwrap(), Some(at(500)));
    assert_eq!(store.signalled().await.unwrap(), [id("run_told")]);
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
}

fn timer(millis: i64) -> windlass_types::Body {
    let key = "t".to_owned();
    let fire_at = at(millis);
    windlass_types::journal::TimerStarted { key, fire_at }.into()
}

fn signal() -> windlass_types::Body {
    windlass_types::journal::SignalReceived {
        signal: "go".to_owned(),
        principal: windlass_types::Principal::local("ada"),
        payload: serde_json::Value::Null,
    }
    .into()
}
