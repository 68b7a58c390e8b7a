//! Whether a run has come to rest: ended, held, or waiting for a person who has not answered.
//!
//! A record alone does not tell: an answer that was given but not yet taken up leaves the run
//! waiting, and following must not stop there. The journal tells.

use std::collections::{BTreeMap, BTreeSet};

use windlass_engine::run::{RunView, SIGNAL_CANCEL};
use windlass_types::{Body, Event, Problem, RunState};

use crate::session::Session;

const PAGE: usize = 1000;

/// Whether nothing happens until a person acts.
pub(crate) async fn is_settled(session: &Session, run: &RunView) -> Result<bool, Problem> {
    if run.state.is_final() {
        return Ok(true);
    }
    if run.state != RunState::Held && !asks_a_person(run) {
        return Ok(false);
    }
    let mut heard = Heard::default();
    let mut after_seq = 0;
    loop {
        let events = session
            .engine()
            .store
            .events(&run.run_id, after_seq, PAGE)
            .await?;
        let Some(last) = events.last() else { break };
        after_seq = last.seq;
        events.iter().for_each(|event| heard.listen(event));
    }
    // The journal went on after the record was read: what it waited for may be over.
    Ok(after_seq <= run.last_seq && !heard.something_is_pending(run))
}

/// Whether the run waits for somebody rather than for time or another run.
pub(super) fn asks_a_person(run: &RunView) -> bool {
    run.state == RunState::Waiting && names(run).next().is_some()
}

/// The signals a person could send.
fn names(run: &RunView) -> impl Iterator<Item = &str> {
    run.waiting_on
        .iter()
        .map(|on| on.what.as_str())
        .filter(|what| *what != "timer" && *what != "child")
}

/// Signals that were sent, and those that were taken up.
#[derive(Default)]
struct Heard {
    sent: BTreeMap<u64, String>,
    taken: BTreeSet<u64>,
    held_at: u64,
}

impl Heard {
    fn listen(&mut self, event: &Event) {
        match Body::decode(&event.event_type, &event.payload) {
            Ok(Some(Body::SignalReceived(signal))) => {
                self.sent.insert(event.seq, signal.signal);
            }
            Ok(Some(Body::WaitCompleted(wait))) => self.taken.extend(wait.signal_seq),
            Ok(Some(Body::RunHeld(_))) => self.held_at = event.seq,
            // What cannot be read is reported where the event is told.
            _ => {}
        }
    }

    fn something_is_pending(&self, run: &RunView) -> bool {
        if run.state == RunState::Held {
            return self.sent.keys().any(|seq| *seq > self.held_at);
        }
        self.sent
            .iter()
            .filter(|(seq, _)| !self.taken.contains(seq))
            .any(|(_, name)| name == SIGNAL_CANCEL || names(run).any(|wanted| wanted == name))
    }
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
