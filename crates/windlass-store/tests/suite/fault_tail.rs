//! Torn and flipped files: a store opens or says that it is damaged, and whatever it
//! answers is what was stored, or the beginning of it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_ports::{BlobError, BlobStore, RunFilter, RunStore, StoreError};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::{
    ArtifactRef, Body, Digest, Event, Principal, RunId, RunRecord, Scope, Visibility, code,
    journal::{ArtifactStored, KeyCreated},
};

use super::support::*;

const TAIL: usize = 4096;
const CONTENT: &[u8] = b"the content of an artifact";

/// What the undamaged store says.
struct Truth {
    journals: BTreeMap<RunId, Vec<Event>>,
    keys: usize,
}

fn stored_artifact() -> Body {
    let artifact = ArtifactRef {
        name: "a".into(),
        content_type: "text/plain".into(),
        sha256: Digest::of(CONTENT),
        size: CONTENT.len() as u64,
        visibility: Visibility::Private,
        expires_at: None,
    };
    ArtifactStored {
        key: "a".into(),
        artifact,
    }
    .into()
}

fn key(n: usize) -> Body {
    KeyCreated {
        key_id: format!("key_{n}").parse().unwrap(),
        name: "ci".into(),
        secret_hash: Digest::of(b"secret"),
        tier: "standard".into(),
        scopes: vec![Scope::new("runs")],
        expires_at: None,
        principal: Principal::local("ada"),
    }
    .into()
}

/// A store with runs in several states, whose last changes touch every kind of row.
async fn make(home: &Path) -> Truth {
    let store = open(home);
    store.put(CONTENT.to_vec()).await.unwrap();
    let runs: Vec<RunId> = (0..3).map(|n| id(&format!("run_{n}"))).collect();
    for (n, run) in runs.iter().enumerate() {
        let token = with_token(&format!("tok_{n}"));
        append(
            &store,
            run,
            1,
            &[token.into(), started(), stored_artifact()],
        )
        .await;
        append(&store, &id("sys_keys"), 1, &[key(n)]).await;
    }
    for run in &runs[..2] {
        append(&store, run, 2, &[step("one"), said("a word"), completed()]).await;
    }
    let mut journals = BTreeMap::new();
    for run in runs.into_iter().chain([id("sys_keys")]) {
        let events = all_events(&store, &run).await;
        journals.insert(run, events);
    }
    Truth { journals, keys: 3 }
}

/// Fails when the store answers with anything that was not stored.
async fn interrogate(home: &Path, truth: &Truth) -> Result<(), StoreError> {
    let store = SqliteStore::open(
        home,
        SqliteStoreOptions {
            readers: 1,
            ..Default::default()
        },
    )?;
    let mut damage = None;
    let mut note = |error: StoreError| {
        assert!(
            matches!(error, StoreError::Damaged(_) | StoreError::Io(_)),
            "{error}"
        );
        damage = Some(error);
    };
    for (run, events) in &truth.journals {
        match store.events(run, 0, usize::MAX).await {
            Ok(found) => assert!(
                events.starts_with(&found),
                "{run}: altered events were returned"
            ),
            Err(error) => note(error),
        }
    }
    match store
        .runs(RunFilter {
            limit: 100,
            ..Default::default()
        })
        .await
    {
        Ok(page) => {
            for record in page.runs {
                // Said to be damaged, which says nothing else about the run.
                if let Some(problem) = &record.problem
                    && problem.code() == &code::STORE_DAMAGED
                {
                    note(StoreError::Damaged(problem.to_string()));
                    continue;
                }
                let end = usize::try_from(record.last_seq).unwrap();
                let folded = RunRecord::fold(&truth.journals[&record.run_id][..end]).unwrap();
                assert_eq!(Some(record), folded, "an altered record was returned");
            }
        }
        Err(error) => note(error),
    }
    match store.artifacts(&id("run_1")).await {
        Ok(found) => assert!(
            found
                .iter()
                .all(|artifact| artifact.sha256 == Digest::of(CONTENT))
        ),
        Err(error) => note(error),
    }
    match store.due(None, at(i64::MAX)).await {
        Ok(runs) => assert!(runs.iter().all(|run| truth.journals.contains_key(run))),
        Err(error) => note(error),
    }
    match store.api_keys().await {
        Ok(keys) => {
            assert!(keys.len() <= truth.keys);
            for key in keys {
                assert_eq!(
                    (key.secret_hash, key.scopes),
                    (Digest::of(b"secret"), vec![Scope::new("runs")])
                );
            }
        }
        Err(error) => note(error),
    }
    match store.redeemed_by(&"tok_2".parse().unwrap()).await {
        Ok(run) => assert!(run.is_none_or(|run| run == id("run_2"))),
        Err(error) => note(error),
    }
    match store.get(Digest::of(CONTENT)).await {
        Ok(bytes) => assert_eq!(bytes, CONTENT),
        Err(BlobError::Missing(_) | BlobError::Altered(_) | BlobError::Io(_)) => {}
        Err(error) => panic!("{error}"),
    }
    damage.map_or(Ok(()), Err)
}

/// On a memory file system where there is one: nothing here is about flushing.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

#[derive(Clone, Copy)]
enum Harm {
    Cut,
    Flip,
}

struct Subject<'a> {
    database: &'a [u8],
    log: &'a [u8],
    harm_log: bool,
    truth: &'a Truth,
}

/// Harms the file at each place, in a copy of its own; returns how many copies answered
/// every question and how many reported damage.
fn harm_each(subject: &Subject<'_>, harm: Harm, places: &[usize]) -> (usize, usize) {
    const WORKERS: usize = 2;
    let work = |worker: usize| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let home = scratch();
        let mut counts = (0, 0);
        for &at in places.iter().skip(worker).step_by(WORKERS) {
            copy_harmed(subject, home.path(), at, harm);
            match runtime.block_on(interrogate(home.path(), subject.truth)) {
                Ok(()) => counts.0 += 1,
                Err(_) => counts.1 += 1,
            }
        }
        counts
    };
    let counts = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..WORKERS)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect::<Vec<_>>()
    });
    counts
        .into_iter()
        .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
}

fn copy_harmed(subject: &Subject<'_>, home: &Path, at: usize, harm: Harm) {
    let mut files = [subject.database.to_vec(), subject.log.to_vec()];
    let harmed = &mut files[usize::from(subject.harm_log)];
    match harm {
        Harm::Cut => harmed.truncate(at),
        // Each bit in its turn.
        Harm::Flip => harmed[at] ^= 1 << (at % 8),
    }
    let _ = fs_err::remove_file(home.join("windlass.db-shm"));
    fs_err::write(home.join("windlass.db"), &files[0]).unwrap();
    fs_err::write(home.join("windlass.db-wal"), &files[1]).unwrap();
}

fn read(path: PathBuf) -> Vec<u8> {
    fs_err::read(path).unwrap()
}

/// Everything in the database, nothing in the log.
fn settle(home: &Path) {
    let connection = rusqlite::Connection::open(home.join("windlass.db")).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
}

/// The log without the room that was made for it.
fn written_part(log: &[u8]) -> &[u8] {
    let end = log.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let frames = (end - 32).div_ceil(24 + 4096);
    &log[..32 + frames * (24 + 4096)]
}

#[test]
fn a_database_torn_or_flipped_at_any_byte_of_its_tail() {
    let home = scratch();
    let truth = block_on(make(home.path()));
    settle(home.path());
    let database = read(home.path().join("windlass.db"));
    block_on(interrogate(home.path(), &truth)).unwrap();
    let tail: Vec<usize> = (database.len() - TAIL..database.len()).collect();
    let subject = Subject {
        database: &database,
        log: &[],
        harm_log: false,
        truth: &truth,
    };
    let cut = harm_each(&subject, Harm::Cut, &tail);
    assert_eq!(
        cut,
        (0, TAIL),
        "a database that ends early is never taken for whole"
    );
    let (answered, reported) = harm_each(&subject, Harm::Flip, &tail);
    assert_eq!(answered + reported, TAIL);
}

#[test]
fn a_database_flipped_anywhere() {
    let home = scratch();
    let truth = block_on(make(home.path()));
    settle(home.path());
    let database = read(home.path().join("windlass.db"));
    // A prime step: every page, every kind of row, every bit.
    let places: Vec<usize> = (0..database.len()).step_by(37).collect();
    let subject = Subject {
        database: &database,
        log: &[],
        harm_log: false,
        truth: &truth,
    };
    let (answered, reported) = harm_each(&subject, Harm::Flip, &places);
    assert_eq!(answered + reported, places.len());
    assert!(
        reported > places.len() / 20,
        "{reported} of {} flips were noticed",
        places.len()
    );
}

#[test]
fn a_log_torn_or_flipped_at_any_byte_of_its_tail() {
    let home = scratch();
    let truth = block_on(make(home.path()));
    let database = read(home.path().join("windlass.db"));
    let log = read(home.path().join("windlass.db-wal"));
    let log = written_part(&log);
    let tail: Vec<usize> = (log.len() - TAIL..log.len()).collect();
    let subject = Subject {
        database: &database,
        log,
        harm_log: true,
        truth: &truth,
    };
    let cut = harm_each(&subject, Harm::Cut, &tail);
    assert_eq!(
        cut,
        (TAIL, 0),
        "a log that ends early ends with its last whole commit"
    );
    let flipped = harm_each(&subject, Harm::Flip, &tail);
    assert_eq!(
        flipped,
        (TAIL, 0),
        "a frame that fails its checksum is no frame"
    );
}
