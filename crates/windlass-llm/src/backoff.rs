//! When to try again: exponential waits with full jitter, unless the server names one.
//!
//! Pure: time and randomness come in.

use std::time::Duration;

use jiff::fmt::rfc2822;
use windlass_types::Timestamp;

/// Requests in all, the first included.
pub(crate) const MAX_ATTEMPTS: u32 = 6;
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

/// How long to wait before the next try. `attempt` is how many were made, `random` is uniform.
pub(crate) fn wait(attempt: u32, retry_after: Option<Duration>, random: u64) -> Duration {
    if let Some(asked) = retry_after {
        return asked;
    }
    let doubled = FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(16));
    let millis = u64::try_from(doubled.min(LONGEST).as_millis()).unwrap_or(u64::MAX - 1);
    Duration::from_millis(random % (millis + 1))
}

/// The wait that headers ask for: `retry-after-ms`, or `retry-after` as seconds or a date.
pub(crate) fn retry_after<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: Timestamp,
) -> Option<Duration> {
    let number = |text: &str| {
        let number: f64 = text.trim().parse().ok()?;
        (number >= 0.0 && number.is_finite()).then_some(number)
    };
    if let Some(millis) = header("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = header("retry-after")?;
    if let Some(seconds) = number(text) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = rfc2822::DateTimeParser::new()
        .parse_timestamp(text.trim())
        .ok()?;
    Some(Timestamp::from_millis(date.as_millisecond()).since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_start_anywhere_below_it() {
        let longest = |attempt| {
            let limits = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
            limits[usize::try_from(attempt).unwrap() - 1]
        };
        for attempt in 1..=8 {
            let limit = longest(attempt);
            assert_eq!(wait(attempt, None, limit), Duration::from_millis(limit));
            assert_eq!(wait(attempt, None, limit + 1), Duration::ZERO);
        }
        assert!(wait(u32::MAX, None, u64::MAX) <= LONGEST);
        assert_eq!(
            wait(1, Some(Duration::from_secs(77)), 3),
            Duration::from_secs(77)
        );
    }

    #[test]
    fn headers() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (name, value, expected) in [
            ("retry-after", "3", Some(3_000)),
            ("retry-after", " 0.5 ", Some(500)),
            ("retry-after", "0", Some(0)),
            ("retry-after", "-1", None),
            ("retry-after", "inf", None),
            ("retry-after", "1e300", None),
            ("retry-after", "soon", None),
            ("retry-after", "Sun, 01 Mar 2026 12:00:20 GMT", Some(20_000)),
            ("retry-after", "Sun, 01 Mar 2026 11:00:00 GMT", Some(0)),
            ("retry-after-ms", "250", Some(250)),
        ] {
            let header = |asked: &str| (asked == name).then_some(value);
            assert_eq!(
                retry_after(header, now),
                expected.map(Duration::from_millis),
                "{name}: {value}"
            );
        }
    }
}
