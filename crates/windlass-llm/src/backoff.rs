//! When a model is asked again: after a growing pause with full jitter, unless the server names
//! one.

use std::time::Duration;

use windlass_types::{
    Timestamp,
    retry::{self, Backoff},
};

/// Requests in all, the first included.
pub(crate) const MAX_ATTEMPTS: u32 = 6;
/// A server that asks to wait longer is not waited for.
pub(crate) const LONGEST_ASKED: Duration = Duration::from_secs(5 * 60);
const PAUSES: Backoff = Backoff {
    first: Duration::from_millis(500),
    longest: Duration::from_secs(30),
};

/// How long to wait before the next attempt. `attempt` is how many were made, `random` is uniform.
pub(crate) fn wait(attempt: u32, retry_after: Option<Duration>, random: u64) -> Duration {
    retry_after.unwrap_or_else(|| PAUSES.jittered(attempt, random))
}

/// The wait that headers ask for: `retry-after-ms`, or `retry-after` as seconds or a date.
pub(crate) fn retry_after<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: Timestamp,
) -> Option<Duration> {
    let millis = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    let asked = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
    asked.or_else(|| retry::retry_after(header("retry-after")?, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_names_a_wait_is_obeyed() {
        assert!(wait(u32::MAX, None, u64::MAX) <= PAUSES.longest);
        let asked = Duration::from_secs(77);
        assert_eq!(wait(1, Some(asked), 3), asked);
    }

    #[test]
    fn headers() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (name, value, expected) in [
            ("retry-after", "3", Some(3_000)),
            ("retry-after", "soon", None),
            ("retry-after-ms", "-1", None),
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
