//! Whether a run has come to rest: ended, held, or waiting for a person who has not answered.
//!
//! A record alone is not enough: an answer that was given but not yet processed leaves the run
//! waiting, and following must not stop there. The journal decides.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use windlass_engine::run::{RunView, SIGNAL_CANCEL};
use windlass_types::{Body, Event, Problem, RunId, RunState};

use super::journal::read_events;
use crate::session::Session;

/// How long nothing may be heard before the record is read again.
const WAIT_LIMIT: Duration = Duration::from_secs(1);

/// When a run counts as followed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It has ended, is held, or waits for a person who has not answered.
    Settled,
    /// It has ended.
    Ended,
}

/// Waits until a run rests.
pub(crate) async fn wait_for_rest(
    session: &Session,
    run_id: &RunId,
    rest: Rest,
) -> Result<RunView, Problem> {
    let engine = session.engine();
    let mut growth = engine.store.follow(run_id);
    loop {
        growth.mark_unchanged();
        let run = RunView::from(engine.visible_run(session.principal(), run_id).await?);
        let rests = match rest {
            Rest::Settled => is_settled(session, &run).await?,
            Rest::Ended => run.state.is_final(),
        };
        if rests {
            return Ok(run);
        }
        tokio::select! {
            changed = growth.changed() => if changed.is_err() {
                return Err(Problem::internal("store", "the store was closed"));
            },
            () = engine.clock.sleep_until(engine.now().after(WAIT_LIMIT)) => {}
        }
    }
}

/// Whether nothing happens until a person acts.
async fn is_settled(session: &Session, run: &RunView) -> Result<bool, Problem> {
    if run.state.is_final() {
        return Ok(true);
    }
    if run.state != RunState::Held && !asks_a_person(run) {
        return Ok(false);
    }
    let mut heard = Heard::default();
    let mut read_to = 0;
    let hear = |event: Event| heard.listen(&event);
    read_events(session, &run.run_id, &mut read_to, hear).await?;
    // The journal grew after the record was read: what it waited for may be over.
    Ok(read_to <= run.last_seq && !heard.something_is_pending(run))
}

/// Whether the run waits for a person rather than for time or another run.
pub(crate) fn asks_a_person(run: &RunView) -> bool {
    run.state == RunState::Waiting && names(run).next().is_some()
}

/// The signals a person could send.
fn names(run: &RunView) -> impl Iterator<Item = &str> {
    run.waiting_on
        .iter()
        .map(|on| on.what.as_str())
        .filter(|what| *what != "timer" && *what != "child")
}

/// Signals that were sent, and those that were processed.
#[derive(Default)]
struct Heard {
    /// The name of each and who sent it.
    sent: BTreeMap<u64, (String, String)>,
    taken: BTreeSet<u64>,
    held_at: u64,
}

impl Heard {
    fn listen(&mut self, event: &Event) {
        match Body::decode(&event.event_type, &event.payload) {
            Ok(Some(Body::SignalReceived(signal))) => {
                let sender = signal.principal.id();
                self.sent.insert(event.seq, (signal.signal, sender));
            }
            Ok(Some(Body::WaitCompleted(wait))) => self.take(wait.signal_seq),
            Ok(Some(Body::RunHeld(_))) => self.held_at = event.seq,
            // What cannot be read is reported where the event is shown.
            _ => {}
        }
    }

    /// A wait that takes a signal has also heard those of the same name before it: where several
    /// approvals are needed, it names the last.
    fn take(&mut self, signal: Option<u64>) {
        let Some((last, (name, _))) = signal.and_then(|seq| self.sent.get_key_value(&seq)) else {
            return;
        };
        let before = self.sent.range(..=last).filter(|(_, sent)| sent.0 == *name);
        self.taken.extend(before.map(|(seq, _)| *seq));
    }

    fn something_is_pending(&self, run: &RunView) -> bool {
        if run.state == RunState::Held {
            return self.sent.keys().any(|seq| *seq > self.held_at);
        }
        self.sent
            .iter()
            .filter(|(seq, _)| !self.taken.contains(seq))
            .filter(|(_, (name, sender))| !is_counted(run, name, sender))
            .any(|(_, (name, _))| name == SIGNAL_CANCEL || names(run).any(|wanted| wanted == name))
    }
}

/// Whether the signal is an approval of several that are needed: the run has it and waits for
/// others.
fn is_counted(run: &RunView, name: &str, sender: &str) -> bool {
    run.waiting_on.iter().any(|on| {
        let is_among = on.approved_by.iter().any(|known| known == sender);
        on.what == name && !on.answered && is_among
    })
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
