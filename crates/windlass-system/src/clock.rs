//! Wall-clock time.

use std::time::{Duration, SystemTime};

use windlass_ports::{BoxFuture, Clock};
use windlass_types::Timestamp;

/// Timers run on monotonic time, deadlines are wall-clock times: when the clock is set or the
/// machine sleeps, a long wait notices after at most this long.
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
        Box::pin(sleep_by(move || clock.now(), tokio::time::sleep, deadline))
    }
}

/// Sleeps until `now` says that the deadline has come.
async fn sleep_by<S: Future<Output = ()>>(
    now: impl Fn() -> Timestamp,
    sleep: impl Fn(Duration) -> S,
    deadline: Timestamp,
) {
    loop {
        let left = deadline.since(now());
        if left.is_zero() {
            return;
        }
        sleep(left.min(RECHECK)).await;
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

    /// How long a sleep takes in all, in milliseconds, when the wall clock says `wall(elapsed)`.
    async fn time_slept(wall: impl Fn(i64) -> i64, deadline: i64) -> i64 {
        let elapsed = AtomicI64::new(0);
        let now = || Timestamp::from_millis(wall(elapsed.load(Ordering::Relaxed)));
        let sleep = |time: Duration| {
            elapsed.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
            std::future::ready(())
        };
        sleep_by(now, sleep, Timestamp::from_millis(deadline)).await;
        elapsed.into_inner()
    }

    #[tokio::test]
    async fn a_clock_set_forward_ends_a_long_sleep_within_a_second() {
        let an_hour = 3_600_000;
        let wall = |elapsed| if elapsed < 2_000 { elapsed } else { an_hour };
        assert_eq!(time_slept(wall, an_hour).await, 2_000);
    }

    #[tokio::test]
    async fn a_clock_set_back_prolongs_the_sleep() {
        let wall = |elapsed| elapsed - if elapsed < 2_000 { 0 } else { 10_000 };
        assert_eq!(time_slept(wall, 3_000).await, 13_000);
    }
}
