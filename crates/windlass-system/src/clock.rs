//! Wall-clock time.

use std::time::{Duration, SystemTime};

use windlass_ports::{BoxFuture, Clock};
use windlass_types::Timestamp;

/// Timers run on monotonic time, deadlines are wall-clock times: when somebody sets the
/// clock or the machine sleeps, a long wait notices after at most this long.
const RECHECK: Duration = Duration::from_secs(1);

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Clock port's one implementation over the system"
    )]
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Timestamp::from_millis(millis)
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let clock = *self;
        Box::pin(sleep_by(move || clock.now(), deadline))
    }
}

/// Sleeps until `now` says that the deadline has come.
async fn sleep_by(now: impl Fn() -> Timestamp, deadline: Timestamp) {
    loop {
        let left = deadline.since(now());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(RECHECK)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[test]
    fn time_passes_and_is_after_this_was_written() {
        let now = SystemClock.now();
        assert!(now > "2026-01-01T00:00:00Z".parse().unwrap());
        assert!(SystemClock.now() >= now);
    }

    #[tokio::test]
    async fn sleeping_reaches_the_deadline_and_never_ends_early() {
        let deadline = SystemClock.now().after(Duration::from_millis(20));
        SystemClock.sleep_until(deadline).await;
        assert!(SystemClock.now() >= deadline);
        SystemClock.sleep_until(Timestamp::EPOCH).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_set_forward_ends_a_long_sleep_within_a_second() {
        // A wall clock that jumps an hour ahead at its third reading.
        let readings = AtomicI64::new(0);
        let now = || {
            let reading = readings.fetch_add(1, Ordering::Relaxed);
            Timestamp::from_millis(if reading < 2 {
                reading * 1_000
            } else {
                3_600_000
            })
        };
        let started = tokio::time::Instant::now();
        sleep_by(now, Timestamp::from_millis(3_600_000)).await;
        assert_eq!(started.elapsed(), Duration::from_secs(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_set_back_prolongs_the_sleep() {
        let started = tokio::time::Instant::now();
        let now = || {
            let elapsed = started.elapsed();
            let set_back = if elapsed >= Duration::from_secs(2) {
                10_000
            } else {
                0
            };
            Timestamp::from_millis(i64::try_from(elapsed.as_millis()).unwrap() - set_back)
        };
        sleep_by(now, Timestamp::from_millis(3_000)).await;
        assert_eq!(started.elapsed(), Duration::from_secs(13));
    }
}
