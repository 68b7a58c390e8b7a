//! An operation of CloudFormation, followed by a run to its end.
//!
//! What is seen goes into the run's journal under the event's own id, so a run that is taken up
//! again looks from the beginning of the operation and tells nothing twice. Nothing here is a
//! step: looking changes nothing.

use std::time::Duration;

use futures::future::{Either, select};
use serde_json::json;
use windlass_engine::run::{Entry, RunContext, RunError};
use windlass_ports::Clock;
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::access::{Pacing, Pause};
use windlass_stack_lifecycle::follow::{Trail, look};
use windlass_types::{Passing, Problem, Timestamp, code};

use super::{credentials, report};
use crate::desk::Desk;
use crate::fault;

/// No operation of CloudFormation is followed for longer.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Those who watch hear at least so often that the run still waits.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// So often it is put on record.
const RECORDED: Duration = Duration::from_secs(60);

/// Follows to the end. Expired credentials make the run wait for new ones.
pub(crate) async fn follow(
    context: &dyn RunContext,
    desk: &Desk,
    access: &Access,
    mut trail: Trail,
) -> Result<Trail, RunError> {
    let deadline = context.created_at().after(LONGEST);
    let mut quiet = Quiet::new(access.clock.now());
    let mut pacing = Pacing::default();
    let mut tries = 0;
    loop {
        let found = interruptible(context, look(access, &trail)).await?;
        match found {
            Ok(found) => {
                let is_new = !found.events.is_empty();
                // Each event is told with the progress that it made, not its neighbours'.
                let mut at = trail;
                let mut entries: Vec<Entry> = Vec::new();
                for event in &found.events {
                    at.take(vec![event.clone()]);
                    entries.extend(report::entries(event, &at));
                }
                trail = found.trail;
                context.record(entries).await?;
                if is_new {
                    pacing.reset();
                    quiet = Quiet::new(access.clock.now());
                }
            }
            Err(fault) if fault.is_transient() => {}
            Err(fault) if fault.is_expired() => {
                credentials::wait(context, &fault.message, tries).await?;
                tries += 1;
            }
            Err(fault) => return Err(fault::problem(fault).into()),
        }
        if trail.ended.is_some() {
            return Ok(trail);
        }
        let mut pause = Box::pin(access.pause(&mut pacing, deadline));
        let pause = loop {
            let sign = quiet.sign(&*access.clock, &mut pause);
            match interruptible(context, sign).await? {
                Ok(pause) => break pause,
                Err((time, place)) => say(context, desk, &trail, time, place).await?,
            }
        };
        if pause == Pause::TooLate {
            return Err(too_late(&trail, deadline).into());
        }
    }
}

/// A time without news.
struct Quiet {
    /// When the last news came.
    since: Timestamp,
    /// When something was last said about it.
    said: Timestamp,
    /// When that was last put on record.
    recorded: Timestamp,
}

/// Where a sign of life goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// To those who watch now.
    Passing,
    /// Into the journal.
    Journal,
}

impl Quiet {
    fn new(since: Timestamp) -> Self {
        Self {
            since,
            said: since,
            recorded: since,
        }
    }

    /// Waits for a work, or until something should be said: `None`, with the time since the last
    /// news and where it goes.
    async fn sign<T>(
        &mut self,
        clock: &dyn Clock,
        work: &mut (impl Future<Output = T> + Unpin),
    ) -> Result<T, (Duration, Place)> {
        let next = clock.sleep_until(self.said.after(SIGN_OF_LIFE));
        if let Either::Left((done, _)) = select(work, next).await {
            return Ok(done);
        }
        let now = clock.now();
        self.said = now;
        let place = match now >= self.recorded.after(RECORDED) {
            true => Place::Journal,
            false => Place::Passing,
        };
        if place == Place::Journal {
            self.recorded = now;
        }
        Err((now.since(self.since), place))
    }
}

/// Says that the run still waits.
async fn say(
    context: &dyn RunContext,
    desk: &Desk,
    trail: &Trail,
    time: Duration,
    place: Place,
) -> Result<(), RunError> {
    let message = waiting(trail, time);
    if place == Place::Journal {
        return report::progress(context, trail.phase(), &message, Some(trail.percent)).await;
    }
    let what = Passing::Progress {
        done: trail.percent.into(),
        total: None,
        message,
    };
    desk.engine.pass(context.run_id(), trail.phase(), what);
    Ok(())
}

/// What is waited for, and for how long.
fn waiting(trail: &Trail, time: Duration) -> String {
    let state = match trail.stack_status.as_str() {
        "" => "has not started yet",
        status => status,
    };
    let name = trail.stack_id.split('/').nth(1).unwrap_or(&trail.stack_id);
    let finished = trail.finished.len();
    let planned = trail.planned.len();
    format!(
        "Waiting for {name} ({state}, {finished} of {planned} resources): no news for {} s",
        time.as_secs()
    )
}

async fn interruptible<T>(
    context: &dyn RunContext,
    work: impl Future<Output = T>,
) -> Result<T, RunError> {
    match select(Box::pin(work), context.interrupted()).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right((stop, _)) => Err(stop),
    }
}

fn too_late(trail: &Trail, deadline: Timestamp) -> Problem {
    Problem::new(
        &code::TIMEOUT,
        format!(
            "{} is still {} at {} %; AWS continues with it",
            trail.stack_id, trail.stack_status, trail.percent
        ),
    )
    .with("reason", "deadline_passed")
    .with("stackId", trail.stack_id.as_str())
    .with("deadline", json!(deadline))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::task::Poll;

    use windlass_ports::BoxFuture;
    use windlass_stack_lifecycle::status::Operation;

    use super::*;

    /// Waiting takes no time; the hands of the clock move.
    struct Hands(Mutex<Timestamp>);

    impl Clock for Hands {
        fn now(&self) -> Timestamp {
            *self.0.lock().unwrap()
        }

        fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
            *self.0.lock().unwrap() = deadline;
            Box::pin(async {})
        }
    }

    #[tokio::test]
    async fn signs_of_life_come_every_five_seconds_and_on_record_every_minute() {
        let clock = Hands(Mutex::new(Timestamp::EPOCH));
        let mut quiet = Quiet::new(clock.now());
        let mut said = Vec::new();
        for signs in [9, 2, 30] {
            let mut left = signs;
            let mut work = futures::future::poll_fn(|_| {
                left -= 1;
                if left < 0 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            });
            while let Err((time, place)) = quiet.sign(&clock, &mut work).await {
                said.push((time.as_secs(), place));
            }
        }
        assert!(said.iter().map(|(time, _)| *time).is_sorted());
        let recorded: Vec<u64> = said
            .iter()
            .filter(|(_, place)| *place == Place::Journal)
            .map(|(time, _)| *time)
            .collect();
        assert_eq!((said.len(), recorded), (41, vec![60, 120, 180]));
    }

    #[test]
    fn waiting_names_the_stack_its_status_and_how_long() {
        let stack = "arn:aws:cloudformation:eu-west-1:1:stack/shop-dev/1";
        let planned = ["A", "B"].map(str::to_owned);
        let mut trail = Trail::new(stack, "run-1", Operation::Deploy, planned, None);
        insta::assert_snapshot!(
            waiting(&trail, Duration::from_secs(5)),
            @"Waiting for shop-dev (has not started yet, 0 of 2 resources): no news for 5 s"
        );
        trail.stack_status = "UPDATE_IN_PROGRESS".to_owned();
        trail.finished.insert("A".to_owned());
        insta::assert_snapshot!(
            waiting(&trail, Duration::from_secs(65)),
            @"Waiting for shop-dev (UPDATE_IN_PROGRESS, 1 of 2 resources): no news for 65 s"
        );
    }
}
