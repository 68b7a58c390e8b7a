//! The four tools that have a run do something: asking, waiting, and what the answer looks like.
//!
//! Validating, fixing, going on and opening the pull request take as long as they take. A caller
//! that can come back gets a ticket; any other waits. The run does it once either way, and does it
//! when nobody waits any more.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use windlass_engine::operation::{Answer, CallContext, Operation, OperationInfo};
use windlass_launch_model::LaunchState;
use windlass_ports::entropy::random;
use windlass_types::{Digest, Problem, RunId, RunState};

use super::{
    Desk, policy, shapes,
    status::StatusAnswer,
    traced::{Tracing, traced},
};
use crate::{
    arguments::Arguments,
    event::ACTION_SIGNAL,
    fault, precondition,
    run::{Action, Asked},
    view::{self, ActionOutcome, LaunchView},
};

/// How long one look for news lasts; the next begins right after it.
const LOOK: Duration = Duration::from_secs(30);
/// How long a run may take to be through with its own failure.
const ENDING: Duration = Duration::from_secs(60);

/// A tool that has a run do something.
pub(super) struct Telling {
    info: OperationInfo,
    desk: Desk,
    action: Action,
}

/// All four.
pub(super) fn operations(desk: &Desk) -> Vec<Arc<dyn Operation>> {
    [
        Action::Validate,
        Action::FixNext,
        Action::Resume,
        Action::OpenPr,
    ]
    .into_iter()
    .map(|action| {
        let desk = desk.clone();
        shapes::define(action).by(move |info| Telling { info, desk, action })
    })
    .collect()
}

/// What came of asking.
enum Begun {
    /// There was nothing to wait for.
    Answered(Value),
    /// The run has been told; its answer names this call.
    Told(String),
}

impl Operation for Telling {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Answer, Problem>> {
        Box::pin(async move {
            let run_id = Arguments::read(input, &["run_id"])?.run_id()?;
            let answer = self.answer(&context, &run_id);
            traced(
                &self.desk,
                &context,
                self.action.tool(),
                &run_id,
                Tracing::AsItHappens,
                answer,
            )
            .await
        })
    }

    fn settled<'a>(
        &'a self,
        context: CallContext,
        ticket: &'a str,
    ) -> BoxFuture<'a, Result<Option<Answer>, Problem>> {
        Box::pin(async move {
            let Some((run_id, call_id)) = ticket.split_once(':') else {
                return Err(fault::run_not_found(ticket));
            };
            let run_id: RunId = run_id.parse().map_err(|_| fault::run_not_found(ticket))?;
            let record = self.desk.record(&context, &run_id).await?;
            let view = view::load(&self.desk.engine, &record).await?;
            let outcome = match view.outcomes.get(call_id) {
                Some(outcome) => outcome.clone(),
                None if record.state.is_final() => ended(&view, self.action, call_id)?,
                None => return Ok(None),
            };
            let output = self.shape(&context, &run_id, outcome).await?;
            Ok(Some(answered(output, &run_id)))
        })
    }
}

fn answered(output: Value, run_id: &RunId) -> Answer {
    Answer {
        run_id: Some(run_id.clone()),
        ..Answer::plain(output)
    }
}

impl Telling {
    async fn answer(&self, context: &CallContext, run_id: &RunId) -> Result<Answer, Problem> {
        match self.begin(context, run_id).await? {
            Begun::Answered(output) => Ok(answered(output, run_id)),
            Begun::Told(call_id) if context.terms.may_defer => Ok(Answer {
                ticket: Some(format!("{run_id}:{call_id}")),
                ..answered(Value::Null, run_id)
            }),
            Begun::Told(call_id) => {
                let outcome = self.outcome(context, run_id, &call_id).await?;
                Ok(answered(
                    self.shape(context, run_id, outcome).await?,
                    run_id,
                ))
            }
        }
    }

    /// Tells the run, unless the answer is known without it.
    async fn begin(&self, context: &CallContext, run_id: &RunId) -> Result<Begun, Problem> {
        let view = self.desk.view(context, run_id).await?;
        if let Some(output) = self.at_once(&view).await? {
            return Ok(Begun::Answered(output));
        }
        precondition::check(self.action, &view)?;
        let needs_approval = self.action == Action::OpenPr
            && policy::needs_approval(&self.desk, &context.principal, &view)?;
        let engine = &self.desk.engine;
        let call_id = Digest::of(&random::<16>(&*engine.entropy)).short();
        let asked = Asked {
            action: self.action,
            call_id: call_id.clone(),
            seen_validations: view.validations,
            seen_fixes: view.fix_attempts,
            needs_approval,
        };
        let payload = serde_json::to_value(&asked)
            .map_err(|error| Problem::internal("launch action", error))?;
        let sent = engine
            .send_signal(&context.principal, run_id, ACTION_SIGNAL, payload)
            .await;
        if let Err(problem) = sent {
            // It ended between the look and the request: the table says what that means.
            precondition::check(self.action, &self.desk.view(context, run_id).await?)?;
            return Err(problem);
        }
        Ok(Begun::Told(call_id))
    }

    /// What can be answered without telling the run anything.
    async fn at_once(&self, view: &LaunchView) -> Result<Option<Value>, Problem> {
        match self.action {
            // What was opened is judged as it was opened; nothing runs.
            Action::Validate if matches!(view.state, LaunchState::PrOpened | LaunchState::Done) => {
                let last = view.artifacts.get("validation_report.json");
                let last = last.ok_or_else(|| Problem::internal("launch", "there is no report"))?;
                let report = self.desk.report(&json!({ "report": last.sha256 })).await?;
                Ok(Some(
                    json!({ "run_id": view.run_id, "validation_report": report }),
                ))
            }
            // Somebody drives it already, or there is nothing to do: the status says so.
            Action::Resume => {
                let rests = view.state == LaunchState::ReadyForPr && view.report_ok == Some(true);
                let known = view.is_driving() || (rests && view.parked);
                known.then(|| StatusAnswer::of(view)).transpose()
            }
            _ => Ok(None),
        }
    }

    async fn outcome(
        &self,
        context: &CallContext,
        run_id: &RunId,
        call_id: &str,
    ) -> Result<ActionOutcome, Problem> {
        let desk = &self.desk;
        loop {
            let record = desk.record(context, run_id).await?;
            let view = view::load(&desk.engine, &record).await?;
            if let Some(outcome) = view.outcomes.get(call_id) {
                return Ok(outcome.clone());
            }
            if record.state.is_final() || record.state == RunState::Held {
                return ended(&view, self.action, call_id);
            }
            desk.engine
                .events_after(run_id, view.last_seq, 1, LOOK)
                .await?;
        }
    }

    /// The answer in the contract's form.
    async fn shape(
        &self,
        context: &CallContext,
        run_id: &RunId,
        outcome: ActionOutcome,
    ) -> Result<Value, Problem> {
        let problem = outcome.problem;
        if self.action == Action::Resume {
            match problem {
                None => {}
                // Running out of fixes ends the run; that it does is an answer, not a failure.
                Some(problem) if problem.code().name == "FIX_EXHAUSTED" => {
                    self.desk.engine.settle(run_id, ENDING).await?;
                }
                Some(problem) => return Err(problem),
            }
            return StatusAnswer::of(&self.desk.view(context, run_id).await?);
        }
        if let Some(problem) = problem {
            return Err(problem);
        }
        let mut output = outcome.result.unwrap_or_default();
        if output.get("report").is_some() {
            output["validation_report"] = self.desk.report(&output).await?;
        }
        if let Some(members) = output.as_object_mut() {
            members.remove("report");
            members.insert("run_id".to_owned(), json!(run_id));
        }
        Ok(output)
    }
}

/// What a call gets whose run ended before it was its turn.
fn ended(view: &LaunchView, action: Action, call_id: &str) -> Result<ActionOutcome, Problem> {
    if let (Action::OpenPr, Some(pr)) = (action, &view.pr) {
        // Another call, made at the same time, opened it.
        return Ok(ActionOutcome {
            action: action.as_str().to_owned(),
            call_id: call_id.to_owned(),
            result: Some(json!(pr)),
            problem: None,
        });
    }
    precondition::check(action, view)?;
    Err(fault::illegal_state(
        &view.run_id,
        view.state,
        &[],
        "ended",
        format!("the run ended as {} meanwhile", view.state.as_str()),
    ))
}

impl Desk {
    /// A validation report by its digest.
    async fn report(&self, outcome: &Value) -> Result<Value, Problem> {
        let digest: Digest = outcome
            .get("report")
            .and_then(Value::as_str)
            .and_then(|digest| digest.parse().ok())
            .ok_or_else(|| Problem::internal("launch action", "it names no report"))?;
        let bytes = self.engine.blobs.get(digest).await;
        let bytes = bytes.map_err(|error| Problem::internal("content store", error))?;
        serde_json::from_slice(&bytes).map_err(|error| Problem::internal("report", error))
    }
}
