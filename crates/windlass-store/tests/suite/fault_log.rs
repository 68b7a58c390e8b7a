//! Damage in the write-ahead log, which SQLite takes for its end: what was acknowledged is there,
//! or the store says what is gone and writes nothing. And the way on from there.

use std::path::Path;

use windlass_ports::{Commit, CommitError, Expect, Lease, RunStore, StoreError, StoreMaintenance};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::{Event, Principal, RunId, journal::LossAccepted};

use super::support::*;

const FRAME: usize = 24 + 4096;
const HEADER: usize = 32;

/// The files of a store, and what it held.
struct Truth {
    database: Vec<u8>,
    log: Vec<u8>,
    mark: Vec<u8>,
    runs: Vec<(RunId, Vec<Event>)>,
}

/// A store whose newest events are only in the log. With `moved`, part of them is in the database
/// too, where frames that remain of a damaged log hide newer pages.
async fn make(home: &Path, moved: bool) -> Truth {
    let store = open(home);
    for n in 0..12 {
        let token = with_token(&format!("tok_{n}"));
        append(
            &store,
            &id(&format!("run_{n}")),
            1,
            &[token.into(), started()],
        )
        .await;
        if moved && n == 8 {
            let connection = rusqlite::Connection::open(home.join("windlass.db")).unwrap();
            connection
                .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
                .unwrap();
        }
    }
    let mut runs = Vec::new();
    for n in 0..12 {
        let run = id(&format!("run_{n}"));
        let events = all_events(&store, &run).await;
        runs.push((run, events));
    }
    drop(store);
    let read = |name: &str| fs_err::read(home.join(name)).unwrap();
    let log = read("windlass.db-wal");
    let salt = log[16..24].to_vec();
    let frames = log[HEADER..]
        .chunks_exact(FRAME)
        .take_while(|frame| frame[8..16] == salt)
        .count();
    Truth {
        database: read("windlass.db"),
        log: log[..HEADER + frames * FRAME].to_vec(),
        mark: read("windlass.mark"),
        runs,
    }
}

#[derive(Clone, Copy, Debug)]
enum Harm {
    Flip(usize),
    Cut(usize),
    Zero(usize),
    Delete,
}

fn harms(log: &[u8]) -> Vec<Harm> {
    let length = log.len();
    let mut harms = vec![Harm::Delete, Harm::Cut(0), Harm::Cut(HEADER)];
    harms.extend((0..HEADER).step_by(8).map(Harm::Flip));
    // Headers and pages of frames, from the first to the last.
    harms.extend((0..30).map(|n| Harm::Flip(HEADER + n * (length - HEADER) / 30 + n * 7 % 24)));
    harms.extend((1..20).map(|n| Harm::Cut(length - n * length / 21)));
    harms.extend((1..6).map(|n| Harm::Zero(length - n * FRAME)));
    harms.push(Harm::Flip(length - 1));
    harms
}

fn write_harmed(home: &Path, truth: &Truth, harm: Harm) {
    let mut log = truth.log.clone();
    match harm {
        Harm::Flip(at) => log[at.min(truth.log.len() - 1)] ^= 1 << (at % 8),
        Harm::Cut(at) => log.truncate(at),
        Harm::Zero(at) => log[at..].fill(0),
        Harm::Delete => {}
    }
    fs_err::write(home.join("windlass.db"), &truth.database).unwrap();
    fs_err::write(home.join("windlass.mark"), &truth.mark).unwrap();
    if !matches!(harm, Harm::Delete) {
        fs_err::write(home.join("windlass.db-wal"), log).unwrap();
    }
}

/// Whether everything acknowledged is there, used tokens included.
async fn is_whole(store: &SqliteStore, truth: &Truth) -> bool {
    for (n, (run, events)) in truth.runs.iter().enumerate() {
        let found = store.events(run, 0, usize::MAX).await;
        let token = format!("tok_{n}").parse().unwrap();
        let used = store.redeemed_by(&token).await;
        if !found.is_ok_and(|found| found == *events) || !used.is_ok_and(|by| by.is_some()) {
            return false;
        }
    }
    true
}

#[test]
fn damage_in_the_log_is_reported_or_harmless() {
    let (mut reported, mut harmless, mut cases) = (0, 0, 0);
    for moved in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let truth = block_on(make(home.path(), moved));
        for harm in harms(&truth.log) {
            cases += 1;
            let home = tempfile::tempdir().unwrap();
            write_harmed(home.path(), &truth, harm);
            let store = match SqliteStore::open(home.path(), SqliteStoreOptions::default()) {
                Ok(store) => store,
                Err(StoreError::Damaged(_)) => {
                    reported += 1;
                    continue;
                }
                Err(error) => panic!("{harm:?}: {error}"),
            };
            let (whole, wrote, shortfall, report) = block_on(async {
                let whole = is_whole(&store, &truth).await;
                let token = with_token("tok_11");
                let again = try_append(&store, &id("run_x"), Expect::New, 9, &[token.into()]).await;
                let wrote = match again {
                    Err(CommitError::TokenUsed { .. }) => false,
                    Err(CommitError::Store(StoreError::Damaged(_))) => false,
                    other => {
                        println!("{other:?}");
                        true
                    }
                };
                let shortfall = store.shortfall().await.unwrap();
                (whole, wrote, shortfall, store.check().await.unwrap())
            });
            assert!(!wrote, "{harm:?}, moved {moved}: a used token worked again");
            match shortfall {
                Some(shortfall) => {
                    reported += 1;
                    assert!(report.findings.contains(&shortfall), "{harm:?}: {report:?}");
                    assert!(store.register(windlass_ports::DriverScope::All).is_err());
                }
                None => {
                    harmless += 1;
                    assert!(
                        whole,
                        "{harm:?}, moved {moved}: something vanished unreported"
                    );
                    assert_eq!(report.findings, Vec::<String>::new(), "{harm:?}");
                }
            }
        }
    }
    println!("{cases} cases of log damage: {reported} reported, {harmless} harmless");
    assert!(cases >= 50 && reported >= 50, "{cases} {reported}");
}

/// Which file is damaged, besides the log.
#[derive(Clone, Copy, Debug)]
enum Other {
    Database,
    Mark,
}

/// Flips and cuts at places that a seed chooses, in the database and in the mark.
#[test]
fn damage_in_the_other_files_is_reported_or_harmless() {
    let home = tempfile::tempdir().unwrap();
    let truth = block_on(make(home.path(), true));
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let (mut reported, mut harmless) = (0, 0);
    for n in 0..60 {
        let which = if n % 3 == 0 {
            Other::Mark
        } else {
            Other::Database
        };
        let mut bytes = match which {
            Other::Database => truth.database.clone(),
            Other::Mark => truth.mark.clone(),
        };
        let at = random(bytes.len());
        let cut = n % 4 == 0;
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] ^= 1 << random(8),
        }
        let home = tempfile::tempdir().unwrap();
        fs_err::write(home.path().join("windlass.db-wal"), &truth.log).unwrap();
        fs_err::write(home.path().join("windlass.db"), &truth.database).unwrap();
        fs_err::write(home.path().join("windlass.mark"), &truth.mark).unwrap();
        let name = match which {
            Other::Database => "windlass.db",
            Other::Mark => "windlass.mark",
        };
        fs_err::write(home.path().join(name), &bytes).unwrap();
        let case = format!("{which:?}, {} at {at}", if cut { "cut" } else { "flip" });
        let store = match SqliteStore::open(home.path(), SqliteStoreOptions::default()) {
            Ok(store) => store,
            Err(StoreError::Damaged(_) | StoreError::Io(_)) => {
                reported += 1;
                continue;
            }
            Err(error) => panic!("{case}: {error}"),
        };
        let (whole, report) = block_on(async {
            let report = store.check().await;
            (is_whole(&store, &truth).await, report)
        });
        match report {
            Ok(report) if report.findings.is_empty() => {
                harmless += 1;
                assert!(whole, "{case}: something vanished unreported");
            }
            Ok(_) | Err(StoreError::Damaged(_)) => reported += 1,
            Err(error) => panic!("{case}: {error}"),
        }
    }
    println!("60 cases of damage in database and mark: {reported} reported, {harmless} harmless");
    assert!(reported > 0, "{reported}");
}

fn accepted(shortfall: &str) -> Commit {
    let loss = LossAccepted {
        shortfall: shortfall.to_owned(),
        principal: Principal::local("ada"),
    };
    commit_of(vec![write(
        &id("sys_store"),
        Expect::Any,
        50,
        &[loss.into()],
    )])
}

#[tokio::test]
async fn an_accepted_loss_is_recorded_and_gives_no_number_twice() {
    let home = tempfile::tempdir().unwrap();
    let (driver, position) = {
        let store = open(home.path());
        for n in 0..6 {
            ended_run(&store, &id(&format!("run_{n}")), 1).await;
        }
        let driver = store
            .register(windlass_ports::DriverScope::Own)
            .unwrap()
            .id();
        (driver, store.position().await.unwrap())
    };
    let log = fs_err::OpenOptions::new()
        .write(true)
        .open(home.path().join("windlass.db-wal"))
        .unwrap();
    log.set_len((HEADER + 40 * FRAME) as u64).unwrap();
    let store = open(home.path());
    let shortfall = store.shortfall().await.unwrap().unwrap();
    let kept = store.position().await.unwrap();
    assert!(kept < position);
    assert_eq!(
        shortfall,
        format!(
            "events {} to {position} were acknowledged and are gone",
            kept + 1
        )
    );
    let refused = try_append(&store, &id("run_9"), Expect::New, 2, &[created().into()]).await;
    assert_eq!(
        refused.unwrap_err().to_string(),
        format!(
            "the store is damaged: {shortfall}; nothing is written or driven until a backup is \
             restored or the loss is accepted (windlass store accept-loss)"
        )
    );
    let backup = store.backup(home.path().join("backup")).await;
    assert!(backup.is_err(), "no backup of half a history");
    // Another process that is open learns of it.
    let other = open(home.path());
    store.accept_loss(accepted(&shortfall)).await.unwrap();
    assert_eq!(store.shortfall().await.unwrap(), None);
    append(&other, &id("run_9"), 3, &[created().into()]).await;
    assert_eq!(store.position().await.unwrap(), position + 2);
    assert!(
        store
            .register(windlass_ports::DriverScope::Own)
            .unwrap()
            .id()
            > driver
    );
    let report = store.check().await.unwrap();
    assert_eq!(report.findings, Vec::<String>::new());
    assert_eq!(
        report.notes,
        [format!(
            "accepted by local:ada on 1970-01-01T00:00:00.050Z: {shortfall}"
        )]
    );
}

#[tokio::test]
async fn a_store_without_its_mark_is_not_written() {
    let home = tempfile::tempdir().unwrap();
    ended_run(&open(home.path()), &id("run_1"), 1).await;
    fs_err::remove_file(home.path().join("windlass.mark")).unwrap();
    let store = open(home.path());
    assert_eq!(all_events(&store, &id("run_1")).await.len(), 4);
    assert_eq!(
        store.check().await.unwrap().findings,
        ["windlass.mark, which says how far the history went, is missing"]
    );
    assert!(
        try_append(&store, &id("run_1"), Expect::Any, 2, &[said("x")])
            .await
            .is_err()
    );
}

/// A kill leaves a mark that is behind; the next process goes on from there.
#[tokio::test]
async fn a_mark_that_is_behind_is_caught_up() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    ended_run(&store, &id("run_1"), 1).await;
    drop(store);
    let mark = fs_err::read(home.path().join("windlass.mark")).unwrap();
    let store = open(home.path());
    ended_run(&store, &id("run_2"), 1).await;
    drop(store);
    fs_err::write(home.path().join("windlass.mark"), mark).unwrap();
    let store = open(home.path());
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    ended_run(&store, &id("run_3"), 1).await;
    drop(store);
    let store = open(home.path());
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    drop(store);
    let connection = rusqlite::Connection::open(home.path().join("windlass.db")).unwrap();
    connection
        .execute("DELETE FROM events WHERE position > 4", [])
        .unwrap();
    drop(connection);
    let shortfall = open(home.path()).shortfall().await.unwrap().unwrap();
    assert_eq!(shortfall, "events 5 to 12 were acknowledged and are gone");
}
