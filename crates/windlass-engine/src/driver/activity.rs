//! Whether a run's code does something or only waits for a moment or a signal.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// What the code of one run is doing. Calls of its context are counted while they last.
#[derive(Default)]
pub(super) struct Activity {
    /// Calls that do something, or wait for something that nothing wakes a parked run for.
    busy: AtomicUsize,
    /// Calls that wait for a moment or a signal.
    waiting: AtomicUsize,
    /// Grows with every call that begins or ends.
    changes: AtomicU64,
    rests: Notify,
}

impl Activity {
    /// A call that does something, for as long as the value lives.
    pub(super) fn work(&self) -> Working<'_> {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Working(self)
    }

    /// Where the activity stands; differs once anything has happened.
    pub(super) fn mark(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Whether the code waits for a moment or a signal and does nothing else.
    pub(super) fn rests(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0 && self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Resolves once the code rests.
    pub(super) async fn resting(&self) {
        loop {
            let rests = self.rests.notified();
            if self.rests() {
                return;
            }
            rests.await;
        }
    }

    fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        if self.rests() {
            self.rests.notify_waiters();
        }
    }
}

/// A call that does something.
pub(super) struct Working<'a>(&'a Activity);

impl<'a> Working<'a> {
    /// The call does nothing but wait for a moment or a signal while the value lives.
    pub(super) fn pause(&mut self) -> Waiting<'_> {
        self.0.waiting.fetch_add(1, Ordering::Relaxed);
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
        self.0.changed();
        Waiting(self.0)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
        self.0.changed();
    }
}

/// A call that waits.
pub(super) struct Waiting<'a>(&'a Activity);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_add(1, Ordering::Relaxed);
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.changed();
    }
}
