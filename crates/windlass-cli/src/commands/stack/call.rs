//! Calling operations: until they answer, or by following the run they work in.

use std::{future::Future, time::Duration};

use serde_json::Value;
use windlass_types::{Problem, RunId, code};

use super::{
    arguments::Request,
    event_lines::{Reader, StackLines},
};
use crate::{
    flow::{Driving, Follow},
    output::Mode,
    session::Session,
};

/// What a run of an operation may take unless the caller says otherwise.
fn patience(operation: &str) -> Duration {
    match operation {
        "stack.preview_changes" => Duration::from_secs(5 * 60),
        _ => Duration::from_secs(60 * 60),
    }
}

/// Waits for something that may be dropped at any moment.
async fn until_interrupted<T>(
    session: &Session,
    work: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    tokio::select! {
        outcome = work => outcome,
        () = session.interrupt.wait() => Err(Problem::new(&code::INTERRUPTED, "interrupted")
            .with("reason", "interrupted")
            .next("windlass runs list")),
    }
}

/// Calls an operation and gives its answer. Where it works in a run, the run is followed.
pub(super) async fn call(session: &Session, request: Request) -> Result<Value, Problem> {
    let mut driving = Driving::new(session.engine());
    let outcome = followed(session, request, &mut driving).await;
    driving.stop().await;
    outcome
}

async fn followed(
    session: &Session,
    request: Request,
    driving: &mut Driving<'_>,
) -> Result<Value, Problem> {
    let Request { operation, input } = request;
    let limit = input
        .get("timeoutSeconds")
        .and_then(Value::as_u64)
        .map_or_else(|| patience(operation), Duration::from_secs);
    if input.get("wait") == Some(&Value::Bool(false)) {
        let called = session.call(operation, input);
        return Ok(until_interrupted(session, called).await?.output);
    }
    let called = session.call_deferring(operation, input);
    let answer = until_interrupted(session, called).await?;
    let (Some(ticket), Some(run_id)) = (answer.ticket, answer.run_id) else {
        return Ok(answer.output);
    };
    let engine = session.engine();
    let deadline = engine.now().after(limit);
    let follow = Follow {
        lines: Box::new(StackLines::new(reader(session))),
        goes_on_unread: true,
        ..Follow::new(&run_id)
    };
    let rested = tokio::select! {
        followed = follow.run_with(session, driving) => followed,
        () = engine.clock.sleep_until(deadline) => Err(too_late(&run_id, limit)),
    };
    rested.map_err(|problem| named(problem, &run_id))?;
    let settled = session.settled(operation, &ticket).await?;
    let answer = settled.ok_or_else(|| {
        Problem::internal(operation, "the run rests and has no answer")
            .with("runId", run_id.as_str())
    })?;
    Ok(answer.output)
}

/// Who reads the lines.
fn reader(session: &Session) -> Reader {
    match session.printer.mode() {
        Mode::Human if session.printer.animates() => Reader::Screen,
        Mode::Human => Reader::Lines,
        Mode::Json | Mode::Agent => Reader::Stream,
    }
}

fn too_late(run_id: &RunId, limit: Duration) -> Problem {
    Problem::new(
        &code::TIMEOUT,
        format!(
            "not done after {} seconds; run {run_id} is not cancelled",
            limit.as_secs()
        ),
    )
    .with("reason", "timeout")
    .with("timeoutSeconds", limit.as_secs())
    .next(format!("windlass runs resume {run_id}"))
    .next(format!("windlass runs cancel {run_id}"))
}

/// The contract spells the run's id its own way.
fn named(problem: Problem, run_id: &RunId) -> Problem {
    let problem = problem.with("runId", run_id.as_str());
    if problem.code() == &code::INTERRUPTED {
        return problem.with("reason", "interrupted");
    }
    problem
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
