//! Limits: calls in any minute and calls at once, per caller.
//!
//! The minute slides: a call counts until it is sixty seconds old. The headers (`limit`,
//! `remaining`, `reset`) say exactly what the next call will meet. Calls that are refused do not
//! count, so waiting as long as the refusal says is enough.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use windlass_ports::Clock;
use windlass_types::{Problem, Timestamp, code};

use super::Tier;

const WINDOW: Duration = Duration::from_secs(60);
/// Callers remembered before idle ones are forgotten.
const REMEMBERED: usize = 10_000;

/// Where a caller stands; what the rate-limit headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStatus {
    /// Calls per minute.
    pub limit: u32,
    /// Calls left now.
    pub remaining: u32,
    /// When the oldest call that counts does so no more.
    pub reset_at: Timestamp,
}

impl RateStatus {
    /// The reset in whole seconds since 1970, rounded up: who waits until then is not early.
    pub fn reset_seconds(self) -> i64 {
        let millis = self.reset_at.as_millis();
        millis.div_euclid(1000) + i64::from(millis.rem_euclid(1000) > 0)
    }

    /// Whole seconds from `now` to that same instant.
    pub fn wait_seconds(self, now: Timestamp) -> u64 {
        u64::try_from(self.reset_seconds() - now.as_seconds()).unwrap_or(0)
    }
}

/// Leave to make one call, or as many as one message carries; gives the places back when dropped.
#[derive(Debug)]
pub struct Permit {
    status: RateStatus,
    caller: String,
    places: u32,
    callers: Callers,
}

type Callers = Arc<Mutex<HashMap<String, Caller>>>;

impl Permit {
    /// Where the caller stands after this call.
    pub const fn status(&self) -> RateStatus {
        self.status
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(caller) = callers.get_mut(&self.caller) {
            caller.running = caller.running.saturating_sub(self.places);
        }
    }
}

#[derive(Debug, Default)]
struct Caller {
    /// The calls that count, oldest first.
    calls: VecDeque<Timestamp>,
    running: u32,
}

impl Caller {
    /// Lets go of what counts no more.
    fn slide(&mut self, now: Timestamp) {
        // A clock that went back must not lock a caller out for the difference.
        if self.calls.back().is_some_and(|last| *last > now) {
            self.calls.clear();
        }
        while self
            .calls
            .front()
            .is_some_and(|oldest| now.since(*oldest) >= WINDOW)
        {
            self.calls.pop_front();
        }
    }

    fn status(&self, tier: Tier, now: Timestamp) -> RateStatus {
        let made = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        RateStatus {
            limit: tier.per_minute,
            remaining: tier.per_minute.saturating_sub(made),
            reset_at: self.calls.front().copied().unwrap_or(now).after(WINDOW),
        }
    }
}

/// A refusal with what the headers must say.
#[derive(Debug)]
pub struct Refused {
    /// Where the caller stands.
    pub status: RateStatus,
    /// How long to wait.
    pub retry_after: Duration,
    /// The public failure.
    pub problem: Problem,
}

/// The limits of every caller of this process.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    callers: Callers,
}

impl Limits {
    /// Counts a call, or says why it may not be made now.
    pub fn admit(&self, caller: &str, tier: Tier, now: Timestamp) -> Result<Permit, Box<Refused>> {
        self.admit_many(caller, tier, 1, now)
    }

    /// Counts several calls that arrived in one message: all of them, or none.
    fn admit_many(
        &self,
        caller: &str,
        tier: Tier,
        calls: u32,
        now: Timestamp,
    ) -> Result<Permit, Box<Refused>> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= REMEMBERED {
            callers.retain(|_, entry| {
                entry.slide(now);
                entry.running > 0 || !entry.calls.is_empty()
            });
        }
        let entry = callers.entry(caller.to_owned()).or_default();
        entry.slide(now);
        let status = entry.status(tier, now);
        if status.remaining < calls {
            let wait = Duration::from_secs(status.wait_seconds(now).max(1));
            let message = format!("more than {} requests in a minute", tier.per_minute);
            return Err(refuse(status, wait, message));
        }
        if entry.running.saturating_add(calls) > tier.concurrency {
            let message = format!("more than {} requests at once", tier.concurrency);
            return Err(refuse(status, Duration::from_secs(1), message));
        }
        // Nobody is told apart by counting who may do as they please.
        if tier.per_minute < u32::MAX {
            entry.calls.extend((0..calls).map(|_| now));
        }
        entry.running += calls;
        let status = entry.status(tier, now);
        drop(callers);
        Ok(Permit {
            status,
            caller: caller.to_owned(),
            places: calls,
            callers: Arc::clone(&self.callers),
        })
    }

    /// Where a caller stands, without counting anything.
    fn status(&self, caller: &str, tier: Tier, now: Timestamp) -> RateStatus {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = callers.entry(caller.to_owned()).or_default();
        entry.slide(now);
        entry.status(tier, now)
    }
}

/// The caller of a request that was admitted as one call. A surface leaves it in the request's
/// extensions for a protocol whose messages may carry several calls.
#[derive(Clone)]
pub struct Meter {
    limits: Limits,
    caller: String,
    tier: Tier,
    clock: Arc<dyn Clock>,
}

impl Meter {
    /// What counts further calls of this caller.
    pub fn new(limits: &Limits, caller: String, tier: Tier, clock: Arc<dyn Clock>) -> Self {
        Self {
            limits: limits.clone(),
            caller,
            tier,
            clock,
        }
    }

    /// Who is counted.
    pub fn caller(&self) -> &str {
        &self.caller
    }

    /// Counts the calls of a message beyond its first: all of them, or none.
    pub fn admit_further(&self, calls: usize) -> Result<Permit, Box<Refused>> {
        let calls = u32::try_from(calls).unwrap_or(u32::MAX);
        self.limits
            .admit_many(&self.caller, self.tier, calls, self.clock.now())
    }

    /// Where the caller stands now.
    pub fn status(&self) -> RateStatus {
        self.limits
            .status(&self.caller, self.tier, self.clock.now())
    }
}

fn refuse(status: RateStatus, retry_after: Duration, message: String) -> Box<Refused> {
    Box::new(Refused {
        status,
        retry_after,
        problem: Problem::new(&code::RATE_LIMITED, message)
            .with("limit", "requests")
            .with("retry_after_seconds", retry_after.as_secs()),
    })
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
