//! What every function here acts through: AWS, a clock, randomness; and how polls are paced.

use std::sync::Arc;
use std::time::Duration;

use windlass_ports::aws::{AwsFailure, Cloud, Target};
use windlass_ports::{Clock, Entropy, entropy};
use windlass_types::Timestamp;

/// The shortest pause between two polls.
pub const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// So often a call is repeated that broke a server without a reason.
pub const MOST_UNEXPLAINED: u32 = 4;

/// AWS in one account and region, with the clock that waits are made on.
#[derive(Clone)]
pub struct Access {
    /// AWS.
    pub cloud: Arc<dyn Cloud>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Jitter.
    pub entropy: Arc<dyn Entropy>,
    /// Credentials and region.
    pub target: Target,
}

/// Whether there is time to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The pause is over.
    Over,
    /// The deadline has passed.
    TooLate,
}

impl Access {
    /// Waits before the next poll, never past the deadline.
    pub async fn pause(&self, pacing: &mut Pacing, deadline: Timestamp) -> Pause {
        let now = self.clock.now();
        if now >= deadline {
            return Pause::TooLate;
        }
        let random = u64::from_le_bytes(entropy::random(&*self.entropy));
        let wake = now.after(pacing.next(random)).min(deadline);
        self.clock.sleep_until(wake).await;
        Pause::Over
    }

    /// Repeats a call that is safe to repeat while it fails for reasons that pass by themselves,
    /// up to the deadline; a server that breaks down without a reason is asked a few times only.
    pub async fn patiently<T, F>(
        &self,
        deadline: Timestamp,
        mut call: impl FnMut() -> F,
    ) -> Result<T, AwsFailure>
    where
        F: Future<Output = Result<T, AwsFailure>>,
    {
        let mut pacing = Pacing::default();
        let mut unexplained = 0;
        loop {
            match call().await {
                Err(failure) if failure.is_transient() => {
                    unexplained += u32::from(failure.is_unexplained());
                    if unexplained > MOST_UNEXPLAINED {
                        return Err(failure);
                    }
                    if self.pause(&mut pacing, deadline).await == Pause::TooLate {
                        return Err(failure);
                    }
                }
                other => return other,
            }
        }
    }
}

/// How long to wait: 2 s, growing to 10 s, with a fifth of jitter; from the start again when
/// something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing(Duration);

impl Default for Pacing {
    fn default() -> Self {
        Self(FIRST_PAUSE)
    }
}

impl Pacing {
    /// The next pause; `random` is uniform.
    pub fn next(&mut self, random: u64) -> Duration {
        let base = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let spread = base / 5;
        let jittered = base - spread / 2 + random % (spread + 1);
        self.0 = (self.0 * 5 / 4).min(LONGEST_PAUSE);
        Duration::from_millis(jittered)
    }

    /// Something happened: look again soon.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_two_to_ten_seconds_with_jitter() {
        let mut pacing = Pacing::default();
        let pauses: Vec<u128> = (0..10).map(|_| pacing.next(0).as_millis()).collect();
        assert_eq!(pauses[0], 1_800);
        assert_eq!(*pauses.last().unwrap(), 9_000);
        assert!(pauses.is_sorted());
        assert_eq!(pacing.next(2_000).as_millis(), 11_000);
        pacing.reset();
        assert_eq!(pacing.next(200).as_millis(), 2_000);
    }
}
