//! The sliding minute, call by call.

use proptest::prelude::*;

use super::*;

const TIER: Tier = Tier {
    per_minute: 3,
    concurrency: 2,
    concurrent_jobs: None,
    jobs_per_hour: None,
};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[test]
fn the_window_slides() {
    let limits = Limits::default();
    let mut lines = Vec::new();
    for millis in [
        0, 20_000, 20_500, 30_500, 59_999, 60_000, 60_001, 80_000, 80_499, 80_500,
    ] {
        let line = match limits.admit("a", TIER, at(millis)) {
            Ok(permit) => {
                let status = permit.status();
                format!(
                    "{} left, reset {} in {}",
                    status.remaining,
                    status.reset_seconds(),
                    status.wait_seconds(at(millis))
                )
            }
            Err(refused) => format!(
                "refused, reset {} in {}",
                refused.status.reset_seconds(),
                refused.retry_after.as_secs()
            ),
        };
        lines.push(format!("{millis:>5}: {line}"));
    }
    insta::assert_snapshot!(lines.join("\n"), @"
        0: 2 left, reset 60 in 60
    20000: 1 left, reset 60 in 40
    20500: 0 left, reset 60 in 40
    30500: refused, reset 60 in 30
    59999: refused, reset 60 in 1
    60000: 0 left, reset 80 in 20
    60001: refused, reset 80 in 20
    80000: 0 left, reset 81 in 1
    80499: refused, reset 81 in 1
    80500: 0 left, reset 120 in 40
    ");
    assert!(limits.admit("b", TIER, at(80_500)).is_ok());
}

#[test]
fn holds_calls_at_once() {
    let limits = Limits::default();
    let first = limits.admit("a", TIER, at(0)).unwrap();
    let _second = limits.admit("a", TIER, at(0)).unwrap();
    let refused = limits.admit("a", TIER, at(0)).unwrap_err();
    assert_eq!(refused.problem.details()["limit"], "requests");
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

#[test]
fn nothing_is_remembered_of_callers_without_a_limit() {
    let limits = Limits::default();
    let tier = Tier {
        per_minute: u32::MAX,
        ..TIER
    };
    for _ in 0..10 {
        let permit = limits.admit("local", tier, at(5)).unwrap();
        assert_eq!(permit.status().remaining, u32::MAX);
    }
    assert!(limits.callers.lock().unwrap()["local"].calls.is_empty());
}

proptest! {
    /// In no sixty seconds are more calls let in than the tier has, and who waits as long as the
    /// refusal says is let in.
    #[test]
    fn no_minute_has_more_than_the_limit(pauses in prop::collection::vec(0i64..40_000, 1..60)) {
        let limits = Limits::default();
        let mut now = 1_750_000_000_000;
        let mut made: Vec<i64> = Vec::new();
        for pause in pauses {
            now += pause;
            match limits.admit("a", TIER, at(now)) {
                Ok(_) => made.push(now),
                Err(refused) => {
                    now += i64::try_from(refused.retry_after.as_millis()).unwrap();
                    prop_assert!(limits.admit("a", TIER, at(now)).is_ok());
                    made.push(now);
                }
            }
        }
        for (index, start) in made.iter().enumerate() {
            let within = made[index..].iter().filter(|call| *call - start < 60_000).count();
            prop_assert!(within <= 3, "{:?}", made);
        }
    }
}
