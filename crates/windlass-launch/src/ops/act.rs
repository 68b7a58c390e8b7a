//! The four tools that have a run do something: asking, waiting, and what the answer looks like.
//!
//! Validating, fixing, going on and opening the pull request take as long as they take. The run
//! does each once, also when nobody waits for the answer any more.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use windlass_engine::operation::{Answer, Awaited, CallContext, Operation, OperationInfo, Reply};
use windlass_launch_model::LaunchState;
use windlass_ports::entropy::random;
use windlass_types::{Digest, Problem, RunId, RunState};

use super::{
    Desk, shapes,
    status::StatusAnswer,
    traced::{note_call, note_return},
};
use crate::{
    arguments::Arguments,
    event::{ACTION_SIGNAL, TOOL_RETURNED},
    fault, precondition,
    run::{Action, Asked},
    view::{self, ActionOutcome, LaunchView},
};

/// How long a caller waits: longer than any action takes.
const TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// How long a run may take to end after its own failure.
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

    fn targets(
        &self,
        _context: &CallContext,
        _input: &Value,
    ) -> Result<Option<Vec<String>>, Problem> {
        // The run's configuration names them.
        Ok(None)
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let run_id = Arguments::read(input, &["run_id"])?.run_id()?;
            let (desk, tool, request) = (&self.desk, self.action.tool(), &context.request_id);
            note_call(desk, &context, tool, &run_id).await?;
            match self.begin(&context, &run_id).await {
                Ok(Begun::Told(call_id)) => Ok(Reply::Await(Awaited {
                    ticket: format!("{run_id}:{call_id}:{request}"),
                    run_id,
                    timeout: TIMEOUT,
                })),
                Ok(Begun::Answered(output)) => {
                    let answer = Ok(Answer::of_run(output, run_id.clone()));
                    let answer =
                        note_return(desk, &context, request, tool, &run_id, answer).await?;
                    Ok(answer.into())
                }
                Err(problem) => {
                    let refused: Result<Reply, Problem> = Err(problem);
                    note_return(desk, &context, request, tool, &run_id, refused).await
                }
            }
        })
    }

    fn settled<'a>(
        &'a self,
        context: CallContext,
        ticket: &'a str,
    ) -> BoxFuture<'a, Result<Option<Answer>, Problem>> {
        Box::pin(async move {
            let mut parts = ticket.splitn(3, ':');
            let (Some(run_id), Some(call_id), Some(request)) =
                (parts.next(), parts.next(), parts.next())
            else {
                return Err(fault::run_not_found(ticket));
            };
            let run_id: RunId = run_id.parse().map_err(|_| fault::run_not_found(ticket))?;
            let desk = &self.desk;
            let record = desk.record(&context, &run_id).await?;
            let view = view::load(&desk.engine, &record).await?;
            let over = record.state.is_final() || record.state == RunState::Held;
            let outcome = match view.outcomes.get(call_id) {
                Some(outcome) => Ok(outcome.clone()),
                None if over => ended(&view, self.action, call_id),
                None => return Ok(None),
            };
            let answer = match outcome {
                Ok(outcome) => self.shape(&context, &run_id, outcome).await,
                Err(problem) => Err(problem),
            };
            let answer = answer.map(|output| Answer::of_run(output, run_id.clone()));
            if view
                .returned
                .contains(&format!("{TOOL_RETURNED}:{request}"))
            {
                return answer.map(Some);
            }
            let tool = self.action.tool();
            note_return(desk, &context, request, tool, &run_id, answer)
                .await
                .map(Some)
        })
    }
}

impl Telling {
    /// Tells the run, unless the answer is known without it.
    async fn begin(&self, context: &CallContext, run_id: &RunId) -> Result<Begun, Problem> {
        let view = match self.action {
            // Its run asks the gate, with the plan that would be opened.
            Action::OpenPr => self.desk.view(context, run_id).await?,
            _ => self.desk.judged_view(context, run_id).await?,
        };
        if let Some(output) = self.at_once(&view).await? {
            return Ok(Begun::Answered(output));
        }
        precondition::check(self.action, &view)?;
        let engine = &self.desk.engine;
        let call_id = Digest::of(&random::<16>(&*engine.entropy)).short();
        let asked = Asked {
            action: self.action,
            call_id: call_id.clone(),
            seen_validations: view.validations,
            seen_fixes: view.fix_attempts,
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
            // Another process drives it already, or there is nothing to do: the status says so.
            Action::Resume => {
                let rests = view.state == LaunchState::ReadyForPr && view.report_ok == Some(true);
                let known = view.is_driving() || (rests && view.parked);
                known.then(|| StatusAnswer::of(view)).transpose()
            }
            _ => Ok(None),
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
