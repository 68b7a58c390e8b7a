//! The Tasks extension (2026-07-28) over runs: a task is a run, its id the run's.
//!
//! The run is in the journal before its task is announced, so a task survives whatever this
//! process does not. A run that failed is a completed task with an error result: `failed` is for
//! defects of the server.

use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult,
        InputResponses, JsonObject, Task, TaskPayload, TaskStatus,
    },
};
use serde_json::{Value, json};
use windlass_engine::{
    operation::OperationInfo,
    run::{RunView, SIGNAL_APPROVAL},
};
use windlass_types::{Kind, Problem, RunId, RunRecord, RunState, code};

use super::{
    Caller, Server,
    approve::{self, APPROVAL, Decision},
    errors::error_of,
    render::{Outcome, failure, structured, success},
};

/// How often a client should ask.
const POLL_MS: u64 = 1000;

/// The announcement of a run as a task.
pub fn create(server: &Server, run: RunRecord) -> CreateTaskResult {
    CreateTaskResult::new(task(server, &RunView::from(run), TaskStatus::Working))
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
    let run = RunView::from(find(server, caller, run_id.as_str()).await?);
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
    let run = RunView::from(run);
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
    let info = server.catalogue.find(operation);
    let info = info
        .filter(|info| info.name == operation && server.offers(info))
        .ok_or_else(unknown)?;
    let run_id = ticket.split(':').next().unwrap_or_default();
    let run = find(server, caller, run_id).await.map_err(|_| unknown())?;
    let context = caller.context.clone();
    let request_id = context.request_id.clone();
    let is_run = ticket == run_id;
    // A run whose end is the answer has none while it waits for an approval.
    let is_asking = is_run && run.wanted_approval().is_some();
    let result = match (is_run, run.state) {
        (true, RunState::Cancelled) => Some(Ok(TaskPayload::Cancelled)),
        _ if is_asking => None,
        _ => match server.catalogue.settled(operation, context, ticket).await {
            Ok(None) => None,
            Ok(Some(answer)) => {
                let answer = success(info, &request_id, &Value::Null, answer.output);
                Some(completed(answer))
            }
            Err(problem) if is_defect(&problem) => Some(failed(&problem)),
            Err(problem) => Some(completed(failure(
                info,
                &request_id,
                &Value::Null,
                &problem,
            ))),
        },
    };
    let payload = match result {
        None => match payload(server, caller, &run) {
            asks @ TaskPayload::InputRequired { .. } => asks,
            _ => TaskPayload::Working,
        },
        Some(payload) => payload.map_err(|error| {
            ErrorData::internal_error(format!("the result of the task: {error}"), None)
        })?,
    };
    let run = RunView::from(run);
    let task = named(server, &run, task_id, payload.status());
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

/// The task of a call that has its result.
fn completed(result: CallToolResult) -> Result<TaskPayload, serde_json::Error> {
    let result = serde_json::from_value(serde_json::to_value(result)?)?;
    Ok(TaskPayload::Completed { result })
}

/// Whether the failure is the server's own: what no caller can do anything about.
fn is_defect(problem: &Problem) -> bool {
    problem.code().kind == Kind::Internal
}

fn failed(problem: &Problem) -> Result<TaskPayload, serde_json::Error> {
    let error = serde_json::from_value(serde_json::to_value(error_of(problem))?)?;
    Ok(TaskPayload::Failed { error })
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
    let Some(question) = approve::form(server, caller, &run) else {
        return Ok(());
    };
    match approve::decision(Some(answers)) {
        // Dismissed: the run goes on waiting, and the task says what to type instead of asking on.
        Decision::Open => {
            if answers.contains_key(APPROVAL) {
                server.dismiss(question.subject);
            }
            Ok(())
        }
        decision => approve::deliver(server, caller, &question.subject, decision)
            .await
            .map_err(|problem| error_of(&problem)),
    }
}

/// Answers `tasks/cancel`. A task that has ended stays as it is.
pub async fn cancel(server: &Server, caller: &Caller, task_id: &str) -> Result<(), ErrorData> {
    let run = match task_id.split_once(SEPARATOR) {
        Some((_, ticket)) if ticket.contains(':') => {
            // What a run was told to do is done once it has been told; the run itself has a tool
            // for being cancelled. The acknowledgement is all a client may expect.
            get(server, caller, task_id).await?;
            return Ok(());
        }
        Some((_, run_id)) => find(server, caller, run_id).await?,
        None => find(server, caller, task_id).await?,
    };
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

async fn find(server: &Server, caller: &Caller, task_id: &str) -> Result<RunRecord, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("unknown task: {task_id}"), None);
    let run_id: RunId = task_id.parse().map_err(|_| unknown())?;
    match server
        .engine()
        .visible_run(caller.principal(), &run_id)
        .await
    {
        Ok(record) => Ok(record),
        Err(problem) if problem.code().name == code::RUN_NOT_FOUND.name => Err(unknown()),
        Err(problem) => Err(error_of(&problem)),
    }
}

/// Whether the task has its final status. A run that completed once stays completed, even
/// while it is being taken back.
fn is_over(run: &RunRecord) -> bool {
    run.state.is_final() || run.output.is_some()
}

fn payload(server: &Server, caller: &Caller, run: &RunRecord) -> TaskPayload {
    if !is_over(run) {
        let question = approve::question(server, caller, run);
        return match question.filter(|question| !server.is_dismissed(&question.subject)) {
            Some(question) => TaskPayload::InputRequired {
                input_requests: approve::requests(question.form),
            },
            None => TaskPayload::Working,
        };
    }
    let view = RunView::from(run.clone());
    match run.state {
        RunState::Cancelled => TaskPayload::Cancelled,
        RunState::Failed => {
            let problem = view
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
                "run": view,
            });
            TaskPayload::Completed {
                result: result(server, failure, Outcome::Failed),
            }
        }
        _ => {
            let answer = json!({ "run": view, "next_actions": view.next_actions() });
            TaskPayload::Completed {
                result: result(server, answer, Outcome::Done),
            }
        }
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

/// Where the run stands, in a few words; where it waits for an approval, also what to type.
fn describe(run: &RunView) -> String {
    let mut waits = run.waiting_on.iter();
    let is_asking = waits.any(|on| on.what == SIGNAL_APPROVAL && !on.answered);
    if is_asking || !run.terms.is_empty() {
        return format!(
            "{}: waiting for {}; decide with: windlass runs approve {}",
            run.title,
            run.terms.text(),
            run.run_id
        );
    }
    if let Some(on) = run.waiting_on.first() {
        return on
            .prompt
            .clone()
            .unwrap_or_else(|| format!("{}: waiting for {}", run.title, on.what));
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
