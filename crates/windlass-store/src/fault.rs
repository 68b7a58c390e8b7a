//! Places where a test may make the store fail, or end the process.
//!
//! Without a hook there is nothing to call and nothing to pay. The hook runs on the
//! writer's thread, with the batch in hand.

use windlass_ports::StoreError;
use windlass_types::{Event, RunId};

/// An event of the batch a fault point is reached with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMark {
    /// Its journal.
    pub run_id: RunId,
    /// Its place there.
    pub seq: u64,
    /// Its type.
    pub event_type: String,
}

/// Where the writer is with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    /// The events of one commit are chained; nothing of that commit is written.
    BeforeWrite,
    /// The whole batch is written inside its transaction, which is not yet committed.
    AfterWrite,
    /// The batch is durable; no caller knows yet.
    AfterCommit,
    /// The disk is about to be looked at; there is no batch.
    Probe,
}

/// A test's hand in the writer.
pub trait StoreFaults: Send + Sync + 'static {
    /// Called at each point. An error before the commit fails the batch with it, as the disk
    /// would; after the commit it replaces the acknowledgement, though the events are stored.
    fn at(&self, point: FaultPoint, events: &[EventMark]) -> Result<(), StoreError>;
}

pub(crate) fn marks<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<EventMark> {
    let mark = |event: &Event| EventMark {
        run_id: event.run_id.clone(),
        seq: event.seq,
        event_type: event.event_type.clone(),
    };
    events.into_iter().map(mark).collect()
}
