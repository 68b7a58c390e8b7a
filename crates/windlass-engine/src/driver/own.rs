//! The runs of this process: those it created, told something or waits for.
//!
//! A driver that takes up nothing else (a command's) asks here what is its to drive. A driver
//! that takes up everything needs no such list, and none is kept beside one.

use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;
use windlass_types::RunId;

use super::lock;

/// The runs of this process.
#[derive(Default)]
pub struct OwnRuns {
    noted: Mutex<Noted>,
    count: watch::Sender<usize>,
    /// The number of this process's driver; 0 before there is one.
    driver: AtomicU64,
}

#[derive(Default)]
struct Noted {
    runs: HashSet<RunId>,
    ignored: bool,
}

impl OwnRuns {
    /// This process drives the run, unless another does.
    pub fn note(&self, run_id: &RunId) {
        let mut noted = lock(&self.noted);
        if !noted.ignored && noted.runs.insert(run_id.clone()) {
            self.count.send_replace(noted.runs.len());
        }
    }

    /// Changes when there are more of them.
    pub fn changes(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// The number of the driver this process started last.
    pub(crate) fn driver(&self) -> u64 {
        self.driver.load(Ordering::Relaxed)
    }

    pub(super) fn set_driver(&self, id: u64) {
        self.driver.store(id, Ordering::Relaxed);
    }

    pub(super) fn contains(&self, run_id: &RunId) -> bool {
        lock(&self.noted).runs.contains(run_id)
    }

    pub(super) fn all(&self) -> Vec<RunId> {
        lock(&self.noted).runs.iter().cloned().collect()
    }

    /// Every run is this process's to drive; there is no need to remember which.
    pub(super) fn ignore(&self) {
        *lock(&self.noted) = Noted {
            runs: HashSet::new(),
            ignored: true,
        };
    }
}
