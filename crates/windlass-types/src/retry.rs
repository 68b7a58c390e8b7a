//! When to try again: growing pauses, and the one a server asks for.
//!
//! Pure: time and randomness come in.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;

use crate::Timestamp;

/// Pauses that double from the first to the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Backoff {
    /// The pause after the `attempt`-th failure, counted from 1.
    pub fn pause(&self, attempt: u32) -> Duration {
        let factor = 2_u32.saturating_pow(attempt.saturating_sub(1));
        self.first.saturating_mul(factor).min(self.longest)
    }

    /// Anything up to that pause, so that callers who failed together do not come back together.
    /// `random` is uniform.
    pub fn jittered(&self, attempt: u32, random: u64) -> Duration {
        let millis = u64::try_from(self.pause(attempt).as_millis()).unwrap_or(u64::MAX - 1);
        Duration::from_millis(random % (millis + 1))
    }
}

/// What a `Retry-After` header asks for: seconds, or a date. `None` where it is neither.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    match value.parse::<f64>() {
        // Negative, infinite and absurd numbers are refused here.
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let date = DateTimeParser::new().parse_timestamp(value).ok()?;
            Some(Timestamp::from_millis(date.as_millisecond()).since(now))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_jitter_stays_below() {
        let backoff = Backoff {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
        };
        for (attempt, millis) in [(0, 500), (1, 500), (2, 1_000), (6, 16_000), (7, 30_000)] {
            let limit = Duration::from_millis(millis);
            assert_eq!(backoff.pause(attempt), limit);
            assert_eq!(backoff.jittered(attempt, millis), limit);
            assert_eq!(backoff.jittered(attempt, millis + 1), Duration::ZERO);
        }
        assert_eq!(backoff.pause(u32::MAX), backoff.longest);
    }

    #[test]
    fn servers_ask_in_seconds_or_with_a_date() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (value, expected) in [
            ("3", Some(3_000)),
            (" 0.5 ", Some(500)),
            ("0", Some(0)),
            ("-1", None),
            ("inf", None),
            ("1e300", None),
            ("soon", None),
            ("", None),
            ("Sun, 01 Mar 2026 12:00:20 GMT", Some(20_000)),
            ("Sun, 01 Mar 2026 11:00:00 GMT", Some(0)),
        ] {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(value, now), expected, "{value:?}");
        }
    }
}
