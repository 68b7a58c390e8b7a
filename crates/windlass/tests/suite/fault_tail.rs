//! Torn and flipped store files under a whole engine: it opens or says what is damaged, and what
//! it answers or continues from is what was stored, or the beginning of it. Never something else.
//!
//! Every byte of the last 4 KiB in this process; a sample of them through the binary.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;
use windlass_engine::Driver;
use windlass_ports::StoreError;
use windlass_types::{Event, Problem, RunId, RunRecord, RunState, code};

use super::support::{
    binary::say,
    directory::fill,
    home::{ALLOW_ALL, Place, temporary},
    library::{Library, owner, runtime},
};

const TAIL: usize = 4096;
const DATABASE: &str = "windlass.db";
const LOG: &str = "windlass.db-wal";
/// An engine recovers from one in this many damaged stores.
const RECOVER_EVERY: usize = 32;

#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The file ends this many bytes before its end.
    Truncate(usize),
    /// A bit of the byte so far before its end is another.
    Flip(usize, u8),
}

/// A store as a crash would leave it, and what it holds.
struct Truth {
    _place: Place,
    files: BTreeMap<&'static str, Vec<u8>>,
    /// Where the used part of each file ends.
    ends: BTreeMap<&'static str, usize>,
    journals: BTreeMap<RunId, Vec<Event>>,
}

#[test]
fn a_truncated_log() {
    let cuts = (1..=TAIL).map(Damage::Truncate);
    damage_all(LOG, cuts.collect());
}

#[test]
fn a_truncated_database() {
    let cuts = (1..=TAIL).map(Damage::Truncate);
    damage_all(DATABASE, cuts.collect());
}

#[test]
fn flipped_bits_in_the_log() {
    damage_all(LOG, flips(3));
}

#[test]
fn flipped_bits_in_the_database() {
    damage_all(DATABASE, flips(3));
}

/// One bit in this many bytes, each time a different one.
fn flips(stride: usize) -> Vec<Damage> {
    let places = (1..=TAIL).step_by(stride);
    places.map(|at| Damage::Flip(at, (at % 8) as u8)).collect()
}

fn damage_all(file: &'static str, damages: Vec<Damage>) {
    let panics = count_panics();
    let before = panics.load(Ordering::SeqCst);
    let truth = Truth::make(file);
    let next = AtomicUsize::new(0);
    let (refused, recovered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let runtime = runtime();
                loop {
                    // A store that was opened may still be tending its files.
                    let room = temporary();
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let Some(damage) = damages.get(number) else {
                        break;
                    };
                    truth.write_damaged(room.path(), file, *damage);
                    let recover = number.is_multiple_of(RECOVER_EVERY);
                    let looked = runtime.block_on(truth.look(room.path(), recover));
                    let intact = looked.unwrap_or_else(|why| panic!("{file} {damage:?}: {why}"));
                    refused.fetch_add(usize::from(!intact), Ordering::SeqCst);
                    recovered.fetch_add(usize::from(recover && intact), Ordering::SeqCst);
                }
            });
        }
    });
    println!(
        "{file}: {} damages, {} refused or reported, {} recovered from",
        damages.len(),
        refused.into_inner(),
        recovered.into_inner()
    );
    assert_eq!(panics.load(Ordering::SeqCst), before, "something panicked");
    for damage in damages.iter().step_by(damages.len() / 5) {
        truth.ask_the_binary(file, *damage);
    }
}

/// Also of threads and tasks whose end nobody looks at.
fn count_panics() -> &'static AtomicUsize {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        print(panic);
    }));
    &PANICS
}

impl Truth {
    /// A completed run, then one that waits for an approval. To damage the log, the files are
    /// taken while they are in use, as a crash would; to damage the database, from a backup,
    /// where no log holds the same pages again.
    fn make(file: &str) -> Self {
        let place = Place::with_policy(ALLOW_ALL);
        let runtime = runtime();
        let truth = runtime.block_on(async {
            let library = Library::open(&place.home(), None).unwrap();
            let driver = Driver::start_all(&library.engine).await.unwrap();
            apply(&library, &place, "first", false).await;
            apply(&library, &place, "second", true).await;
            let mut journals = BTreeMap::new();
            let mut ids: Vec<RunId> = vec!["sys_audit".parse().unwrap()];
            ids.extend(
                library
                    .runs()
                    .await
                    .unwrap()
                    .into_iter()
                    .map(|run| run.run_id),
            );
            library.engine.audit().flush().await;
            for run_id in ids {
                let events = library.events(&run_id).await.unwrap();
                journals.insert(run_id, events);
            }
            let read = |home: &Path, name| (name, fs_err::read(home.join(name)).unwrap());
            let files = if file == LOG {
                BTreeMap::from([LOG, DATABASE].map(|name| read(&place.home(), name)))
            } else {
                let backup = place.root().join("backup");
                let backed_up = library.engine.maintenance.backup(backup.clone());
                backed_up.await.unwrap();
                BTreeMap::from([read(&backup, DATABASE)])
            };
            driver.stop().await;
            (files, journals)
        });
        runtime.shutdown_timeout(Duration::from_secs(5));
        let (files, journals) = truth;
        let ends = files
            .iter()
            .map(|(name, bytes)| {
                let is_log = *name == LOG;
                let end = if is_log {
                    end_of_log(bytes)
                } else {
                    bytes.len()
                };
                (*name, end)
            })
            .collect();
        Self {
            _place: place,
            files,
            ends,
            journals,
        }
    }

    fn write_damaged(&self, home: &Path, file: &str, damage: Damage) {
        for (name, bytes) in &self.files {
            let mut bytes = bytes[..self.ends[name]].to_vec();
            if *name == file {
                match damage {
                    Damage::Truncate(cut) => bytes.truncate(bytes.len() - cut),
                    Damage::Flip(back, bit) => {
                        let at = bytes.len() - back;
                        bytes[at] ^= 1 << bit;
                    }
                }
            }
            fs_err::write(home.join(name), bytes).unwrap();
        }
    }

    /// Opens a damaged home and looks at everything; whether no damage was reported. An error is
    /// an answer that is neither true nor a report.
    async fn look(&self, home: &Path, recover: bool) -> Result<bool, String> {
        let library = match Library::open(home, None) {
            Ok(library) => library,
            Err(error) => return reported(&error).map(|()| false),
        };
        let mut intact = self.look_at_records(&library).await?;
        for (run_id, truth) in &self.journals {
            match library.events(run_id).await {
                Ok(events) if truth.starts_with(&events) => {}
                Ok(events) => return Err(format!("{run_id} never was {events:?}")),
                Err(error) => {
                    reported(&error)?;
                    intact = false;
                }
            }
        }
        if recover {
            self.recover(&library).await?;
        }
        Ok(intact)
    }

    /// Every record is what its journal says, at some time.
    async fn look_at_records(&self, library: &Library) -> Result<bool, String> {
        let records = match library.runs().await {
            Ok(records) => records,
            Err(error) => return reported(&error).map(|()| false),
        };
        let mut is_intact = true;
        for record in records {
            // Said to be damaged, which says nothing else about the run.
            let problem = record.problem.as_ref();
            if problem.is_some_and(|problem| problem.code() == &code::STORE_DAMAGED) {
                is_intact = false;
                continue;
            }
            let Some(events) = self.journals.get(&record.run_id) else {
                return Err(format!("no such run: {record:?}"));
            };
            let then = RunRecord::fold(&events[..record.last_seq as usize]);
            if then.as_ref().ok() != Some(&Some(record.clone())) {
                return Err(format!("{record:?} never was true"));
            }
        }
        Ok(is_intact)
    }

    /// Lets a driver take the store up, answers the approval, and waits until nothing is left to
    /// do. What the journals held before must still be their beginning.
    async fn recover(&self, library: &Library) -> Result<(), String> {
        // These files have no mark, so the store does not go on unasked.
        if let Err(problem) = library.engine.accept_loss(&owner()).await {
            return reported_problem(&problem);
        }
        let driver = match Driver::start_all(&library.engine).await {
            Ok(driver) => driver,
            Err(problem) => return reported_problem(&problem),
        };
        let settled = tokio::time::timeout(Duration::from_secs(20), settle(library)).await;
        driver.stop().await;
        match settled {
            Ok(Ok(())) => {}
            Ok(Err(error)) => reported(&error)?,
            // Damage to SQLite's own index pages can hide a run from the driver. It then stands
            // still, which is fine as long as the check reports that something is wrong.
            Err(_) => match library.engine.maintenance.check().await {
                Ok(report) if report.findings.is_empty() => {
                    return Err("the recovered runs hang, and nothing is reported".to_owned());
                }
                Ok(_) => return Ok(()),
                Err(error) => reported(&error)?,
            },
        }
        for (run_id, truth) in &self.journals {
            match library.events(run_id).await {
                Ok(events) => {
                    let report = library.engine.verify(run_id).await;
                    if !report.is_ok_and(|report| report.intact) {
                        return Err(format!("{run_id} can be read but not verified"));
                    }
                    let shared = events.iter().zip(truth).take_while(|(a, b)| a == b).count();
                    // What was lost is done again, and so may be other than it was; what is
                    // there chains up, or reading would have failed.
                    if shared == 0 && !events.is_empty() {
                        return Err(format!("{run_id} became another run: {events:?}"));
                    }
                }
                Err(error) => reported(&error)?,
            }
        }
        Ok(())
    }

    /// The same through commands: they work or fail with the store's own exit code.
    fn ask_the_binary(&self, file: &str, damage: Damage) {
        let place = Place::with_policy(ALLOW_ALL);
        self.write_damaged(&place.home(), file, damage);
        for arguments in [
            ["runs", "list", "--json"].as_slice(),
            &["runs", "verify", "latest", "--json"],
            &["store", "check", "--json"],
        ] {
            let said = say(&place.home(), arguments);
            let shown = format!(
                "{file} {damage:?} {arguments:?}: {}{}",
                said.stdout, said.stderr
            );
            match said.code {
                Some(0) => {}
                // No run is left to verify.
                Some(3) => assert!(arguments.contains(&"verify"), "{shown}"),
                Some(7) => assert_eq!(said.json()["error"]["code"], "STORE_DAMAGED", "{shown}"),
                _ => panic!("{shown}"),
            }
        }
    }
}

async fn apply(library: &Library, place: &Place, name: &str, approval: bool) {
    let dir: PathBuf = place.scratch().join(name);
    fill(&dir, &[("b.txt", "before")]);
    let mut input = json!({
        "dir": dir, "files": { "a.txt": "new", "b.txt": "after" }, "approval": approval, "note": true
    });
    let planned = library.call("demo.plan", input.clone()).await.unwrap();
    input["confirm_token"] = planned.output["confirm_token"].clone();
    input["wait_seconds"] = 60.into();
    let answer = library.call("demo.apply", input).await.unwrap();
    let wanted = if approval { "waiting" } else { "completed" };
    assert_eq!(answer.output["run"]["state"], wanted);
}

/// Approves what waits until every run has ended or cannot be read.
async fn settle(library: &Library) -> Result<(), StoreError> {
    let mut changes = library.engine.store.changes();
    loop {
        changes.mark_unchanged();
        let mut busy = false;
        for run in library.runs().await? {
            let waits = run.waiting_on.iter().any(|(_, on)| on.what == "approval");
            if waits {
                let input = json!({ "run_id": run.run_id });
                // Refused when it was answered already.
                let _ = library.call("runs.approve", input).await;
            }
            let ended = run.state.is_final() || run.state == RunState::Held;
            // A run whose journal is damaged is left as it is.
            busy |= !ended && library.events(&run.run_id).await.is_ok();
        }
        if !busy {
            return Ok(());
        }
        let pause = Duration::from_millis(200);
        let _ = tokio::time::timeout(pause, changes.changed()).await;
    }
}

fn reported(error: &StoreError) -> Result<(), String> {
    match error {
        StoreError::Damaged(_) => Ok(()),
        other => Err(format!("neither true nor reported as damage: {other}")),
    }
}

fn reported_problem(problem: &Problem) -> Result<(), String> {
    if problem.code().name == "STORE_DAMAGED" {
        Ok(())
    } else {
        Err(format!("neither driven nor reported as damage: {problem}"))
    }
}

/// The end of the last frame that belongs to the present round of the log.
fn end_of_log(log: &[u8]) -> usize {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4096;
    let salt = &log[16..24];
    let frames = log[HEADER..]
        .chunks_exact(FRAME)
        .take_while(|frame| &frame[8..16] == salt);
    HEADER + frames.count() * FRAME
}
