//! Calling operations: until they answer, or by following the run they work in.

use serde_json::Value;
use windlass_engine::operation::Begun;
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
    let called = driving.call(session, session.begin(operation, input));
    let pending = match called.await.map_err(explained)? {
        Begun::Answered(answer) => return Ok(answer.output),
        Begun::Pending(pending) => pending,
    };
    let run_id = pending.awaited.run_id.clone();
    let follow = Follow {
        lines: Box::new(StackLines::new(reader(session))),
        goes_on_unread: true,
        ..Follow::new(&run_id)
    };
    let answer = follow.during(session, driving, session.wait(pending)).await;
    Ok(answer.map_err(|problem| named(problem, &run_id))?.output)
}

/// Who reads the lines.
fn reader(session: &Session) -> Reader {
    match session.printer.mode() {
        Mode::Human if session.printer.animates() => Reader::Screen,
        Mode::Human => Reader::Lines,
        Mode::Json | Mode::Agent => Reader::Stream,
    }
}

/// The contract spells the run's id its own way.
fn named(problem: Problem, run_id: &RunId) -> Problem {
    explained(problem.with("runId", run_id.as_str()))
}

/// The contract wants a reason.
fn explained(problem: Problem) -> Problem {
    if problem.code() == &code::INTERRUPTED {
        return problem.with("reason", "interrupted");
    }
    problem
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
