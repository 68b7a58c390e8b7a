//! One operation per stack: a run says which stack it works on and yields to one that said so
//! before.
//!
//! Every run puts its claim on record before it looks for others, so of two at once at least the
//! later one sees the other. It waits a moment, because what is left of an interrupted run may be
//! short. Operations of other homes are seen by the state of the stack itself.

use std::time::Duration;

use serde_json::json;
use windlass_engine::run::{Entry, RunContext, RunError, Step};
use windlass_ports::RunFilter;
use windlass_types::{Body, Problem, RunId, RunState, Timestamp, code};

use super::Kind;
use crate::desk::Desk;

/// The event that is a claim.
const CLAIM: &str = "stack.claim";
/// Runs that may be at work.
const ACTIVE: [RunState; 4] = [
    RunState::Queued,
    RunState::Running,
    RunState::Waiting,
    RunState::Unwinding,
];
/// How long a run waits for another one to end, and how often it looks.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);
/// More runs at work than this are not looked at.
const MOST: usize = 1_000;

/// Claims a stack, or names the run that has it.
pub(super) async fn claim(
    context: &dyn RunContext,
    desk: &Desk,
    region: &str,
    stack: &str,
) -> Result<(), RunError> {
    let place = format!("{region}/{stack}");
    context
        .record(vec![Entry::Event {
            key: "claim".to_owned(),
            name: CLAIM.to_owned(),
            data: json!({ "place": place }),
        }])
        .await?;
    let own = context.run_id();
    let _: bool = Step::pure("claim")
        .run(context, async |_| {
            let deadline = desk.engine.now().after(TIMEOUT);
            while let Some(other) = earlier(desk, own, &place).await? {
                let now = desk.engine.now();
                if now >= deadline {
                    return Err(busy(stack, &other));
                }
                desk.engine.clock.sleep_until(now.after(PAUSE)).await;
            }
            Ok(true)
        })
        .await?;
    Ok(())
}

/// The run that claimed the place before this one and has not released it.
async fn earlier(desk: &Desk, own: &RunId, place: &str) -> Result<Option<RunId>, Problem> {
    let Some(since) = claimed(desk, own, place).await? else {
        return Err(Problem::internal("stack", "the claim is not on record"));
    };
    for kind in [Kind::Deploy, Kind::Rollback, Kind::Delete] {
        let filter = RunFilter {
            kind: Some(kind.name().to_owned()),
            states: ACTIVE.to_vec(),
            limit: MOST,
            ..RunFilter::default()
        };
        for run in desk.engine.store.runs(filter).await?.runs {
            if run.run_id == *own {
                continue;
            }
            let theirs = claimed(desk, &run.run_id, place).await?;
            if theirs.is_some_and(|at| (at, &run.run_id) < (since, own)) {
                return Ok(Some(run.run_id));
            }
        }
    }
    Ok(None)
}

/// When a run claimed a place.
async fn claimed(desk: &Desk, run_id: &RunId, place: &str) -> Result<Option<Timestamp>, Problem> {
    const PAGE: usize = 2_000;
    let mut after = 0;
    loop {
        let events = desk.engine.store.events(run_id, after, PAGE).await?;
        for event in &events {
            after = event.seq;
            if let Ok(Some(Body::Domain(name, told))) =
                Body::decode(&event.event_type, &event.payload)
                && name == CLAIM
            {
                return Ok((told.data["place"] == place).then_some(event.time));
            }
        }
        if events.len() < PAGE {
            return Ok(None);
        }
    }
}

fn busy(stack: &str, other: &RunId) -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        format!("{other} is changing the stack {stack}; only one operation can run at a time"),
    )
    .with("reason", "stack_busy")
    .with("stackName", stack)
    .with("otherRunId", other.as_str())
    .next(format!("windlass runs watch {other}"))
    .next(format!("windlass runs cancel {other}"))
}
