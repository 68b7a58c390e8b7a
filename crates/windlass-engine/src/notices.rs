//! Passing notices within this process: from steps to whoever watches their run.
//!
//! Nothing is kept. A watcher that does not keep up loses the oldest notices; work never waits
//! for a watcher.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tokio::sync::broadcast;
use windlass_types::{PassingNotice, RunId};

use crate::driver::lock;

/// As many notices of a run as a watcher may be behind.
const BUFFER: usize = 256;

/// The notices of one run, from now on.
pub type NoticeReceiver = broadcast::Receiver<Arc<PassingNotice>>;

/// The watched runs of this process.
#[derive(Default)]
pub(crate) struct Notices(Mutex<HashMap<RunId, broadcast::Sender<Arc<PassingNotice>>>>);

impl Notices {
    /// Hands a notice to the watchers of its run.
    pub(crate) fn send(&self, notice: PassingNotice) {
        let mut watched = lock(&self.0);
        let Some(sender) = watched.get(&notice.run_id) else {
            return;
        };
        let run_id = notice.run_id.clone();
        if sender.send(Arc::new(notice)).is_err() {
            // The last watcher has gone.
            watched.remove(&run_id);
        }
    }

    /// The notices of a run from now on.
    pub(crate) fn subscribe(&self, run_id: &RunId) -> NoticeReceiver {
        let mut watched = lock(&self.0);
        watched.retain(|_, sender| sender.receiver_count() > 0);
        watched
            .entry(run_id.clone())
            .or_insert_with(|| broadcast::Sender::new(BUFFER))
            .subscribe()
    }
}
