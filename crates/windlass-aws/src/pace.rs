//! When to retry, and how fast to continue after AWS said "slow down".
//!
//! Retries wait exponentially with full jitter. In addition every service has a pace: a
//! throttled answer doubles the pause before each further call to it, a good one shrinks it.
//! Pure: time and randomness come in.

use std::time::Duration;

use windlass_types::retry::Backoff;

const FIRST: Duration = Duration::from_millis(100);
const FIRST_THROTTLED: Duration = Duration::from_millis(1_000);
const LONGEST: Duration = Duration::from_secs(20);
const PACE_STEP: Duration = Duration::from_millis(50);
const PACE_LONGEST: Duration = Duration::from_secs(5);

/// How long to wait before the next try. `attempt` is how many were made, `random` is uniform.
pub(crate) fn wait(
    attempt: u32,
    throttled: bool,
    retry_after: Option<Duration>,
    random: u64,
) -> Duration {
    let first = if throttled { FIRST_THROTTLED } else { FIRST };
    let backoff = Backoff {
        first,
        longest: LONGEST,
    };
    let jittered = backoff.jittered(attempt, random);
    jittered.max(retry_after.unwrap_or_default().min(LONGEST))
}

/// The pause before calls to one service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pace(Duration);

impl Pace {
    pub(crate) const fn pause(self) -> Duration {
        self.0
    }

    pub(crate) fn after_throttle(self) -> Self {
        Self((self.0 * 2).clamp(PACE_STEP, PACE_LONGEST))
    }

    pub(crate) fn after_success(self) -> Self {
        let eased = self.0 * 4 / 5;
        Self(if eased < PACE_STEP / 4 {
            Duration::ZERO
        } else {
            eased
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_start_anywhere_below_it() {
        let cases = [
            (1, false, 100),
            (3, false, 400),
            (12, false, 20_000),
            (1, true, 1_000),
            (9, true, 20_000),
        ];
        for (attempt, throttled, limit) in cases {
            assert_eq!(
                wait(attempt, throttled, None, limit),
                Duration::from_millis(limit)
            );
            assert_eq!(wait(attempt, throttled, None, limit + 1), Duration::ZERO);
        }
        let asked = Some(Duration::from_secs(3));
        assert_eq!(wait(1, false, asked, 0), Duration::from_secs(3));
    }

    #[test]
    fn a_service_is_called_slower_after_throttling_and_at_full_speed_again_later() {
        let mut pace = Pace::default();
        for _ in 0..20 {
            pace = pace.after_throttle();
        }
        assert_eq!(pace.pause(), PACE_LONGEST);
        for _ in 0..40 {
            pace = pace.after_success();
        }
        assert_eq!(pace.pause(), Duration::ZERO);
    }
}
