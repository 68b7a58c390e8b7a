//! What becomes of a delivery after an attempt: a pure decision.

use std::time::Duration;

use windlass_ports::{OutboundError, OutboundResponse};
use windlass_types::{Timestamp, journal::DeliveryVerdict, retry};

const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);
/// The least pause for a receiver that has too much to do.
const BREATH: Duration = Duration::from_secs(5);

/// The pauses after the first, second, … failed attempt. When they are used up, it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(pub Vec<Duration>);

impl Default for Schedule {
    /// Once more at once, then further and further apart for about three days.
    fn default() -> Self {
        Self(
            [
                0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
            ]
            .map(Duration::from_secs)
            .to_vec(),
        )
    }
}

impl Schedule {
    /// The pause after the `attempt`-th failure, a tenth shorter to a tenth longer so that a
    /// receiver that comes back is not met by everybody at once. `chance` is uniform in 0..=255.
    fn pause(&self, attempt: u32, chance: u8) -> Option<Duration> {
        let pause = *self.0.get(usize::try_from(attempt).ok()?.checked_sub(1)?)?;
        Some(pause.mul_f64(0.9 + 0.2 * f64::from(chance) / 255.0))
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
    /// Whether the receiver has too much to do, so that nothing else is sent to it either until
    /// this is tried again.
    pub slow_down: bool,
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
                status => {
                    let least = if is_overload(status) {
                        BREATH
                    } else {
                        Duration::ZERO
                    };
                    (
                        retry(retry_after(response, now).max(least)),
                        Some(format!("the receiver answered {status}")),
                    )
                }
            };
            Judgement {
                verdict,
                status: Some(response.status),
                error,
                disable_endpoint: response.status == 410,
                slow_down: is_overload(response.status),
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
                slow_down: false,
            }
        }
    }
}

/// Too many requests, or a proxy whose server does not keep up.
const fn is_overload(status: u16) -> bool {
    matches!(status, 429 | 502 | 504)
}

/// How long the receiver asks to be left alone, said in seconds or as a date.
fn retry_after(response: &OutboundResponse, now: Timestamp) -> Duration {
    let asked = response.header("retry-after");
    let wait = asked.and_then(|value| retry::retry_after(value, now));
    wait.unwrap_or_default().min(LONGEST_RETRY_AFTER)
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
            address: None,
        })
    }

    #[test]
    fn outcomes_as_a_table() {
        let cases = [
            (answer(200, &[]), 1),
            (answer(204, &[]), 3),
            (answer(500, &[]), 1),
            (answer(500, &[]), 2),
            (answer(500, &[]), 3),
            (answer(500, &[]), 10),
            (answer(500, &[]), 11),
            (answer(502, &[]), 1),
            (answer(503, &[("Retry-After", "40")]), 1),
            (answer(429, &[("Retry-After", "120")]), 1),
            (answer(429, &[("Retry-After", "999999999")]), 1),
            (
                answer(429, &[("Retry-After", "Thu, 01 Jan 1970 00:02:00 GMT")]),
                1,
            ),
            (answer(429, &[("Retry-After", "soon")]), 1),
            (answer(302, &[("Location", "http://169.254.169.254/")]), 1),
            (answer(410, &[]), 1),
            (Err(OutboundError::Unreachable("refused".into())), 1),
            (Err(OutboundError::Forbidden("private".into())), 1),
        ];
        let schedule = Schedule::default();
        let shown: Vec<String> = cases
            .iter()
            .map(|(outcome, attempt)| {
                // Half of all chances: the pause as it stands in the schedule, give or take little.
                let judged = judge(outcome, *attempt, Timestamp::EPOCH, &schedule, 128);
                let verdict = match judged.verdict {
                    DeliveryVerdict::Retry { due_at } => {
                        format!("again in {} s", due_at.as_seconds())
                    }
                    other => format!("{other:?}"),
                };
                let notes = [
                    (judged.disable_endpoint, ", endpoint disabled"),
                    (judged.slow_down, ", slowed down"),
                ];
                let notes = notes.iter().filter(|(is, _)| *is).map(|(_, note)| *note);
                let status = judged
                    .status
                    .map_or_else(String::new, |status| status.to_string());
                format!(
                    "attempt {attempt} {status} → {verdict}{}",
                    notes.collect::<String>()
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @"
        attempt 1 200 → Delivered
        attempt 3 204 → Delivered
        attempt 1 500 → again in 0 s
        attempt 2 500 → again in 5 s
        attempt 3 500 → again in 300 s
        attempt 10 500 → again in 86433 s
        attempt 11 500 → Dead
        attempt 1 502 → again in 5 s, slowed down
        attempt 1 503 → again in 40 s
        attempt 1 429 → again in 120 s, slowed down
        attempt 1 429 → again in 86400 s, slowed down
        attempt 1 429 → again in 120 s, slowed down
        attempt 1 429 → again in 5 s, slowed down
        attempt 1 302 → again in 0 s
        attempt 1 410 → Dead, endpoint disabled
        attempt 1  → again in 0 s
        attempt 1  → Dead
        ");
    }

    #[test]
    fn pauses_are_spread_by_a_tenth_to_either_side() {
        let schedule = Schedule::default();
        let pauses = |chance: u8| -> Vec<u64> {
            (1..=11)
                .filter_map(|attempt| schedule.pause(attempt, chance))
                .map(|pause| pause.as_secs())
                .collect()
        };
        assert_eq!(
            pauses(0),
            [
                0, 4, 270, 1620, 6480, 16_200, 32_400, 45_360, 64_800, 77_760
            ]
        );
        assert_eq!(
            pauses(255),
            [
                0, 5, 330, 1980, 7920, 19_800, 39_600, 55_440, 79_200, 95_040
            ]
        );
        let days = pauses(128).iter().sum::<u64>() as f64 / 86_400.0;
        assert!((3.1..3.2).contains(&days), "{days}");
    }
}
