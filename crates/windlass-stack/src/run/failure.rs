//! The report of a failed operation: what failed first, why, what the logs say, what helps.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_ports::aws::{ActionShape, SignedCall, services};
use windlass_stack_lifecycle::Access;
use windlass_stack_lifecycle::failure::{Failure, LogLine, LogSource};
use windlass_stack_lifecycle::follow::Trail;
use windlass_types::{Code, Problem, Timestamp};

use super::Job;
use crate::desk::Desk;
use crate::fault;

/// How many lines of logs a report has.
const MOST_LINES: u32 = 20;

/// Makes the report. What cannot be found out about logs does not keep it from being made.
pub(super) async fn report(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    trail: &Trail,
    names: &BTreeMap<String, String>,
    stack: &str,
) -> Result<Failure, RunError> {
    let access = desk.access(job.place.target());
    Step::pure("failure")
        .run(context, async |_| {
            let described = access
                .cloud
                .describe_stack(&access.target, &trail.stack_id)
                .await;
            let reason = described
                .ok()
                .flatten()
                .and_then(|stack| stack.stack_status_reason);
            let failure = Failure::of(trail, names, stack, reason.as_deref());
            let mut failure = match failure.clone().with_inner_cause(&access).await {
                Ok(found) => found,
                Err(_) => failure,
            };
            failure.logs = logs(&access, &failure).await;
            let redactor = &desk.engine.redactor;
            let value = redactor.redact_value(fault::json(&failure)?);
            serde_json::from_value(value)
                .map_err(|error| Problem::internal("failure report", error))
        })
        .await
}

/// The problem a report becomes.
pub(super) fn problem(code: &'static Code, failure: &Failure, phase: &str) -> Problem {
    let problem = Problem::new(code, failure.sentence())
        .with("phase", phase)
        .with("failure", serde_json::to_value(failure).unwrap_or_default())
        .with("stackStatus", failure.stack_status.as_str());
    failure
        .remedies
        .iter()
        .fold(problem, |problem, remedy| problem.next(remedy.text.clone()))
}

const FILTER_EVENTS: ActionShape = ActionShape::new(&services::LOGS, "FilterLogEvents");
const LIST_TASKS: ActionShape = ActionShape::new(&services::ECS, "ListTasks");
const DESCRIBE_TASKS: ActionShape = ActionShape::new(&services::ECS, "DescribeTasks");

/// Related log lines, as far as they can be had.
async fn logs(access: &Access, failure: &Failure) -> Vec<LogLine> {
    match &failure.log_source {
        Some(LogSource::Function { function }) => {
            let name = function.rsplit(':').next().unwrap_or(function);
            function_log(access, name, failure.at).await
        }
        Some(LogSource::EcsService { service }) => stopped_tasks(access, service).await,
        Some(LogSource::CustomResource { .. } | LogSource::Database { .. }) | None => Vec::new(),
    }
}

async fn function_log(access: &Access, function: &str, at: Option<Timestamp>) -> Vec<LogLine> {
    let group = format!("/aws/lambda/{function}");
    let mut input = json!({ "logGroupName": group, "limit": MOST_LINES });
    if let Some(at) = at {
        // What led to it happened before.
        input["startTime"] = json!(at.as_millis() - 120_000);
    }
    let call = SignedCall::new(FILTER_EVENTS, input);
    let Ok(found) = access.cloud.call(&access.target, call).await else {
        return Vec::new();
    };
    let events = found["events"].as_array().cloned().unwrap_or_default();
    let lines = events.iter().map(|event| LogLine {
        source: group.clone(),
        ts: event["timestamp"].as_i64().map(Timestamp::from_millis),
        message: event["message"]
            .as_str()
            .unwrap_or_default()
            .trim_end()
            .to_owned(),
    });
    lines.collect()
}

/// Why the tasks of a service stopped.
async fn stopped_tasks(access: &Access, service: &str) -> Vec<LogLine> {
    // arn:aws:ecs:region:account:service/cluster/name
    let mut parts = service.rsplit('/');
    let (name, cluster) = (
        parts.next().unwrap_or(service),
        parts.next().unwrap_or_default(),
    );
    let input = json!({ "cluster": cluster, "serviceName": name, "desiredStatus": "STOPPED" });
    let call = SignedCall::new(LIST_TASKS, input);
    let Ok(listed) = access.cloud.call(&access.target, call).await else {
        return Vec::new();
    };
    let mut tasks = crate::package::texts(&listed["taskArns"]);
    tasks.truncate(5);
    if tasks.is_empty() {
        return Vec::new();
    }
    let call = SignedCall::new(
        DESCRIBE_TASKS,
        json!({ "cluster": cluster, "tasks": tasks }),
    );
    let Ok(described) = access.cloud.call(&access.target, call).await else {
        return Vec::new();
    };
    let described = described["tasks"].as_array().cloned().unwrap_or_default();
    described.iter().flat_map(task_lines).collect()
}

fn task_lines(task: &Value) -> Vec<LogLine> {
    let line = |source: &str, message: String| LogLine {
        source: source.to_owned(),
        ts: None,
        message,
    };
    let mut lines = Vec::new();
    if let Some(reason) = task["stoppedReason"].as_str() {
        lines.push(line("ecs", reason.to_owned()));
    }
    for container in task["containers"].as_array().into_iter().flatten() {
        let name = container["name"].as_str().unwrap_or("container");
        let code = container["exitCode"].as_i64();
        let reason = container["reason"].as_str().unwrap_or_default();
        if code.is_some() || !reason.is_empty() {
            let code = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
            lines.push(line(
                name,
                format!("exit code {code} {reason}").trim_end().to_owned(),
            ));
        }
    }
    lines
}
