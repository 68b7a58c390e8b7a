//! Which processes a session started: written down as they start, so that a manager that was
//! killed leaves nothing behind for long.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use windlass_types::Problem;

use crate::identity::{ProcessIdentity, marked};
use crate::lock::locked;
use crate::plan::{Places, remove_file};

/// How a process is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ending {
    /// `SIGTERM`, to the whole group.
    Terminate,
    /// `SIGINT`, to the leader alone: a PostgreSQL that ends without waiting for its clients.
    Interrupt,
}

/// A process that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub name: String,
    #[serde(flatten)]
    pub process: ProcessIdentity,
    pub ending: Ending,
}

/// The processes of this session.
pub(crate) struct Ledger {
    file: PathBuf,
    entries: Mutex<Vec<Entry>>,
}

impl Ledger {
    pub fn new(places: &Places) -> Self {
        Self {
            file: places.ledger(),
            entries: Mutex::new(Vec::new()),
        }
    }

    pub fn add(&self, entry: Entry) -> Result<(), Problem> {
        let mut entries = locked(&self.entries);
        entries.push(entry);
        save(&self.file, &entries)
    }

    pub fn remove(&self, process: &ProcessIdentity) {
        let mut entries = locked(&self.entries);
        entries.retain(|entry| entry.process != *process);
        // One too many is checked against the start time and does no harm.
        let _ = save(&self.file, &entries);
    }

    pub fn entries(&self) -> Vec<Entry> {
        locked(&self.entries).clone()
    }
}

fn save(file: &std::path::Path, entries: &[Entry]) -> Result<(), Problem> {
    crate::session::write_private(file, entries)
}

/// Processes that an earlier manager left behind.
pub(crate) fn left_behind(places: &Places) -> Vec<Entry> {
    let recorded: Vec<Entry> = fs_err::read(places.ledger())
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let mut found: Vec<Entry> = recorded
        .into_iter()
        .filter(|entry| entry.process.is_running())
        .collect();
    let (name, value) = places.marker();
    for process in marked(&format!("{name}={value}")) {
        if found.iter().all(|entry| entry.process != process) {
            found.push(Entry {
                name: "unrecorded".to_owned(),
                process,
                ending: Ending::Terminate,
            });
        }
    }
    found
}

/// Ends what an earlier manager left behind and returns what that was. Blocks for as long as
/// the processes need, some seconds at most.
pub(crate) fn clean_up(places: &Places) -> Vec<Entry> {
    let left = left_behind(places);
    for entry in &left {
        entry.process.signal(match entry.ending {
            Ending::Terminate => Signal::TERM,
            Ending::Interrupt => Signal::INT,
        });
    }
    let began = Instant::now();
    let is_running = |left: &[Entry]| left.iter().any(|entry| entry.process.is_running());
    while is_running(&left) && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    for entry in &left {
        entry.process.signal(Signal::KILL);
        entry.process.kill_group();
    }
    // Children that were in other groups, or that were started in the meantime.
    for entry in left_behind(places) {
        entry.process.signal(Signal::KILL);
    }
    // Nothing is left to remember; a file that cannot be removed names only ended processes.
    let _ = remove_file(&places.ledger());
    left
}
