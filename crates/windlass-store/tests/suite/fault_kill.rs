//! Processes that end without a word: at every point of every event, and at any time.
//!
//! Each test starts itself again as the process to be ended; the home in the environment
//! says which of the two it is.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use windlass_ports::{DriverScope, Lease, StoreError, StoreMaintenance};
use windlass_store::{EventMark, FaultPoint, SqliteStore, SqliteStoreOptions, StoreFaults};
use windlass_types::{Body, Event};

use super::support::*;

const HOME: &str = "WINDLASS_TEST_HOME";
const CRASH_AT: &str = "WINDLASS_TEST_CRASH_AT";
const CALLERS: usize = 16;

fn child(test: &str, home: &Path, crash_at: Option<String>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--nocapture",
            "--exact",
            &format!("suite::fault_kill::{test}"),
        ])
        .env(HOME, home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(point) = crash_at {
        command.env(CRASH_AT, point);
    }
    command.spawn().unwrap()
}

/// The home to work on, in the process that a test has started.
fn home_of_child() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

/// Aborts when an event of that place is at that point.
struct CrashAt(FaultPoint, u64);

impl StoreFaults for CrashAt {
    fn at(&self, point: FaultPoint, events: &[EventMark]) -> Result<(), StoreError> {
        if point == self.0 && events.iter().any(|mark| mark.seq == self.1) {
            std::process::abort();
        }
        Ok(())
    }
}

/// The whole life of a run, an event per commit.
fn script() -> Vec<Body> {
    let mut bodies = vec![with_token("tok_1").into(), started()];
    bodies.extend((0..9).map(|n| step(&format!("s{n}"))));
    bodies.push(completed());
    bodies
}

/// Continues the script from where the journal ends.
async fn write_script(home: &Path) {
    let crash_at = std::env::var_os(CRASH_AT)
        .map(OsString::into_string)
        .map(Result::unwrap);
    let faults = crash_at.map(|text| {
        let (point, seq) = text.split_once(' ').unwrap();
        let point = [
            FaultPoint::BeforeWrite,
            FaultPoint::AfterWrite,
            FaultPoint::AfterCommit,
        ]
        .into_iter()
        .find(|candidate| format!("{candidate:?}") == point)
        .unwrap();
        Arc::new(CrashAt(point, seq.parse().unwrap())) as Arc<dyn StoreFaults>
    });
    let store = SqliteStore::open(
        home,
        SqliteStoreOptions {
            faults,
            ..Default::default()
        },
    )
    .unwrap();
    let run = id("run_1");
    let done = all_events(&store, &run).await.len();
    for (n, body) in script().into_iter().enumerate().skip(done) {
        append(&store, &run, n as i64, &[body]).await;
    }
}

#[tokio::test]
async fn a_crash_at_any_point_of_any_event_changes_nothing_in_the_end() {
    const TEST: &str = "a_crash_at_any_point_of_any_event_changes_nothing_in_the_end";
    if let Some(home) = home_of_child() {
        return write_script(&home).await;
    }
    let undisturbed = tempfile::tempdir().unwrap();
    assert!(
        child(TEST, undisturbed.path(), None)
            .wait()
            .unwrap()
            .success()
    );
    let expected = all_events(&open(undisturbed.path()), &id("run_1")).await;
    assert_eq!(expected.len(), script().len());
    for seq in 1..=script().len() {
        for (point, survives) in [
            (FaultPoint::BeforeWrite, 0),
            (FaultPoint::AfterWrite, 0),
            (FaultPoint::AfterCommit, 1),
        ] {
            let home = tempfile::tempdir().unwrap();
            let crash = Some(format!("{point:?} {seq}"));
            let status = child(TEST, home.path(), crash).wait().unwrap();
            assert!(!status.success(), "it was to crash");
            let left = all_events(&open(home.path()), &id("run_1")).await;
            assert_eq!(
                left,
                expected[..seq - 1 + survives],
                "{point:?} of event {seq}"
            );
            assert!(child(TEST, home.path(), None).wait().unwrap().success());
            let store = open(home.path());
            assert_eq!(
                all_events(&store, &id("run_1")).await,
                expected,
                "{point:?} of event {seq}"
            );
            assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
        }
    }
}

/// Appends until it is killed, and says what was acknowledged.
async fn write_forever(home: &Path) {
    let store = Arc::new(open(home));
    let driver = store.register(DriverScope::All).unwrap();
    let epoch = driver.id();
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let run = id(&format!("run_{caller}"));
                for n in 0_u64.. {
                    let text = format!("{epoch}/{n}");
                    let events = append(&*store, &run, 1, &[said(&text)]).await;
                    // One write of one short line: whole or not at all.
                    let line = format!("ack {run} {} {text}\n", events[0].seq);
                    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_event_is_lost_however_often_the_process_is_killed() {
    const TEST: &str = "no_acknowledged_event_is_lost_however_often_the_process_is_killed";
    if let Some(home) = home_of_child() {
        return write_forever(&home).await;
    }
    let home = tempfile::tempdir().unwrap();
    let mut acknowledged: BTreeMap<(String, u64), String> = BTreeMap::new();
    let mut random: u64 = 12345;
    for round in 0..40 {
        // Killed after a different number of acknowledgements each time.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let until = 1 + (random >> 33) % 400;
        let mut process = child(TEST, home.path(), None);
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut count = 0;
        for line in lines {
            let line = line.unwrap();
            // What was said between the decision to kill and the end counts as well.
            let Some(ack) = line.strip_prefix("ack ") else {
                continue;
            };
            let [run, seq, text] = ack.split(' ').collect::<Vec<_>>()[..] else {
                continue;
            };
            acknowledged.insert((run.to_owned(), seq.parse().unwrap()), text.to_owned());
            count += 1;
            if count == until {
                process.kill().unwrap();
            }
        }
        assert!(count >= until, "round {round}: the process ended by itself");
        process.wait().unwrap();

        let store = open(home.path());
        let mut stored: BTreeMap<(String, u64), Event> = BTreeMap::new();
        for caller in 0..CALLERS {
            let run = id(&format!("run_{caller}"));
            for event in all_events(&store, &run).await {
                stored.insert((run.to_string(), event.seq), event);
            }
        }
        for ((run, seq), text) in &acknowledged {
            let event = stored
                .get(&(run.clone(), *seq))
                .unwrap_or_else(|| panic!("round {round}: {run} {seq} lost"));
            assert_eq!(
                event.payload.value()["data"].as_str(),
                Some(text.as_str()),
                "round {round}"
            );
        }
        assert_eq!(store.drivers(), [], "the driver went with the process");
    }
    let report = open(home.path()).check().await.unwrap();
    assert_eq!(report.findings, Vec::<String>::new());
    assert!(report.events >= acknowledged.len() as u64);
}
