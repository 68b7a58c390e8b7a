//! The Tasks extension (2026-07-28) over runs: a task is a run, its id the run's.
//!
//! The run is in the journal before its task is announced, so a task survives whatever this
//! process does not. A run that failed is a completed task with an error result: `failed`
//! is for failures of the protocol, which a run does not have.

use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, CreateTaskResult, DetailedTask, ElicitRequest, GetTaskResult,
        InputRequest, InputResponses, JsonObject, Task, TaskPayload, TaskStatus,
    },
};
use serde_json::{Value, json};
use windlass_engine::{operation::OperationInfo, run::RunView};
use windlass_types::{ApprovalTerms, Problem, RunId, RunState, code};

use super::{
    Caller, Server,
    approve::{self, APPROVAL},
    errors::error_of,
    render::{Outcome, failure, structured, success},
};

/// How often a client should ask.
const POLL_MS: u64 = 1000;

/// The announcement of a run as a task.
pub fn create(server: &Server, run: &RunView) -> CreateTaskResult {
    CreateTaskResult::new(task(server, run, TaskStatus::Working))
}

/// The announcement of one call about a run as a task. Its id names the run, the operation and
/// the call; all three are in the journal.
pub async fn create_for(
    server: &Server,
    info: &OperationInfo,
    caller: &Caller,
    run_id: &RunId,
    ticket: &str,
) -> Result<CallToolResponse, ErrorData> {
    let run = find(server, caller, run_id.as_str()).await?;
    let id = format!("{}{SEPARATOR}{ticket}", info.name);
    Ok(CreateTaskResult::new(named(server, &run, &id, TaskStatus::Working)).into())
}

/// Between an operation and its ticket in the id of a task.
const SEPARATOR: char = '/';

/// Answers `tasks/get`.
pub async fn get(
    server: &Server,
    caller: &Caller,
    task_id: &str,
) -> Result<GetTaskResult, ErrorData> {
    if let Some((operation, ticket)) = task_id.split_once(SEPARATOR) {
        return get_call(server, caller, task_id, operation, ticket).await;
    }
    let run = find(server, caller, task_id).await?;
    let payload = payload(server, caller, &run);
    Ok(GetTaskResult::new(DetailedTask::new(
        task(server, &run, payload.status()),
        payload,
    )))
}

/// A task that is one call about a run.
async fn get_call(
    server: &Server,
    caller: &Caller,
    task_id: &str,
    operation: &str,
    ticket: &str,
) -> Result<GetTaskResult, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("unknown task: {task_id}"), None);
    let info = server.find(operation).ok_or_else(unknown)?;
    let run_id = ticket.split(':').next().unwrap_or_default();
    let run = find(server, caller, run_id).await.map_err(|_| unknown())?;
    let context = caller.context.clone();
    let request_id = context.request_id.clone();
    // A run whose end is the answer has none while it waits for an approval.
    let is_asking = ticket == run_id && !run.approvers.is_empty();
    let result = if is_asking {
        None
    } else {
        match server.catalogue.settled(operation, context, ticket).await {
            Ok(None) => None,
            Ok(Some(answer)) => Some(success(info, &request_id, &Value::Null, answer.output)),
            Err(problem) => Some(failure(info, &request_id, &Value::Null, &problem)),
        }
    };
    let payload = match result.map(serde_json::to_value) {
        None => match payload(server, caller, &run) {
            asks @ TaskPayload::InputRequired { .. } => asks,
            _ => TaskPayload::Working,
        },
        Some(Ok(Value::Object(result))) => TaskPayload::Completed { result },
        Some(_) => return Err(unknown()),
    };
    let task = named(server, &run, task_id, payload.status());
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

/// Answers `tasks/update`: takes the answers that fit, ignores the rest.
pub async fn update(
    server: &Server,
    caller: &Caller,
    task_id: &str,
    answers: &InputResponses,
) -> Result<(), ErrorData> {
    let run_id = match task_id.split_once(SEPARATOR) {
        Some((_, ticket)) => ticket.split(':').next().unwrap_or_default(),
        None => task_id,
    };
    let run = find(server, caller, run_id).await?;
    // An answer that comes late finds nothing waiting, and is ignored as any unknown one.
    if approve::form(server, caller, &run).is_none() {
        return Ok(());
    }
    let decision = approve::decision(Some(answers));
    approve::deliver(server, caller, &run.run_id, decision)
        .await
        .map_err(|problem| error_of(&problem))
}

/// Answers `tasks/cancel`. A task that has ended stays as it is.
pub async fn cancel(server: &Server, caller: &Caller, task_id: &str) -> Result<(), ErrorData> {
    if task_id.contains(SEPARATOR) {
        // What a run was told to do is done once it has been told; the run itself has a tool
        // for being cancelled. The acknowledgement is all a client may expect.
        get(server, caller, task_id).await?;
        return Ok(());
    }
    let run = find(server, caller, task_id).await?;
    if is_over(&run) {
        return Ok(());
    }
    let cancelled = server
        .operate(caller, "runs.cancel", json!({ "run_id": run.run_id }))
        .await;
    match cancelled {
        Ok(_) => Ok(()),
        // It ended, or began to unwind, between the look and the request.
        Err(problem) if problem.code().name == code::ILLEGAL_STATE.name => Ok(()),
        Err(problem) => Err(error_of(&problem)),
    }
}

async fn find(server: &Server, caller: &Caller, task_id: &str) -> Result<RunView, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("unknown task: {task_id}"), None);
    let run_id: RunId = task_id.parse().map_err(|_| unknown())?;
    match server
        .engine()
        .visible_run(caller.principal(), &run_id)
        .await
    {
        Ok(record) => Ok(RunView::from(record)),
        Err(problem) if problem.code().name == code::RUN_NOT_FOUND.name => Err(unknown()),
        Err(problem) => Err(error_of(&problem)),
    }
}

/// Whether the task has its final status. A run that completed once stays completed, even
/// while it is being taken back.
fn is_over(run: &RunView) -> bool {
    run.state.is_final() || run.output.is_some()
}

fn payload(server: &Server, caller: &Caller, run: &RunView) -> TaskPayload {
    match run.state {
        RunState::Cancelled => TaskPayload::Cancelled,
        RunState::Failed => {
            let problem = run
                .problem
                .clone()
                .unwrap_or_else(|| Problem::internal("run", "no reason on record"));
            let failure = json!({
                "ok": false,
                "error": {
                    "code": problem.code().name,
                    "message": problem.message(),
                    "details": problem.details(),
                    "retryable": problem.code().retryable,
                    "next_actions": problem.next_actions(),
                },
                "run": run,
            });
            TaskPayload::Completed {
                result: result(server, failure, Outcome::Failed),
            }
        }
        _ if is_over(run) => {
            let answer = json!({ "run": run, "next_actions": run.next_actions() });
            TaskPayload::Completed {
                result: result(server, answer, Outcome::Done),
            }
        }
        _ => match approve::question(server, caller, run) {
            Some(question) => {
                let question = InputRequest::Elicitation(ElicitRequest::new(question));
                TaskPayload::InputRequired {
                    input_requests: [(APPROVAL.to_owned(), question)].into(),
                }
            }
            None => TaskPayload::Working,
        },
    }
}

fn result(server: &Server, content: Value, outcome: Outcome) -> JsonObject {
    let content = server.engine().redactor.redact_value(content);
    match serde_json::to_value(structured(content, outcome)) {
        Ok(Value::Object(result)) => result,
        _ => JsonObject::new(),
    }
}

fn task(server: &Server, run: &RunView, status: TaskStatus) -> Task {
    named(server, run, run.run_id.as_str(), status)
}

fn named(server: &Server, run: &RunView, id: &str, status: TaskStatus) -> Task {
    let message = server.engine().redactor.redact(&describe(run)).into_owned();
    let times = (run.created_at.to_string(), run.updated_at.to_string());
    Task::new(id, status, times.0, times.1)
        .with_poll_interval_ms(POLL_MS)
        .with_status_message(message)
}

/// Where the run stands, in a few words.
fn describe(run: &RunView) -> String {
    if let Some(on) = run.waiting_on.first() {
        return on
            .prompt
            .clone()
            .unwrap_or_else(|| format!("{}: waiting for {}", run.title, on.what));
    }
    if run.state == RunState::Queued && !run.approvers.is_empty() {
        return format!(
            "{}: waiting for approval by {}",
            run.title,
            ApprovalTerms::of(&run.approvers).approvers.join(" or ")
        );
    }
    match &run.problem {
        Some(problem) => format!(
            "{}: {}: {}",
            run.title,
            run.state.as_str(),
            problem.message()
        ),
        None => format!("{}: {}", run.title, run.state.as_str()),
    }
}
