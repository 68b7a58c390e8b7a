//! An operation of CloudFormation, followed by a run to its end.
//!
//! What is seen goes into the run's journal under the event's own id, so a run that is taken up
//! again looks from the beginning of the operation and tells nothing twice. Nothing here is a
//! step: looking changes nothing.

use std::time::Duration;

use futures::future::{Either, select};
use serde_json::json;
use windlass_engine::run::{Entry, RunContext, RunError};
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::access::{Pacing, Pause};
use windlass_stack_lifecycle::follow::{Trail, look};
use windlass_types::{Problem, Timestamp, code};

use super::{credentials, report};
use crate::fault;

/// No operation of CloudFormation is followed for longer.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Follows to the end. Expired credentials make the run wait for new ones.
pub(crate) async fn follow(
    context: &dyn RunContext,
    access: &Access,
    mut trail: Trail,
) -> Result<Trail, RunError> {
    let deadline = context.created_at().after(LONGEST);
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
        let pause = interruptible(context, access.pause(&mut pacing, deadline)).await?;
        if pause == Pause::TooLate {
            return Err(too_late(&trail, deadline).into());
        }
    }
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
            "{} is still {} at {} %; AWS goes on with it",
            trail.stack_id, trail.stack_status, trail.percent
        ),
    )
    .with("reason", "deadline_passed")
    .with("stackId", trail.stack_id.as_str())
    .with("deadline", json!(deadline))
}
