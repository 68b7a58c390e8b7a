//! Whether one server is asked: closed while it answers, open after repeated failures, half open
//! to find out whether it answers again.
//!
//! Pure: moments come in. Not here: which outcome is a failure (`guarded`).

use std::time::Duration;

use windlass_types::Timestamp;

/// Failures in a row that open a closed breaker.
const FAILURES_TO_OPEN: u32 = 5;
/// How long an open one stays open.
const OPEN_FOR: Duration = Duration::from_secs(60);
/// Answers that close a half-open one, and how many may be asked for at once.
const SUCCESSES_TO_CLOSE: u32 = 3;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The server answered.
    Answered,
    /// It did not.
    Failed,
    /// It says nothing about the server: the request was at fault, or nobody waited.
    Unknown,
}

/// Leave to call. Counts only in the state that gave it: the end of a call that began before a
/// breaker opened says nothing about whether the server has recovered since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leave {
    epoch: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Timestamp },
    HalfOpen { answers: u32, under_way: u32 },
}

/// The breaker of one server.
#[derive(Debug)]
pub(crate) struct Breaker {
    state: State,
    /// Counts changes of state.
    epoch: u64,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            state: State::Closed { failures: 0 },
            epoch: 0,
        }
    }
}

impl Breaker {
    /// Leave to call now, or how long to wait. An open breaker whose time is over turns half open.
    pub(crate) fn admit(&mut self, now: Timestamp) -> Result<Leave, Duration> {
        if let State::Open { until } = self.state {
            let left = until.since(now);
            if !left.is_zero() {
                return Err(left);
            }
            self.enter(State::HalfOpen {
                answers: 0,
                under_way: 0,
            });
        }
        if let State::HalfOpen { answers, under_way } = &mut self.state {
            if *answers + *under_way >= SUCCESSES_TO_CLOSE {
                // The calls under way decide; how long they take is not known.
                return Err(Duration::from_secs(1));
            }
            *under_way += 1;
        }
        Ok(Leave { epoch: self.epoch })
    }

    /// A call has ended.
    pub(crate) fn end(&mut self, leave: Leave, ending: Ending, now: Timestamp) {
        if leave.epoch != self.epoch {
            return;
        }
        match (&mut self.state, ending) {
            (State::Closed { failures }, Ending::Answered) => *failures = 0,
            (State::Closed { failures }, Ending::Failed) => {
                *failures += 1;
                if *failures >= FAILURES_TO_OPEN {
                    self.open(now);
                }
            }
            (State::HalfOpen { answers, under_way }, Ending::Answered) => {
                *under_way -= 1;
                *answers += 1;
                if *answers >= SUCCESSES_TO_CLOSE {
                    self.enter(State::Closed { failures: 0 });
                }
            }
            (State::HalfOpen { .. }, Ending::Failed) => self.open(now),
            (State::HalfOpen { under_way, .. }, Ending::Unknown) => *under_way -= 1,
            // Leave is not given while open, so no call of this epoch can end then.
            (State::Closed { .. }, Ending::Unknown) | (State::Open { .. }, _) => {}
        }
    }

    fn open(&mut self, now: Timestamp) {
        self.enter(State::Open {
            until: now.after(OPEN_FOR),
        });
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.epoch += 1;
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
