//! What becomes of a delivery after an attempt: a pure decision.

use std::time::Duration;

use windlass_ports::{OutboundError, OutboundResponse};
use windlass_types::{Timestamp, journal::DeliveryVerdict};

const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);

/// The pauses after the first, second, … failed attempt. When they are used up, it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(pub Vec<Duration>);

impl Default for Schedule {
    /// Ten attempts over about three days.
    fn default() -> Self {
        Self(
            [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
                .map(Duration::from_secs)
                .to_vec(),
        )
    }
}

impl Schedule {
    /// The pause after the `attempt`-th failure, spread by up to a fifth so that a receiver that
    /// comes back is not met by everybody at once. `chance` is uniform in 0..=255.
    fn pause(&self, attempt: u32, chance: u8) -> Option<Duration> {
        let pause = *self.0.get(usize::try_from(attempt).ok()?.checked_sub(1)?)?;
        Some(pause.mul_f64(1.0 + 0.2 * f64::from(chance) / 255.0))
    }
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What becomes of the delivery.
    pub verdict: DeliveryVerdict,
    /// The answer's status.
    pub status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// Whether the receiver said that it is gone for good.
    pub disable_endpoint: bool,
}

/// Decides, given the outcome of the `attempt`-th try.
pub fn judge(
    outcome: &Result<OutboundResponse, OutboundError>,
    attempt: u32,
    now: Timestamp,
    schedule: &Schedule,
    chance: u8,
) -> Judgement {
    let retry = |at_least: Duration| match schedule.pause(attempt, chance) {
        Some(pause) => DeliveryVerdict::Retry {
            due_at: now.after(pause.max(at_least)),
        },
        None => DeliveryVerdict::Dead,
    };
    match outcome {
        Ok(response) => {
            let (verdict, error) = match response.status {
                200..=299 => (DeliveryVerdict::Delivered, None),
                410 => (
                    DeliveryVerdict::Dead,
                    Some("the receiver is gone (410)".to_owned()),
                ),
                300..=399 => (
                    retry(Duration::ZERO),
                    Some("redirects are not followed".to_owned()),
                ),
                status => (
                    retry(retry_after(response)),
                    Some(format!("the receiver answered {status}")),
                ),
            };
            Judgement {
                verdict,
                status: Some(response.status),
                error,
                disable_endpoint: response.status == 410,
            }
        }
        Err(error) => {
            let verdict = match error {
                OutboundError::Unreachable(_)
                | OutboundError::TimedOut(_)
                | OutboundError::TooLarge(_) => retry(Duration::ZERO),
                OutboundError::Forbidden(_) | OutboundError::InvalidUrl(_) => DeliveryVerdict::Dead,
            };
            Judgement {
                verdict,
                status: None,
                error: Some(error.to_string()),
                disable_endpoint: false,
            }
        }
    }
}

/// Seconds the receiver asked for; dates in the header are left to the schedule.
fn retry_after(response: &OutboundResponse) -> Duration {
    response
        .header("retry-after")
        .and_then(|value| value.trim().parse().ok())
        .map_or(Duration::ZERO, Duration::from_secs)
        .min(LONGEST_RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)]) -> Result<OutboundResponse, OutboundError> {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Ok(OutboundResponse {
            status,
            headers,
            body: Vec::new(),
        })
    }

    #[test]
    fn outcomes_as_a_table() {
        let cases = [
            (answer(200, &[]), 1),
            (answer(204, &[]), 3),
            (answer(500, &[]), 1),
            (answer(500, &[]), 2),
            (answer(500, &[]), 10),
            (answer(429, &[("Retry-After", "120")]), 1),
            (answer(429, &[("Retry-After", "999999999")]), 1),
            (
                answer(429, &[("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")]),
                1,
            ),
            (answer(302, &[("Location", "http://169.254.169.254/")]), 1),
            (answer(410, &[]), 1),
            (Err(OutboundError::Unreachable("refused".into())), 1),
            (Err(OutboundError::Forbidden("private".into())), 1),
        ];
        let schedule = Schedule::default();
        let shown: Vec<String> = cases
            .iter()
            .map(|(outcome, attempt)| {
                let judged = judge(outcome, *attempt, Timestamp::EPOCH, &schedule, 0);
                format!(
                    "attempt {attempt} {:?} → {:?}{}",
                    judged.status,
                    judged.verdict,
                    if judged.disable_endpoint {
                        ", endpoint disabled"
                    } else {
                        ""
                    }
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        attempt 1 Some(200) → Delivered
        attempt 3 Some(204) → Delivered
        attempt 1 Some(500) → Retry { due_at: Timestamp(5000) }
        attempt 2 Some(500) → Retry { due_at: Timestamp(300000) }
        attempt 10 Some(500) → Dead
        attempt 1 Some(429) → Retry { due_at: Timestamp(120000) }
        attempt 1 Some(429) → Retry { due_at: Timestamp(86400000) }
        attempt 1 Some(429) → Retry { due_at: Timestamp(5000) }
        attempt 1 Some(302) → Retry { due_at: Timestamp(5000) }
        attempt 1 Some(410) → Dead, endpoint disabled
        attempt 1 None → Retry { due_at: Timestamp(5000) }
        attempt 1 None → Dead
        ");
    }
}
