//! Passing notices on their way: from the steps of one process to watchers anywhere on the home.
//!
//! Nothing is kept and nobody waits: a watcher that does not keep up loses notices.

use std::sync::Arc;

use tokio::sync::broadcast;
use windlass_types::{PassingNotice, RunId};

/// The notices of one run, from now on.
pub type NoticeReceiver = broadcast::Receiver<Arc<PassingNotice>>;

/// Where the notices of a process's steps can be had.
pub trait NoticeSource: Send + Sync + 'static {
    /// The notices of a run from now on.
    fn subscribe(&self, run_id: &RunId) -> NoticeReceiver;
}

/// Other processes can hear a driver's notices until this is dropped.
pub trait ServedNotices: Send + Sync + 'static {}
