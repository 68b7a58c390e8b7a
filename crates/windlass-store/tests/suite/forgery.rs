//! History changed by someone who can write the database but does not have the key: found by
//! the check, however carefully hashes and checksums were made again.

use std::path::Path;

use rusqlite::{Connection, params};
use windlass_ports::{RunStore, StoreMaintenance};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::{Digest, Event, RunId, Secret, event::ChainHead};

use super::support::*;

fn sealed(home: &Path) -> SqliteStore {
    sealed_with(home, 7)
}

fn sealed_with(home: &Path, byte: u8) -> SqliteStore {
    let options = SqliteStoreOptions {
        seal_key: Some(Secret::new(vec![byte; 32])),
        ..SqliteStoreOptions::default()
    };
    SqliteStore::open(home, options).unwrap()
}

/// Three runs and an audit journal.
async fn make(home: &Path) {
    let store = sealed(home);
    for n in 0..3 {
        ended_run(&store, &id(&format!("run_{n}")), 1).await;
        append(&store, &id("sys_audit"), 1, &[said(&format!("call {n}"))]).await;
    }
}

fn database(home: &Path) -> Connection {
    Connection::open(home.join("windlass.db")).unwrap()
}

fn journal(connection: &Connection, run: &str) -> i64 {
    connection
        .query_row("SELECT id FROM journals WHERE run_id = ?1", [run], |row| {
            row.get(0)
        })
        .unwrap()
}

/// Writes another text into the events of a journal and makes the chain again.
fn rewrite(connection: &Connection, run_id: &RunId, events: &[Event], from: &str, to: &str) {
    let journal = journal(connection, run_id.as_str());
    let mut head = ChainHead::default();
    for event in events {
        let mut event = event.clone();
        let payload = event.payload.as_str().replace(from, to);
        event.payload = windlass_types::Json::parse(&payload).unwrap();
        event.prev_hash = head.hash;
        event.hash = event.compute_hash();
        head = ChainHead {
            seq: event.seq,
            hash: event.hash,
        };
        connection
            .execute(
                "UPDATE events SET payload = ?1, prev_hash = ?2, hash = ?3 WHERE journal = ?4 AND seq = ?5",
                params![
                    payload,
                    event.prev_hash.as_bytes(),
                    event.hash.as_bytes(),
                    journal,
                    event.seq
                ],
            )
            .unwrap();
    }
}

async fn findings(home: &Path) -> Vec<String> {
    sealed(home).check().await.unwrap().findings
}

#[tokio::test]
async fn a_rewritten_audit_entry_is_found() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let events = all_events(&sealed(home.path()), &id("sys_audit")).await;
    rewrite(
        &database(home.path()),
        &id("sys_audit"),
        &events,
        "call 1",
        "call 9",
    );
    assert_eq!(
        findings(home.path()).await,
        [
            "event 15 is not the one that was acknowledged",
            "events were altered after they were sealed"
        ]
    );
}

#[tokio::test]
async fn a_cut_tail_is_found() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let connection = database(home.path());
    let audit = journal(&connection, "sys_audit");
    connection
        .execute("DELETE FROM events WHERE journal = ?1 AND seq = 3", [audit])
        .unwrap();
    drop(connection);
    assert_eq!(
        findings(home.path()).await,
        [
            "event 15 was acknowledged and is gone",
            "1 events that were sealed are gone, and prune did not remove them"
        ]
    );
}

#[tokio::test]
async fn a_deleted_run_is_found() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let connection = database(home.path());
    let run = journal(&connection, "run_1");
    connection
        .execute_batch(&format!(
            "DELETE FROM runs WHERE journal = {run}; DELETE FROM run_due WHERE journal = {run}; \
             DELETE FROM events WHERE journal = {run}; DELETE FROM journals WHERE id = {run};"
        ))
        .unwrap();
    drop(connection);
    let lost = "4 events that were sealed are gone, and prune did not remove them";
    assert_eq!(findings(home.path()).await, [lost]);
    // Nor can it be passed off as pruned.
    let connection = database(home.path());
    connection
        .execute_batch("UPDATE pruned SET events = 4")
        .unwrap();
    drop(connection);
    let altered = "the count of pruned events was altered, or sealed with another key";
    assert_eq!(findings(home.path()).await[0], altered);
}

#[tokio::test]
async fn an_inserted_event_is_found() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let connection = database(home.path());
    let run = journal(&connection, "run_0");
    connection
        .execute_batch(&format!(
            "UPDATE events SET position = -position WHERE position > 4; \
             INSERT INTO events SELECT 5, journal, 5, time, 'x', span_id, parent_span_id, hash, hash, payload \
             FROM events WHERE journal = {run} AND seq = 4; \
             UPDATE events SET position = 1 - position WHERE position < 0;"
        ))
        .unwrap();
    drop(connection);
    let found = findings(home.path()).await;
    assert!(
        found
            .iter()
            .any(|finding| finding.contains("is not the one that was acknowledged")),
        "{found:?}"
    );
}

#[tokio::test]
async fn an_imported_run_cannot_be_made_one_of_this_home() {
    let home = tempfile::tempdir().unwrap();
    let run = id("run_7");
    {
        let store = sealed(home.path());
        let other = tempfile::tempdir().unwrap();
        let source = open(other.path());
        ended_run(&source, &run, 1).await;
        store.import(all_events(&source, &run).await).await.unwrap();
        assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    }
    let connection = database(home.path());
    let number = journal(&connection, run.as_str());
    // The row's own checksum is no secret.
    let sum = Digest::of_parts(&[
        b"journals",
        &number.to_be_bytes(),
        run.as_str().as_bytes(),
        &0_u64.to_be_bytes(),
        Digest::ZERO.as_bytes(),
        &0_u64.to_be_bytes(),
    ]);
    let mut head = [0; 8];
    head.copy_from_slice(&sum.as_bytes()[..8]);
    connection
        .execute(
            "UPDATE journals SET imported_seq = 0, sum = ?1",
            [i64::from_be_bytes(head)],
        )
        .unwrap();
    drop(connection);
    let altered = "events were altered after they were sealed";
    assert!(findings(home.path()).await.contains(&altered.to_owned()));
}

#[tokio::test]
async fn what_prune_removes_is_accounted_for() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let store = sealed(home.path());
    let report = store
        .prune(std::time::Duration::ZERO, at(1_000_000_000), false)
        .await
        .unwrap();
    assert_eq!((report.runs, report.events), (3, 15));
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    ended_run(&store, &id("run_9"), 2).await;
    drop(store);
    assert_eq!(findings(home.path()).await, Vec::<String>::new());
}

#[tokio::test]
async fn another_key_and_an_older_mark_are_found() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let store = sealed_with(home.path(), 8);
    let findings_of_other = store.check().await.unwrap().findings;
    assert!(
        findings_of_other[0].starts_with("windlass.mark is sealed with another key"),
        "{findings_of_other:?}"
    );
    drop(store);
    assert_eq!(findings(home.path()).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_backup_has_a_seal_of_its_own_and_the_key() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let backup = home.path().join("backup");
    let store = sealed(home.path());
    store.backup(backup.clone()).await.unwrap();
    assert_eq!(
        fs_err::read(backup.join("keys/store.key")).unwrap(),
        [7; 32]
    );
    ended_run(&sealed(&backup), &id("run_9"), 2).await;
    assert_eq!(findings(&backup).await, Vec::<String>::new());
}

/// After the ends of journals were sealed, a check names the journal that was changed.
#[tokio::test]
async fn a_changed_journal_is_named() {
    let audit = id("sys_audit");
    for (sql, expected) in [
        (
            "",
            "journal sys_audit was altered: its event 3 is not the one that was sealed",
        ),
        (
            "DELETE FROM events WHERE journal = $AUDIT AND seq = 3",
            "journal sys_audit was cut: it ends at event 2, and event 3 was sealed",
        ),
        (
            "DELETE FROM runs WHERE journal = $RUN; DELETE FROM run_due WHERE journal = $RUN; \
             DELETE FROM events WHERE journal = $RUN; DELETE FROM journals WHERE id = $RUN",
            "journal run_1 is missing: it had 4 events",
        ),
        (
            "UPDATE journal_heads SET seq = 2 WHERE journal = $RUN",
            "the seal of journal run_1 was altered",
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        make(home.path()).await;
        let store = sealed(home.path());
        store.seal_heads().await.unwrap();
        let events = all_events(&store, &audit).await;
        drop(store);
        let connection = database(home.path());
        let sql = sql
            .replace("$AUDIT", &journal(&connection, "sys_audit").to_string())
            .replace("$RUN", &journal(&connection, "run_1").to_string());
        match sql.is_empty() {
            true => rewrite(&connection, &audit, &events, "call 1", "call 9"),
            false => connection.execute_batch(&sql).unwrap(),
        }
        drop(connection);
        let found = findings(home.path()).await;
        assert!(
            found.iter().any(|finding| finding == expected),
            "{sql}: {found:?}"
        );
        // Sealing again does not cover it up.
        sealed(home.path()).seal_heads().await.ok();
        let found = findings(home.path()).await;
        assert!(
            found.iter().any(|finding| finding == expected),
            "{sql}: {found:?}"
        );
    }
}

#[tokio::test]
async fn sealed_ends_follow_growth_and_prunes() {
    let home = tempfile::tempdir().unwrap();
    make(home.path()).await;
    let store = sealed(home.path());
    store.seal_heads().await.unwrap();
    append(&store, &id("sys_audit"), 2, &[said("more")]).await;
    assert_eq!(findings(home.path()).await, Vec::<String>::new());
    store.seal_heads().await.unwrap();
    let report = store
        .prune(std::time::Duration::ZERO, at(1_000_000_000), false)
        .await
        .unwrap();
    assert_eq!(report.runs, 3);
    assert_eq!(findings(home.path()).await, Vec::<String>::new());
    append(&store, &id("sys_audit"), 2, &[said("again")]).await;
    store.seal_heads().await.unwrap();
    assert_eq!(findings(home.path()).await, Vec::<String>::new());
}
