//! What a test does to a process: writes that fail, and the write at which it dies.

use std::ops::RangeInclusive;

use tokio::sync::watch;
use windlass_ports::StoreError;

/// Where in a write a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nothing of it is written.
    BeforeWrite,
    /// All of it is written and none of it committed: the next process finds nothing.
    AfterWrite,
    /// It is committed and no caller knows: the next process finds it.
    AfterCommit,
}

impl Moment {
    /// Every moment.
    pub const ALL: [Self; 3] = [Self::BeforeWrite, Self::AfterWrite, Self::AfterCommit];
}

/// The faults of one process. Writes (commits and contents) are counted from 1.
pub(super) struct Faults {
    pub(super) writes: u64,
    pub(super) crash_at: Option<(u64, Moment)>,
    pub(super) failing: Vec<(RangeInclusive<u64>, StoreError)>,
    pub(super) reads_fail: Option<StoreError>,
    pub(super) dead: watch::Sender<bool>,
}

impl Faults {
    pub(super) fn new() -> Self {
        Self {
            writes: 0,
            crash_at: None,
            failing: Vec::new(),
            reads_fail: None,
            dead: watch::Sender::new(false),
        }
    }

    pub(super) fn is_dead(&self) -> bool {
        *self.dead.borrow()
    }

    /// Counts a write; the error it meets, if it is to meet one.
    pub(super) fn begin_write(&mut self) -> Result<u64, StoreError> {
        self.writes += 1;
        let number = self.writes;
        match self
            .failing
            .iter()
            .find(|(range, _)| range.contains(&number))
        {
            Some((_, error)) => Err(error.clone()),
            None => Ok(number),
        }
    }

    /// Whether the process dies here.
    pub(super) fn dies_at(&self, number: u64, moment: Moment) -> bool {
        self.crash_at == Some((number, moment))
    }
}
