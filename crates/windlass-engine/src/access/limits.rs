//! Limits: calls per minute and calls at once, per caller.
//!
//! A minute is a fixed window that begins with a caller's first call in it, so the headers
//! (`limit`, `remaining`, `reset`) say exactly what the next call will meet.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use windlass_types::{Problem, Timestamp, code};

const WINDOW: Duration = Duration::from_secs(60);
/// Callers remembered before idle ones are forgotten.
const REMEMBERED: usize = 10_000;

/// What a tier allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Calls per minute.
    pub per_minute: u32,
    /// Calls at once.
    pub concurrency: u32,
}

/// Where a caller stands; what the rate-limit headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStatus {
    /// Calls per minute.
    pub limit: u32,
    /// Calls left in this window.
    pub remaining: u32,
    /// When the window ends.
    pub reset_at: Timestamp,
}

/// Leave to make one call; gives its place back when dropped.
#[derive(Debug)]
pub struct Permit {
    status: RateStatus,
    caller: String,
    callers: Arc<Mutex<HashMap<String, Caller>>>,
}

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
            caller.running = caller.running.saturating_sub(1);
        }
    }
}

#[derive(Debug)]
struct Caller {
    window_start: Timestamp,
    calls: u32,
    running: u32,
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
    callers: Arc<Mutex<HashMap<String, Caller>>>,
}

impl Limits {
    /// Counts a call, or says why it may not be made now.
    pub fn admit(&self, caller: &str, tier: Tier, now: Timestamp) -> Result<Permit, Box<Refused>> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= REMEMBERED {
            callers.retain(|_, entry| entry.running > 0 || now.since(entry.window_start) < WINDOW);
        }
        let entry = callers.entry(caller.to_owned()).or_insert(Caller {
            window_start: now,
            calls: 0,
            running: 0,
        });
        // A clock that went back must not lock a caller out for the difference.
        if now.since(entry.window_start) >= WINDOW || now < entry.window_start {
            entry.window_start = now;
            entry.calls = 0;
        }
        let reset_at = entry.window_start.after(WINDOW);
        let status = |calls: u32| RateStatus {
            limit: tier.per_minute,
            remaining: tier.per_minute.saturating_sub(calls),
            reset_at,
        };
        if entry.calls >= tier.per_minute {
            return Err(refuse(
                status(entry.calls),
                reset_at.since(now),
                format!("more than {} calls in a minute", tier.per_minute),
            ));
        }
        if entry.running >= tier.concurrency {
            return Err(refuse(
                status(entry.calls),
                Duration::from_secs(1),
                format!("more than {} calls at once", tier.concurrency),
            ));
        }
        entry.calls += 1;
        entry.running += 1;
        let status = status(entry.calls);
        drop(callers);
        Ok(Permit {
            status,
            caller: caller.to_owned(),
            callers: Arc::clone(&self.callers),
        })
    }
}

fn refuse(status: RateStatus, retry_after: Duration, message: String) -> Box<Refused> {
    let seconds = retry_after.as_millis().div_ceil(1000).max(1) as u64;
    Box::new(Refused {
        status,
        retry_after: Duration::from_secs(seconds),
        problem: Problem::new(&code::RATE_LIMITED, message).with("retry_after_seconds", seconds),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIER: Tier = Tier {
        per_minute: 3,
        concurrency: 2,
    };

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn counts_down_and_starts_again() {
        let limits = Limits::default();
        for remaining in [2, 1, 0] {
            assert_eq!(
                limits.admit("a", TIER, at(0)).unwrap().status().remaining,
                remaining
            );
        }
        let refused = limits.admit("a", TIER, at(30_500)).unwrap_err();
        assert_eq!(refused.retry_after, Duration::from_secs(30));
        assert_eq!(refused.status.reset_at, at(60_000));
        assert!(limits.admit("b", TIER, at(30_500)).is_ok());
        assert_eq!(
            limits
                .admit("a", TIER, at(60_000))
                .unwrap()
                .status()
                .remaining,
            2
        );
    }

    #[test]
    fn holds_calls_at_once() {
        let limits = Limits::default();
        let first = limits.admit("a", TIER, at(0)).unwrap();
        let _second = limits.admit("a", TIER, at(0)).unwrap();
        assert!(limits.admit("a", TIER, at(0)).is_err());
        drop(first);
        assert!(limits.admit("a", TIER, at(0)).is_ok());
    }

    #[test]
    fn a_clock_that_goes_back_does_not_lock_out() {
        let limits = Limits::default();
        for _ in 0..3 {
            drop(limits.admit("a", TIER, at(100_000)).unwrap());
        }
        assert!(limits.admit("a", TIER, at(0)).is_ok());
    }
}
