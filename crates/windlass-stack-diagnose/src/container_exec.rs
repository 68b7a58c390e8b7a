//! A command in a running container, behind a yes.
//!
//! ECS opens a session, its output comes over a data channel (`session`). The exit code comes with
//! a marker that a shell around the command prints last.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_ports::aws::services;
use windlass_types::{Problem, Secret, code};

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::ecs;
use crate::failure::{aws_problem, not_found};
use crate::session::{Marker, Session, listen, plain};
use crate::shapes::{list, named, reading, text};
use crate::through::sockets;

/// How much output one answer holds.
const LETTERS: usize = 30_000;
const TAIL_LINES: usize = 80;
const TAIL_LETTERS: usize = 8_000;

pub(crate) struct Ask {
    resource: String,
    command: String,
    container: Option<String>,
    task: Option<String>,
    confirm: bool,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        let command = arguments.needed("command")?;
        if command.contains('\0') || command.len() > 4_000 {
            return Err(invalid(
                "command",
                "command has at most 4000 bytes, none of them zero",
            ));
        }
        Ok(Self {
            resource: arguments.needed("resourceName")?.to_owned(),
            command: command.to_owned(),
            container: arguments.text("container")?.map(str::to_owned),
            task: arguments.text("taskArn")?.map(str::to_owned),
            confirm: arguments.flag("confirm"),
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    if !ask.confirm {
        return Err(Problem::new(
            &code::CONFIRM_REQUIRED,
            format!(
                "{:?} would run in a container of {}, which can change anything there",
                ask.command, ask.resource
            ),
        )
        .with("reason", "confirm_required")
        .with("command", ask.command.as_str())
        .with("resourceName", ask.resource.as_str())
        .next("repeat with confirm=true"));
    }
    let sockets = sockets(call, "commands in containers need")?;
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let service = ecs::find(&resources, &stack.stack_name, &ask.resource)?;
    let task = task(call, &service, ask).await?;
    let container = ecs::container(list(&task, "containers"), ask.container.as_deref())?;
    let container = text(container, "name").unwrap_or_default().to_owned();
    let task_arn = text(&task, "taskArn").unwrap_or_default().to_owned();
    if task.get("enableExecuteCommand") != Some(&Value::Bool(true)) {
        return Err(not_enabled(&ask.resource));
    }
    let marker = Marker::random(call.outside.entropy.as_ref());
    let opened = call
        .aws(
            named(&services::ECS, "ExecuteCommand"),
            json!({
                "cluster": service.cluster,
                "task": task_arn,
                "container": container,
                "command": marker.wrap(&ask.command),
                "interactive": true,
            }),
        )
        .await
        .map_err(|failure| {
            if failure.code == "TargetNotConnectedException"
                || failure.message.contains("execute command was not enabled")
            {
                return not_enabled(&ask.resource);
            }
            aws_problem(&failure)
        })?;
    let session = opened.get("session").cloned().unwrap_or_default();
    let secret = |name: &str| Secret::new(text(&session, name).unwrap_or_default().to_owned());
    let session = Session {
        url: secret("streamUrl"),
        token: secret("tokenValue"),
    };
    call.outside.redactor.register(&session.token);
    let outside = call.outside;
    let heard = listen(
        sockets.as_ref(),
        outside.clock.as_ref(),
        outside.entropy.as_ref(),
        &session,
        &mut |output| marker.is_in(output),
        call.deadline.before(Duration::from_secs(1)),
    )
    .await?;
    let (output, exit_code) = marker.split(&heard.output);
    let output = plain(&output);
    let Some(exit_code) = exit_code else {
        if heard.is_late {
            return Err(Problem::new(
                &code::TIMEOUT,
                format!(
                    "the command in {} did not end in time; it may still run",
                    ask.resource
                ),
            )
            .with("reason", "timeout")
            .with("output", tail(&output))
            .next("repeat with a longer timeoutSeconds"));
        }
        return Err(Problem::new(
            &code::UPSTREAM_ERROR,
            format!(
                "the session with {} ended before the command did",
                ask.resource
            ),
        )
        .with("reason", "interrupted")
        .with("output", tail(&output)));
    };
    let letters = output.chars().count();
    let shown: String = output.chars().take(LETTERS).collect();
    let mut answer = Answer::new(
        format!("exit code {exit_code} in {container} of {}", ask.resource),
        json!({
            "resourceName": ask.resource,
            "containerName": container,
            "taskArn": task_arn,
            "command": ask.command,
            "output": shown,
            "exitCode": exit_code,
            "truncated": letters > LETTERS || heard.is_cut,
        }),
    );
    answer.raw_tail = Some(tail(&output));
    Ok(answer)
}

/// The task that is meant: the one named, or one that runs.
async fn task(call: &Call<'_>, service: &ecs::Service, ask: &Ask) -> Result<Value, Problem> {
    let arns = match &ask.task {
        Some(task) => vec![json!(task)],
        None => {
            let listed = call
                .aws(
                    reading("ecs", "ListTasks")?,
                    json!({ "cluster": service.cluster, "serviceName": service.name, "desiredStatus": "RUNNING" }),
                )
                .await
                .map_err(|failure| aws_problem(&failure))?;
            list(&listed, "taskArns").to_vec()
        }
    };
    let none = || {
        not_found(
            "task",
            ask.task.as_deref().unwrap_or(&ask.resource),
            format!("no task of {} is running", ask.resource),
            [],
        )
        .next(format!("read logs of {}", ask.resource))
    };
    if arns.is_empty() {
        return Err(none());
    }
    let described = call
        .aws(
            reading("ecs", "DescribeTasks")?,
            json!({ "cluster": service.cluster, "tasks": arns }),
        )
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let group = format!("service:{}", service.name);
    list(&described, "tasks")
        .iter()
        // A task of another service is not what was asked for, whatever its ARN says.
        .filter(|task| text(task, "group").is_none_or(|of| of == group))
        .find(|task| text(task, "lastStatus") == Some("RUNNING"))
        .cloned()
        .ok_or_else(none)
}

fn not_enabled(resource: &str) -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        format!("the task of {resource} does not take commands"),
    )
    .with("reason", "remote_sessions_disabled")
    .next(format!(
        "set enableRemoteSessions: true on {resource} and deploy"
    ))
}

fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let last = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
    let skipped = last.chars().count().saturating_sub(TAIL_LETTERS);
    last.chars().skip(skipped).collect()
}

#[cfg(test)]
#[path = "container_exec_tests.rs"]
mod tests;
