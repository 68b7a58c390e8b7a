//! Following a run: its events after a cursor, and waiting until it settles.
//!
//! Works the same in the driving process and in any other that has the store open.

use std::time::Duration;

use windlass_ports::StoreError;
use windlass_types::{Event, Problem, RunId, RunRecord, RunState, code};

use crate::Engine;

impl Engine {
    /// Events after `after_seq`; waits up to `patience` for the first one.
    pub async fn events_after(
        &self,
        run_id: &RunId,
        after_seq: u64,
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<Event>, StoreError> {
        let mut changes = self.store.changes();
        let deadline = self.now().after(patience);
        loop {
            changes.mark_unchanged();
            let events = self.store.events(run_id, after_seq, limit).await?;
            if !events.is_empty() || self.now() >= deadline {
                return Ok(events);
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return Ok(events) },
                () = self.clock.sleep_until(deadline) => {}
            }
        }
    }

    /// The run's record once it has ended, is held or waits for a person; at the latest after `patience`.
    pub async fn settle(&self, run_id: &RunId, patience: Duration) -> Result<RunRecord, Problem> {
        let mut changes = self.store.turns();
        let deadline = self.now().after(patience);
        loop {
            changes.mark_unchanged();
            let record = self.store.run(run_id).await?.ok_or_else(|| {
                Problem::new(&code::RUN_NOT_FOUND, format!("no run {run_id}"))
                    .with("run_id", run_id.as_str())
            })?;
            if is_settled(&record) || self.now() >= deadline {
                return Ok(record);
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return Ok(record) },
                () = self.clock.sleep_until(deadline) => {}
            }
        }
    }

    /// Waits until a run has ended or is held, at the latest until the time is over.
    pub(crate) async fn settle_finally(
        &self,
        run_id: &RunId,
        timeout: Duration,
    ) -> Result<(), Problem> {
        let mut changes = self.store.turns();
        let deadline = self.now().after(timeout);
        loop {
            changes.mark_unchanged();
            let record = self.store.run(run_id).await?;
            let ended =
                |record: RunRecord| record.state.is_final() || record.state == RunState::Held;
            if record.is_none_or(ended) || self.now() >= deadline {
                return Ok(());
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return Ok(()) },
                () = self.clock.sleep_until(deadline) => {}
            }
        }
    }
}

/// Whether nothing happens until a person acts.
fn is_settled(record: &RunRecord) -> bool {
    let asks_a_person = record
        .waiting_on
        .iter()
        .any(|(_, on)| on.what != "timer" && on.what != "child" && !on.answered);
    record.state.is_final()
        || record.state == RunState::Held
        || (asks_a_person && record.state == RunState::Waiting)
}
