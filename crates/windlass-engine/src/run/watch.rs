//! Following a run: its events from a place on, and waiting until it settles.
//!
//! Works the same in the driving process and in any other that has the store open. Who follows a
//! run is woken by its events and by nothing else, and keeps its place.

use std::time::Duration;

use tokio::sync::watch;
use windlass_ports::{DriverRecord, DriverScope, StoreError};
use windlass_types::{
    Body, Event, Passing, PassingNotice, Problem, RunId, RunRecord, RunState, code,
};

use crate::{Engine, notices::NoticeStream};

const PAGE: usize = 500;

/// The events of one run, from a place on.
pub struct RunStream {
    engine: Engine,
    run_id: RunId,
    after_seq: u64,
    growth: watch::Receiver<u64>,
}

impl RunStream {
    /// The place of the last event that was given out.
    pub const fn place(&self) -> u64 {
        self.after_seq
    }

    /// The next events, at most `limit`; waits up to `timeout` for the first one.
    pub async fn next(
        &mut self,
        limit: usize,
        timeout: Duration,
    ) -> Result<Vec<Event>, StoreError> {
        let deadline = self.engine.now().after(timeout);
        loop {
            self.growth.mark_unchanged();
            let store = &self.engine.store;
            let events = store.events(&self.run_id, self.after_seq, limit).await?;
            if let Some(last) = events.last() {
                self.after_seq = last.seq;
                return Ok(events);
            }
            if self.engine.now() >= deadline || !self.grown(deadline).await {
                return Ok(events);
            }
        }
    }

    /// Waits until the journal has grown, or until then; `false` when the store was closed.
    async fn grown(&mut self, deadline: windlass_types::Timestamp) -> bool {
        tokio::select! {
            changed = self.growth.changed() => changed.is_ok(),
            () = self.engine.clock.sleep_until(deadline) => true,
        }
    }
}

impl Engine {
    /// The events of a run after a place.
    pub fn follow(&self, run_id: &RunId, after_seq: u64) -> RunStream {
        RunStream {
            engine: self.clone(),
            run_id: run_id.clone(),
            after_seq,
            growth: self.store.follow(run_id),
        }
    }

    /// Says something in passing to those who watch a run: redacted, shortened, in no journal.
    /// `step` is the part of the run that says it.
    pub fn pass(&self, run_id: &RunId, step: &str, mut what: Passing) {
        let text = what.text_mut();
        let redacted = self.redactor.redact(text).into_owned();
        *text = redacted;
        if text.len() > Passing::LONGEST {
            text.truncate(text.floor_char_boundary(Passing::LONGEST));
        }
        self.notices().send(PassingNotice {
            run_id: run_id.clone(),
            step: step.to_owned(),
            time: self.now(),
            what,
        });
    }

    /// What the steps of a run say in passing, from now on. For a caller who may see the run.
    pub fn notices_of(&self, run_id: &RunId) -> NoticeStream {
        NoticeStream::new(self, run_id)
    }

    /// Events after `after_seq`; waits up to `timeout` for the first one.
    pub async fn events_after(
        &self,
        run_id: &RunId,
        after_seq: u64,
        limit: usize,
        timeout: Duration,
    ) -> Result<Vec<Event>, StoreError> {
        self.follow(run_id, after_seq).next(limit, timeout).await
    }

    /// The run's record once it has ended, is held or waits for a person; at the latest after
    /// `timeout`. A run that is waited for is this process's to drive, unless another does.
    pub async fn settle(&self, run_id: &RunId, timeout: Duration) -> Result<RunRecord, Problem> {
        self.record_once(run_id, timeout, is_settled).await
    }

    /// The run's record once it has ended or is held; at the latest after `timeout`.
    pub(crate) async fn settle_finally(
        &self,
        run_id: &RunId,
        timeout: Duration,
    ) -> Result<RunRecord, Problem> {
        self.record_once(run_id, timeout, has_stopped).await
    }

    async fn record_once(
        &self,
        run_id: &RunId,
        timeout: Duration,
        is_reached: impl Fn(&RunRecord) -> bool,
    ) -> Result<RunRecord, Problem> {
        let deadline = self.now().after(timeout);
        let growth = self.store.follow(run_id);
        let mut record = self.store.run(run_id).await?.ok_or_else(|| {
            Problem::new(&code::RUN_NOT_FOUND, format!("no run {run_id}"))
                .with("run_id", run_id.as_str())
        })?;
        let mut stream = RunStream {
            engine: self.clone(),
            run_id: run_id.clone(),
            after_seq: record.last_seq,
            growth,
        };
        if !record.state.is_final() {
            self.own_runs().note(run_id);
        }
        while !is_reached(&record) && self.now() < deadline {
            let events = stream.next(PAGE, deadline.since(self.now())).await?;
            for event in events {
                let body = Body::decode(&event.event_type, &event.payload)
                    .map_err(|error| Problem::internal("journal event", error))?;
                record.apply(event.seq, event.time, body.as_ref());
            }
        }
        Ok(record)
    }

    /// The process that goes on with a run when this one does not: another that executes it, or
    /// one that takes up every run.
    pub async fn driven_by(&self, run_id: &RunId) -> Result<Option<u32>, Problem> {
        let standing = self.store.standing(run_id).await?;
        let lease = standing.and_then(|standing| standing.lease);
        let own = self.own_runs().driver();
        let mut drivers = self.lease.drivers();
        drivers.retain(|driver| driver.id != own && !driver.is_silent);
        let executes = |driver: &&DriverRecord| {
            let lease = lease.as_ref();
            lease.is_some_and(|lease| lease.driver == driver.id)
        };
        let takes_all = |driver: &&DriverRecord| driver.scope == DriverScope::All;
        let next = drivers.iter().find(executes);
        let next = next.or_else(|| drivers.iter().find(takes_all));
        Ok(next.map(|driver| driver.process))
    }
}

/// Whether nothing happens until a person acts.
fn is_settled(record: &RunRecord) -> bool {
    let asks_a_person = record
        .waiting_on
        .iter()
        .any(|(_, on)| on.what != "timer" && on.what != "child" && !on.answered);
    has_stopped(record) || (asks_a_person && record.state == RunState::Waiting)
}

/// Whether the run has ended or is held.
fn has_stopped(record: &RunRecord) -> bool {
    record.state.is_final() || record.state == RunState::Held
}
