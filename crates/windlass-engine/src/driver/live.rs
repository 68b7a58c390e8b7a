//! What a run under way can be told: signals, delivered by the driver's feed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::watch;
use windlass_types::journal::SignalReceived;

use super::{lock, memo::Memo};
use crate::run::SIGNAL_CANCEL;

/// The inbox of a run under way. Signals are keyed by their place in the journal, so that one
/// which arrives both by replay and by the feed is there once.
#[derive(Default)]
pub(super) struct LiveRun {
    inbox: Mutex<Inbox>,
    arrivals: watch::Sender<u64>,
    /// Something happened that may concern the run after this execution of it.
    again: AtomicBool,
}

#[derive(Default)]
struct Inbox {
    signals: BTreeMap<u64, SignalReceived>,
    consumed: BTreeSet<u64>,
}

impl LiveRun {
    /// The run must be looked at once more before it is left alone.
    pub(super) fn ask_again(&self) {
        self.again.store(true, Ordering::SeqCst);
    }

    /// Whether it must; asked once.
    pub(super) fn is_asked_again(&self) -> bool {
        self.again.swap(false, Ordering::SeqCst)
    }

    /// Begins an execution with what the journal says was heard and consumed.
    pub(super) fn begin(&self, memo: &Memo) {
        let mut inbox = lock(&self.inbox);
        for (seq, signal) in &memo.signals {
            inbox.signals.insert(*seq, signal.clone());
        }
        // Before any code asks: a wait must not take what another wait, later in the code or
        // beside it, has taken already.
        inbox.consumed = memo.consumed_signals().collect();
    }

    pub(super) fn deliver(&self, seq: u64, signal: SignalReceived) {
        lock(&self.inbox).signals.insert(seq, signal);
        self.arrivals.send_modify(|count| *count += 1);
    }

    pub(super) fn mark_consumed(&self, seq: u64) {
        lock(&self.inbox).consumed.insert(seq);
    }

    pub(super) fn get(&self, seq: u64) -> Option<SignalReceived> {
        lock(&self.inbox).signals.get(&seq).cloned()
    }

    /// The fitting signals which no wait has consumed, oldest first.
    pub(super) fn unconsumed(
        &self,
        fits: impl Fn(&SignalReceived) -> bool,
    ) -> Vec<(u64, SignalReceived)> {
        let inbox = lock(&self.inbox);
        inbox
            .signals
            .iter()
            .filter(|(seq, signal)| fits(signal) && !inbox.consumed.contains(seq))
            .map(|(seq, signal)| (*seq, signal.clone()))
            .collect()
    }

    pub(super) fn cancel_requested(&self) -> bool {
        lock(&self.inbox)
            .signals
            .values()
            .any(|signal| signal.signal == SIGNAL_CANCEL)
    }

    pub(super) fn arrivals(&self) -> watch::Receiver<u64> {
        self.arrivals.subscribe()
    }

    /// Whether a signal at that place was heard.
    pub(super) fn has_heard(&self, seq: u64) -> bool {
        lock(&self.inbox).signals.contains_key(&seq)
    }

    /// Resolves once a cancellation of the run was requested.
    pub(super) async fn cancelled(&self) {
        let mut arrivals = self.arrivals();
        while !self.cancel_requested() {
            if arrivals.changed().await.is_err() {
                return;
            }
        }
    }
}
