//! Every call about a run is on the run's record: what was asked, and what came of it.

use std::future::Future;

use serde_json::{Value, json};
use windlass_engine::{envelope::Envelope, operation::CallContext};
use windlass_types::{Digest, Problem, RunId, journal::DomainEvent};

use super::Desk;
use crate::event;

/// When the record of a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tracing {
    /// Before and after, each for itself: the call may take long.
    AsItHappens,
    /// Together and behind the answer's back: a look at a run is not slowed down by its record.
    Afterwards,
}

/// Answers a call and puts it on the record of its run.
pub(super) async fn traced<T, Fut>(
    desk: &Desk,
    context: &CallContext,
    tool: &'static str,
    run_id: &RunId,
    tracing: Tracing,
    answer: Fut,
) -> Result<T, Problem>
where
    Fut: Future<Output = Result<T, Problem>>,
{
    // A run the caller may not see gets no trace of them.
    desk.record(context, run_id).await?;
    let input_hash = Digest::of_json(&json!({ "run_id": run_id }));
    let called = note(
        context,
        event::TOOL_CALLED,
        json!({ "tool": tool, "input_hash": input_hash, "principal": context.principal.id() }),
    );
    let mut notes = Vec::new();
    match tracing {
        Tracing::AsItHappens => {
            let engine = &desk.engine;
            engine.note(run_id, context.span_id(), vec![called]).await?;
        }
        Tracing::Afterwards => notes.push(called),
    }
    let answered = answer.await.map_err(|problem| with_run(problem, run_id));
    let code = match &answered {
        Ok(_) => "OK",
        Err(problem) => Envelope::Launch.code_name(problem.code()),
    };
    notes.push(note(
        context,
        event::TOOL_RETURNED,
        json!({ "tool": tool, "code": code }),
    ));
    let (engine, run_id) = (desk.engine.clone(), run_id.clone());
    let span = context.span_id();
    let record = async move {
        if let Err(error) = engine.note(&run_id, span, notes).await {
            tracing::warn!(%run_id, %error, "a call is not on the run's record");
        }
    };
    match tracing {
        Tracing::AsItHappens => record.await,
        Tracing::Afterwards => drop(tokio::spawn(record)),
    }
    answered
}

fn note(context: &CallContext, name: &str, data: Value) -> (String, DomainEvent) {
    let key = format!("{name}:{}", context.request_id);
    (name.to_owned(), DomainEvent { key, data })
}

/// Every failure about a known run names it.
fn with_run(problem: Problem, run_id: &RunId) -> Problem {
    if problem.details().contains_key("run_id") {
        problem
    } else {
        problem.with("run_id", run_id.as_str())
    }
}
