//! What a run's end says to anyone who asked for it.

use serde_json::{Map, Value, json};
use windlass_engine::operation::{Answer, CallContext, approval_pending};
use windlass_types::{Body, Problem, RunId, RunRecord, RunState, Surface, code};

use super::change::{Note, issue};
use crate::desk::Desk;
use crate::run::{CREDENTIALS, Job, Kind, LOG, PROGRESS};

/// How much of a run's story an answer carries.
const TAIL_LINES: usize = 80;
const TAIL_CHARACTERS: usize = 8_000;
/// How large an answer may be for a language model to read.
const MCP_LIMIT: usize = 30_000;
/// How large any other answer may be.
const LIMIT: usize = 512_000;

/// The answer of a run; `None` while it goes on.
pub(super) async fn of(
    desk: &Desk,
    context: &CallContext,
    record: &RunRecord,
) -> Result<Option<Answer>, Problem> {
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| kind.name() == record.kind);
    let Some(kind) = kind else {
        return Err(unknown_run(record.run_id.as_str()));
    };
    let failure = match (record.state, &record.problem) {
        (RunState::Completed, _) => None,
        (RunState::Failed | RunState::Held, Some(problem)) => Some(problem.clone()),
        (RunState::Cancelled | RunState::RolledBack, _) => Some(cancelled(record)),
        _ => match waiting(record) {
            Some(problem) => Some(problem),
            None => return Ok(None),
        },
    };
    let tail = raw_tail(desk, &record.run_id).await?;
    if let Some(problem) = failure {
        let problem = with_token(desk, context, record, kind, problem).await?;
        let problem = problem.with("runId", record.run_id.as_str());
        return Err(match tail.is_empty() {
            true => problem,
            false => problem.with("rawTail", tail),
        });
    }
    let mut data = match record.output.clone() {
        Some(Value::Object(data)) => data,
        _ => Map::new(),
    };
    if kind == Kind::Preview && data.get("noChanges") != Some(&Value::Bool(true)) {
        let note = note(record, &data);
        if let Some(digest) = record_digest(&data) {
            data.extend(issue(desk, context, "stack.deploy", note, digest).await?);
            let next = "review the changes, then deploy with this confirmToken";
            data.insert("nextActions".to_owned(), json!([next]));
        }
    }
    if !tail.is_empty() && kind != Kind::Preview {
        data.insert("rawTail".to_owned(), json!(tail));
    }
    let output = fitting(desk, context, record, data).await?;
    Ok(Some(Answer {
        run_id: Some(record.run_id.clone()),
        ..Answer::plain(output)
    }))
}

fn record_digest(data: &Map<String, Value>) -> Option<windlass_types::Digest> {
    data.get("planDigest")?.as_str()?.parse().ok()
}

fn note(record: &RunRecord, data: &Map<String, Value>) -> Note {
    let stack_name = data.get("stackName").and_then(Value::as_str);
    let job: Option<Job> = serde_json::from_value(record.input.clone()).ok();
    Note {
        run_id: record.run_id.clone(),
        stack_name: stack_name.unwrap_or_default().to_owned(),
        region: job.and_then(|job| job.place.region),
    }
}

/// A refusal that a confirmation would lift carries the token for it.
async fn with_token(
    desk: &Desk,
    context: &CallContext,
    record: &RunRecord,
    kind: Kind,
    problem: Problem,
) -> Result<Problem, Problem> {
    let details = problem.details().clone();
    let reason = details.get("reason").and_then(Value::as_str);
    let is_about_a_plan = matches!(
        reason,
        Some("stateful_loss" | "stuck_stack" | "plan_changed")
    );
    let Some(digest) = record_digest(&details).filter(|_| is_about_a_plan) else {
        return Ok(problem);
    };
    let operation = format!("stack.{}", kind.operation());
    let token = issue(desk, context, &operation, note(record, &details), digest).await?;
    Ok(token
        .into_iter()
        .fold(problem, |problem, (key, value)| problem.with(&key, value)))
}

/// A run that only continues after a person acts.
fn waiting(record: &RunRecord) -> Option<Problem> {
    let run_id = &record.run_id;
    let mut waits = record.waiting_on.iter().map(|(name, _)| name);
    if waits.any(|name| name.starts_with(CREDENTIALS)) {
        return Some(
            Problem::new(
                &code::UNAUTHORIZED,
                format!("the AWS credentials have expired; {run_id} waits for new ones"),
            )
            .with("reason", "credentials_expired")
            .next("renew the AWS credentials (for example `aws sso login`); the run continues")
            .next(format!("windlass runs watch {run_id}")),
        );
    }
    let pending = approval_pending(record)?;
    Some(
        pending
            .with("reason", "approval_pending")
            .with("approvalId", run_id.as_str()),
    )
}

fn cancelled(record: &RunRecord) -> Problem {
    Problem::new(
        &code::STEP_FAILED,
        format!("{} was cancelled", record.run_id),
    )
    .with("reason", "interrupted")
    .with("residue", json!(record.residue))
    .next(format!("windlass runs show {}", record.run_id))
}

/// The caller waited as long as it wanted to.
pub(super) fn unfinished(record: &RunRecord) -> Problem {
    let run_id = &record.run_id;
    Problem::new(
        &code::TIMEOUT,
        format!("{run_id} has not ended in time and continues"),
    )
    .with("reason", "deadline_passed")
    .with("runId", run_id.as_str())
    .with("state", record.state.as_str())
    .next(format!("windlass runs watch {run_id}"))
    .next(format!("windlass runs cancel {run_id}"))
}

/// No run of stacks.
pub(super) fn unknown_run(given: &str) -> Problem {
    Problem::new(&code::RUN_NOT_FOUND, format!("no run {given} of a stack"))
        .with("kind", "run")
        .next("windlass runs list")
}

/// The end of a run's story, as lines.
async fn raw_tail(desk: &Desk, run_id: &RunId) -> Result<String, Problem> {
    const PAGE: usize = 2000;
    let mut lines: Vec<String> = Vec::new();
    let mut after = 0;
    loop {
        let events = desk.engine.store.events(run_id, after, PAGE).await?;
        for event in &events {
            after = event.seq;
            let Ok(Some(Body::Domain(name, told))) =
                Body::decode(&event.event_type, &event.payload)
            else {
                continue;
            };
            let text = |key: &str| told.data[key].as_str().unwrap_or_default();
            let who = match name.as_str() {
                LOG => text("source"),
                PROGRESS => text("phase"),
                _ => continue,
            };
            lines.push(format!("{who}: {}", text("message")));
        }
        let surplus = lines.len().saturating_sub(TAIL_LINES);
        lines.drain(..surplus);
        if events.len() < PAGE {
            break;
        }
    }
    let mut text = lines.join("\n");
    if let Some((cut, _)) = text.char_indices().rev().nth(TAIL_CHARACTERS - 1) {
        text.drain(..cut);
    }
    Ok(desk.engine.redactor.redact(&text).into_owned())
}

/// The output, or what stands for it where it is too large for its reader.
pub(super) async fn fitting(
    desk: &Desk,
    context: &CallContext,
    record: &RunRecord,
    data: Map<String, Value>,
) -> Result<Value, Problem> {
    let limit = match context.surface {
        Surface::Mcp => MCP_LIMIT,
        _ => LIMIT,
    };
    let size = Value::Object(data.clone()).to_string().len();
    if size <= limit {
        return Ok(Value::Object(data));
    }
    // An answer that is kept is told, too, and its token is nobody else's.
    let told = desk
        .engine
        .redactor
        .redact_value(Value::Object(data.clone()));
    let whole = desk.keep("result.json", &told).await?;
    let lifted = [
        "message",
        "nextActions",
        "confirmToken",
        "confirmTokenExpiresAt",
        "planDigest",
    ];
    let mut short = Map::new();
    for key in lifted {
        short.extend(data.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    let keys: Vec<&String> = data.keys().collect();
    short.insert("truncated".to_owned(), json!(true));
    short.insert(
        "reason".to_owned(),
        json!(format!("the data has {size} bytes, more than {limit}")),
    );
    short.insert("keys".to_owned(), json!(keys));
    short.insert("size".to_owned(), json!(size));
    short.insert("artifact".to_owned(), json!(whole.sha256));
    short.insert("runId".to_owned(), json!(record.run_id));
    Ok(Value::Object(short))
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
