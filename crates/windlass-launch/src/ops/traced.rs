//! Every call about a run is on the run's record: what was asked, and what came of it.

use std::future::Future;

use serde_json::{Value, json};
use windlass_engine::{contract::Contract as _, operation::CallContext};
use windlass_types::{Digest, Problem, RunId, journal::DomainEvent};

use super::Desk;
use crate::{contract::LaunchContract, event};

/// Answers a call and puts it on the record of its run.
pub(super) async fn traced<T, Fut>(
    desk: &Desk,
    context: &CallContext,
    tool: &'static str,
    run_id: &RunId,
    answer: Fut,
) -> Result<T, Problem>
where
    Fut: Future<Output = Result<T, Problem>>,
{
    // A run the caller may not see gets no trace of them.
    desk.record(context, run_id).await?;
    let called = called(context, tool, run_id);
    let answered = answer.await.map_err(|problem| with_run(problem, run_id));
    let returned = returned(&context.request_id, tool, &answered);
    let (engine, run_id) = (desk.engine.clone(), run_id.clone());
    let span = context.span_id();
    // A look at a run is not slowed down by its record.
    drop(tokio::spawn(async move {
        if let Err(error) = engine.note(&run_id, span, vec![called, returned]).await {
            tracing::warn!(%run_id, %error, "a call is not on the run's record");
        }
    }));
    answered
}

/// Puts the beginning of a call that may take long on the record of its run.
pub(super) async fn note_call(
    desk: &Desk,
    context: &CallContext,
    tool: &str,
    run_id: &RunId,
) -> Result<(), Problem> {
    desk.record(context, run_id).await?;
    let called = called(context, tool, run_id);
    let span = context.span_id();
    desk.engine.note(run_id, span, vec![called]).await
}

/// Puts the end of such a call on the record of its run.
pub(super) async fn note_return<T>(
    desk: &Desk,
    context: &CallContext,
    call: &str,
    tool: &str,
    run_id: &RunId,
    answered: Result<T, Problem>,
) -> Result<T, Problem> {
    let answered = answered.map_err(|problem| with_run(problem, run_id));
    let returned = returned(call, tool, &answered);
    let span = context.span_id();
    if let Err(error) = desk.engine.note(run_id, span, vec![returned]).await {
        tracing::warn!(%run_id, %error, "a call is not on the run's record");
    }
    answered
}

fn called(context: &CallContext, tool: &str, run_id: &RunId) -> (String, DomainEvent) {
    let input_hash = Digest::of_json(&json!({ "run_id": run_id }));
    note(
        &context.request_id,
        event::TOOL_CALLED,
        json!({ "tool": tool, "input_hash": input_hash, "principal": context.principal.id() }),
    )
}

fn returned<T>(call: &str, tool: &str, answered: &Result<T, Problem>) -> (String, DomainEvent) {
    let code = match answered {
        Ok(_) => "OK",
        Err(problem) => LaunchContract.code_name(problem.code()),
    };
    note(
        call,
        event::TOOL_RETURNED,
        json!({ "tool": tool, "code": code }),
    )
}

fn note(call: &str, name: &str, data: Value) -> (String, DomainEvent) {
    let key = format!("{name}:{call}");
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
