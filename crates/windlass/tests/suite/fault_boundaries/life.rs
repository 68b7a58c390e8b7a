//! One life of the driving process: opens the home, drives, is the client and the person who
//! answers, and dies where requested.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::Driver;
use windlass_ports::{DeliveryFilter, DeliveryState, StoreError};
use windlass_store::{EventMark, FaultPoint, StoreFaults};
use windlass_types::{RunId, RunState};

use super::receiver::Receiver;
use crate::suite::support::{
    directory::fill,
    home::Place,
    library::{Library, runtime},
};

const VARIABLE: &str = "WINDLASS_TEST_LIFE";
/// No life lasts this long unless it hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// What happens to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Scenario {
    Completes,
    Cancelled,
    RolledBack,
}

/// Where the process dies: at the event of a journal, at a point of its writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Death {
    /// `run 0` is the first run the process saw, `run 1` the second; system journals by name.
    /// `commit` is no journal: then `seq` counts the commits of the process.
    pub(super) journal: String,
    pub(super) seq: u64,
    pub(super) point: String,
}

impl Death {
    pub(super) fn at(journal: &str, seq: u64, point: FaultPoint) -> Self {
        Self {
            journal: journal.to_owned(),
            seq,
            point: format!("{point:?}"),
        }
    }
}

/// A home, a directory and what is to happen there.
#[derive(Serialize, Deserialize)]
pub(super) struct Life {
    pub(super) name: String,
    pub(super) scenario: Scenario,
    pub(super) home: PathBuf,
    pub(super) scratch: PathBuf,
    /// Where the process says what became durable, and which tokens it was given.
    report: PathBuf,
    webhook: String,
    pub(super) death: Option<Death>,
    #[serde(skip)]
    _place: Option<Place>,
}

impl Life {
    /// A fresh home and a directory with something in it.
    pub(super) fn new(scenario: Scenario, receiver: &Receiver) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("life-{}", COUNT.fetch_add(1, Ordering::SeqCst));
        let place = Place::new();
        fill(
            &place.scratch(),
            &[
                ("keep/untouched.txt", "untouched"),
                ("old/gone.txt", "to be deleted"),
                ("old/too.txt", "this too"),
                ("data/stale.txt", "stale"),
                ("data/unicode.txt", "plain"),
                ("site/index.html", "before"),
            ],
        );
        let report = place.root().join("report");
        fs_err::write(&report, "").unwrap();
        Self {
            webhook: receiver.url(&name),
            name,
            scenario,
            home: place.home(),
            scratch: place.scratch(),
            report,
            death: None,
            _place: Some(place),
        }
    }

    pub(super) fn from_environment() -> Option<Self> {
        let text = std::env::var_os(VARIABLE)?;
        Some(serde_json::from_str(text.to_str().unwrap()).unwrap())
    }

    /// Lives in a process of its own; whether it was killed. It lives to its end when the point of
    /// its death does not come: how many events wake a run varies with the time they take.
    pub(super) fn spawn_and_die(&self) -> Result<bool, String> {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "suite::fault_boundaries::one_life"])
            .args(["--nocapture", "--test-threads=1"])
            .env(VARIABLE, serde_json::to_string(self).unwrap())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        use std::os::unix::process::ExitStatusExt as _;
        if output.status.signal() == Some(9) || output.status.success() {
            return Ok(!output.status.success());
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        Err(format!(
            "the process failed by itself: {}\n{said}{complained}",
            output.status
        ))
    }

    /// Lives here.
    pub(super) fn live(&self) {
        let runtime = runtime();
        let lived =
            runtime.block_on(async { tokio::time::timeout(LONGEST, self.live_to_the_end()).await });
        runtime.shutdown_timeout(Duration::from_secs(5));
        lived.unwrap_or_else(|_| panic!("{} hangs: {:?}", self.name, self.report()));
    }

    async fn live_to_the_end(&self) {
        let library = Library::open(&self.home, Some(self.hook())).unwrap();
        let driver = Driver::start_all(&library.engine).await.unwrap();
        let run_id = self.apply(&library).await;
        self.attend(&library, &run_id).await;
        driver.stop().await;
    }

    /// Plans once, then asks for the same plan to be applied, in this life and in the next.
    async fn apply(&self, library: &Library) -> RunId {
        let mut input = json!({
            "dir": self.scratch,
            "files": {
                "site/index.html": "after",
                "site/assets/app.js": "let x = 1;",
                "readme.txt": "hello",
                "deep/er/est.txt": "down here",
                "deep/er/still.txt": "and here",
                "data/empty.txt": "",
                "data/unicode.txt": "grüße \u{1f680}\n",
            },
            "delete": ["old/gone.txt", "old/too.txt", "data/stale.txt"],
            "pause_ms": 1,
            "approval": true,
            "note": true,
            "webhook_url": self.webhook,
        });
        let token = self
            .token(library, "apply", "demo.plan", input.clone())
            .await;
        input["confirm_token"] = token.into();
        input["idempotency_key"] = "the same call".into();
        let answer = library.call("demo.apply", input).await.unwrap();
        answer.run_id.unwrap()
    }

    /// The token of an earlier life, or of a new plan.
    async fn token(&self, library: &Library, name: &str, operation: &str, input: Value) -> String {
        if let Some(token) = self.report().token(name) {
            return token;
        }
        let answer = library.call(operation, input).await.unwrap();
        let token = answer.output["confirm_token"].as_str().unwrap().to_owned();
        self.report_line(&format!("token {name} {token}"));
        token
    }

    /// Answers what is asked until the scenario is over and every webhook is delivered.
    async fn attend(&self, library: &Library, run_id: &RunId) {
        let mut changes = library.engine.store.changes();
        loop {
            changes.mark_unchanged();
            if self.react(library, run_id).await {
                return;
            }
            changes.changed().await.unwrap();
        }
    }

    /// Does what the scenario wants next; whether it is over.
    async fn react(&self, library: &Library, run_id: &RunId) -> bool {
        let store = &library.engine.store;
        let record = store.run(run_id).await.unwrap().unwrap();
        let asks = record
            .waiting_on
            .iter()
            .any(|(_, on)| on.what == "approval");
        let signalled = library.events(run_id).await.unwrap();
        let signalled = signalled.iter().any(|event| {
            event.event_type == "signal.received" && event.payload.value()["signal"] != "rollback"
        });
        if asks && !signalled {
            let operation = match self.scenario {
                Scenario::Cancelled => "runs.cancel",
                Scenario::Completes | Scenario::RolledBack => "runs.approve",
            };
            let answered = library.call(operation, json!({ "run_id": run_id })).await;
            answered.unwrap();
        }
        let pending = DeliveryFilter {
            state: Some(DeliveryState::Pending),
            limit: 1,
            ..DeliveryFilter::default()
        };
        let idle = store.unfinished().await.unwrap() == 0
            && store.deliveries(pending).await.unwrap().is_empty();
        if idle && self.scenario == Scenario::RolledBack && record.state == RunState::Completed {
            let mut input = json!({ "run_id": run_id });
            let token = self
                .token(library, "rollback", "runs.rollback_plan", input.clone())
                .await;
            input["confirm_token"] = token.into();
            input["idempotency_key"] = "the same rollback".into();
            library.call("runs.rollback", input).await.unwrap();
            return false;
        }
        idle
    }

    fn hook(&self) -> Arc<dyn StoreFaults> {
        Arc::new(Hook {
            death: self.death.clone(),
            report: self.report.clone(),
            seen: Mutex::default(),
            commits: AtomicU64::new(0),
        })
    }

    fn report_line(&self, line: &str) {
        report_line(&self.report, line);
    }

    pub(super) fn report(&self) -> Report {
        Report(fs_err::read_to_string(&self.report).unwrap())
    }
}

/// Appends a line that survives the process.
fn report_line(report: &PathBuf, line: &str) {
    let mut file = fs_err::OpenOptions::new()
        .append(true)
        .open(report)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// What the lives of one trial said.
#[derive(Debug)]
pub(super) struct Report(String);

impl Report {
    fn token(&self, name: &str) -> Option<String> {
        let prefix = format!("token {name} ");
        let found = self.0.lines().find_map(|line| line.strip_prefix(&prefix));
        found.map(str::to_owned)
    }

    /// Every event that was durable before it was announced: journal, position, type, role.
    pub(super) fn durable(&self) -> impl Iterator<Item = (&str, u64, &str, &str)> {
        self.0.lines().filter_map(|line| {
            let mut parts = line.strip_prefix("durable ")?.splitn(4, ' ');
            let mut next = || parts.next().unwrap();
            Some((next(), next().parse().unwrap(), next(), next()))
        })
    }

    /// The same as role and place.
    pub(super) fn durable_by_role(&self) -> Vec<(String, u64)> {
        self.durable()
            .map(|(_, seq, _, role)| (role.to_owned(), seq))
            .collect()
    }
}

/// Reports what is durable and kills the process where requested.
struct Hook {
    death: Option<Death>,
    report: PathBuf,
    /// Runs in the order in which they appeared.
    seen: Mutex<Vec<RunId>>,
    commits: AtomicU64,
}

impl Hook {
    fn role(&self, run_id: &RunId) -> String {
        if run_id.as_str().starts_with("sys_") {
            return run_id.to_string();
        }
        let mut seen = self.seen.lock().unwrap();
        let known = seen.iter().position(|known| known == run_id);
        let index = known.unwrap_or_else(|| {
            seen.push(run_id.clone());
            seen.len() - 1
        });
        format!("run {index}")
    }
}

impl StoreFaults for Hook {
    fn at(&self, point: FaultPoint, events: &[EventMark]) -> Result<(), StoreError> {
        for event in events {
            let role = self.role(&event.run_id);
            if point == FaultPoint::AfterCommit {
                let EventMark {
                    run_id,
                    seq,
                    event_type,
                } = event;
                report_line(
                    &self.report,
                    &format!("durable {run_id} {seq} {event_type} {role}"),
                );
            }
        }
        let Some(death) = &self.death else {
            return Ok(());
        };
        if format!("{point:?}") != death.point {
            return Ok(());
        }
        let commit = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        let is_meant =
            |event: &EventMark| event.seq == death.seq && self.role(&event.run_id) == death.journal;
        if events.iter().any(is_meant) || (death.journal == "commit" && commit == death.seq) {
            let this = rustix::process::getpid();
            rustix::process::kill_process(this, rustix::process::Signal::KILL).unwrap();
            // The signal is on its way; nothing more must happen.
            std::thread::sleep(LONGEST);
        }
        Ok(())
    }
}
