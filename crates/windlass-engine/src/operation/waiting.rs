//! A call that waits for an approval: kept as a run, made once the approval is there.
//!
//! For commands and signals, which have no run of their own that could wait. What such a run
//! keeps is the call, so a call whose input or answer holds a secret cannot wait.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::{BoxFuture, Counted, Quota};
use windlass_types::{
    Digest, Problem, RunId, RunRecord, RunState, Surface, code,
    journal::{ApprovalGate, ChangeSubject},
};

use super::{Answer, CallPlan, CallRequest, Grant, OperationInfo, permit::Wanted};
use crate::{
    Engine, WeakEngine,
    confirm::bounded,
    run::{Holds, NewRun, NotCreated, OperationCall, RunContext, RunError, RunKind, call_granted},
};

/// How many calls of one caller may wait: who has to answer them must find the others.
const MOST_WAITING: u32 = 100;

/// The kind of such runs.
pub(crate) const KIND: &str = "operation.call";

#[derive(Debug, Serialize, Deserialize)]
struct Input {
    operation: String,
    input: Value,
    directory: Option<PathBuf>,
    surface: Surface,
}

pub(crate) struct WaitingCall {
    pub(crate) engine: WeakEngine,
}

impl RunKind for WaitingCall {
    fn name(&self) -> &str {
        KIND
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let input: Input = serde_json::from_value(input)
                .map_err(|error| Problem::internal("waiting call", error))?;
            let grant = Grant {
                operation: input.operation.clone(),
            };
            let call = OperationCall {
                name: "call".to_owned(),
                operation: input.operation,
                input: input.input,
                directory: input.directory,
            };
            call_granted(context, &self.engine, call, Some(grant), input.surface).await
        })
    }
}

impl Engine {
    /// Keeps a call until one of the approvers has answered.
    pub(crate) async fn keep_call(
        &self,
        info: &OperationInfo,
        request: &CallRequest,
        wanted: Wanted,
        plan: Option<CallPlan>,
    ) -> Result<RunId, Problem> {
        let context = &request.context;
        let input = Input {
            operation: info.name.clone(),
            input: request.input.clone(),
            directory: context.directory.clone(),
            surface: context.surface,
        };
        let input =
            serde_json::to_value(input).map_err(|error| Problem::internal("call", error))?;
        let on = match wanted.targets.is_empty() {
            true => String::new(),
            false => format!(" {}", wanted.targets.join(", ")),
        };
        let subject = ChangeSubject {
            operation: info.name.clone(),
            targets: wanted.targets,
            effect: info.effect,
            lines: input_lines(&request.input),
            yes: false,
        };
        let (subject, digest) = match plan {
            Some(CallPlan { lines, digest }) => {
                (bounded(ChangeSubject { lines, ..subject }), digest)
            }
            None => (subject, Digest::of_json(&input)),
        };
        let new = NewRun {
            kind: KIND.to_owned(),
            title: format!("{}{on}", info.name),
            context: context.clone(),
            plan_digest: Some(digest),
            input,
            confirm_token: None,
            approval: Some(ApprovalGate::Wanted {
                terms: wanted.terms,
                rule: wanted.rule,
            }),
            subject: Some(subject),
            idempotency_key: context.terms.idempotency_key.clone(),
            bound_to: None,
            run_id: None,
            holds: Holds::default(),
        };
        let quota = Quota {
            counted: Counted::Unfinished,
            limit: MOST_WAITING,
        };
        let principal = context.principal.id();
        match self.create_within(new, vec![quota]).await {
            Ok(run_id) => Ok(run_id),
            Err(NotCreated::OverQuota { .. }) => Err(Problem::new(
                &code::RATE_LIMITED,
                format!("{MOST_WAITING} calls of {principal} wait for an approval already"),
            )
            .with("limit", "waiting_calls")
            .with("allowed", MOST_WAITING)
            .next(format!("windlass runs list --kind {KIND}"))),
            Err(other) => Err(other.into_problem()),
        }
    }
}

/// What an approver is shown of a call: its input, field by field.
fn input_lines(input: &Value) -> Vec<String> {
    match input {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect(),
        Value::Null => Vec::new(),
        other => vec![other.to_string()],
    }
}

/// The answer of a call that waited; `None` while it goes on.
pub(super) fn answer_of(record: RunRecord) -> Result<Option<Answer>, Problem> {
    if let Some(pending) = approval_pending(&record) {
        return Err(pending);
    }
    let run_id = record.run_id;
    match (record.state, record.output, record.problem) {
        (RunState::Completed, Some(output), _) => Ok(Some(Answer::of_run(output, run_id))),
        (RunState::Failed | RunState::Held, _, Some(problem)) => {
            Err(problem.with("run_id", run_id.as_str()))
        }
        (RunState::Cancelled | RunState::RolledBack, ..) => Err(Problem::new(
            &code::CANCELLED,
            format!("run {run_id} was cancelled"),
        )
        .with("run_id", run_id.as_str())),
        _ => Ok(None),
    }
}

/// What a caller is told whose run waits for an approval.
pub fn approval_pending(record: &RunRecord) -> Option<Problem> {
    let terms = record.wanted_approval()?;
    let run_id = &record.run_id;
    let given = terms.progress(record.approved_by().len());
    let given = given.map_or_else(String::new, |given| format!(" ({given})"));
    Some(
        Problem::new(
            &code::APPROVAL_REQUIRED,
            format!(
                "run {run_id} ({}) waits for {}{given}",
                record.title,
                terms.text()
            ),
        )
        .with("reason_code", "approval_pending")
        .with("run_id", run_id.as_str())
        .with_approval(&terms)
        .next(format!("windlass runs approve {run_id}"))
        .next(format!("windlass runs watch {run_id}")),
    )
}
