//! The tools for commands in the background.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use windlass_agent_model::{Source, SourceKind};
use windlass_policy::ToolClass;
use windlass_ports::{BoxFuture, ToolSpec};

use super::{Input, MOST_SECONDS, Task, fields, look, prepare};
use crate::{
    Code, Context, Failure, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    schema::{filled, number, spec, text},
};

/// How long tasks are waited for, where no time is given.
const WAIT: Duration = Duration::from_secs(600);
/// As much output of each of several tasks as is told.
const BRIEF: usize = 4 * 1024;

pub(super) fn tools() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(RunCommandTask::default()),
        Box::new(GetAllTasks::default()),
        Box::new(GetTaskDetails::default()),
        Box::new(WaitForTasks::default()),
        Box::new(CancelTask::default()),
    ]
}

struct RunCommandTask(ToolSpec);

impl Default for RunCommandTask {
    fn default() -> Self {
        Self(spec(
            "run_command_task",
            "Run a shell command in the background and return its task id at once. It ends with \
             the session, or after timeout.",
            &fields(),
        ))
    }
}

impl Tool for RunCommandTask {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, places: &Places) -> Result<Look, Failure> {
        look(&read(input)?, places)
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        let start = move || -> Result<Outcome, Failure> {
            let input: Input = read(&input)?;
            let time = input.timeout.map(Duration::from_secs);
            let (job, captures) = prepare(&input, time, "task", context)?;
            let now = context.clock.now();
            let entropy = context.entropy.as_ref();
            let id = context
                .tasks
                .start(job, captures, input.command, now, entropy)?;
            Ok(Outcome::text(format!("Task {id} was started.")))
        };
        Box::pin(async move { Ran::Done(start().into()) })
    }
}

struct GetAllTasks(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AllInput {
    /// Some models call no tool without an argument.
    #[serde(rename = "view")]
    _view: String,
}

impl Default for GetAllTasks {
    fn default() -> Self {
        let fields = [("view!", text("Any text, such as \"all\"."))];
        Self(spec(
            "get_all_tasks",
            "List the background tasks of this session.",
            &fields,
        ))
    }
}

impl Tool for GetAllTasks {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, _: &Places) -> Result<Look, Failure> {
        read::<AllInput>(input)?;
        Ok(Look::new(ToolClass::Read))
    }

    fn run<'a>(&'a self, _: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let lines: Vec<String> = context.tasks.all().iter().map(line).collect();
            Ran::Done(Outcome::text(match lines.is_empty() {
                true => "There are no tasks.".to_owned(),
                false => lines.join("\n"),
            }))
        })
    }
}

struct GetTaskDetails(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneInput {
    task_id: String,
}

impl Default for GetTaskDetails {
    fn default() -> Self {
        let fields = [("task_id!", filled("The id of the task."))];
        Self(spec(
            "get_task_details",
            "Show the state, duration and output of one background task.",
            &fields,
        ))
    }
}

impl Tool for GetTaskDetails {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, _: &Places) -> Result<Look, Failure> {
        read::<OneInput>(input)?;
        Ok(Look::new(ToolClass::Read))
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        let show = move || -> Result<Outcome, Failure> {
            let input: OneInput = read(&input)?;
            Ok(details(&context.tasks.get(&input.task_id)?))
        };
        Box::pin(async move { Ran::Done(show().into()) })
    }
}

struct WaitForTasks(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitInput {
    task_ids: String,
    timeout: Option<u64>,
}

impl Default for WaitForTasks {
    fn default() -> Self {
        let fields = [
            ("task_ids!", filled("Ids of tasks, separated by spaces.")),
            (
                "timeout",
                number(
                    1,
                    MOST_SECONDS,
                    "Seconds to wait at most; otherwise 10 minutes.",
                ),
            ),
        ];
        Self(spec(
            "wait_for_tasks",
            "Wait until all of these background tasks have ended, or the time is up.",
            &fields,
        ))
    }
}

impl Tool for WaitForTasks {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, _: &Places) -> Result<Look, Failure> {
        read::<WaitInput>(input)?;
        Ok(Look::new(ToolClass::Read))
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move { Ran::Done(wait(input, context).await.into()) })
    }
}

async fn wait(input: Value, context: &Context) -> Result<Outcome, Failure> {
    let input: WaitInput = read(&input)?;
    let ids: Vec<&str> = input.task_ids.split_whitespace().collect();
    if ids.is_empty() {
        return Err(Failure::new(
            Code::InvalidArguments,
            "task_ids names no task.",
        ));
    }
    let time = input.timeout.map_or(WAIT, Duration::from_secs);
    let ended = tokio::select! {
        ended = tokio::time::timeout(time, context.tasks.wait(&ids)) => ended,
        () = context.cancel.cancelled() => {
            return Err(Failure::new(Code::CommandCancelled, "Waiting was cancelled."));
        }
    };
    let mut told = match ended {
        Ok(ended) => {
            ended?;
            String::new()
        }
        Err(_) => format!("[not all have ended after {} s]\n", time.as_secs()),
    };
    let mut spilled = Vec::new();
    for id in ids {
        let task = context.tasks.get(id)?;
        let from = task.output.len().saturating_sub(BRIEF);
        let from = task.output.ceil_char_boundary(from);
        told.push_str(&line(&task));
        told.push('\n');
        told.push_str(task.output.get(from..).unwrap_or_default());
        spilled.extend(task.spilled);
    }
    let mut outcome = Outcome::text(told).told_by(Source {
        kind: SourceKind::Tool,
        name: "background tasks".to_owned(),
    });
    outcome.spilled = spilled;
    Ok(outcome)
}

struct CancelTask(ToolSpec);

impl Default for CancelTask {
    fn default() -> Self {
        let fields = [("task_id!", filled("The id of the task."))];
        Self(spec(
            "cancel_task",
            "Stop a background task with everything it started.",
            &fields,
        ))
    }
}

impl Tool for CancelTask {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, _: &Places) -> Result<Look, Failure> {
        read::<OneInput>(input)?;
        Ok(Look::new(ToolClass::Meta))
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let cancelled = async {
                let input: OneInput = read(&input)?;
                Ok(details(&context.tasks.cancel(&input.task_id).await?))
            };
            Ran::Done(cancelled.await.into())
        })
    }
}

fn line(task: &Task) -> String {
    format!(
        "{}  {}  {} s  {}",
        task.id,
        task.state,
        task.duration.as_secs(),
        windlass_text::visible(&task.command)
    )
}

fn details(task: &Task) -> Outcome {
    let mut outcome = Outcome::text(format!(
        "{}\nstarted at {}\n{}",
        line(task),
        task.started_at,
        task.output
    ))
    .told_by(Source {
        kind: SourceKind::Tool,
        name: task.command.clone(),
    });
    outcome.spilled.clone_from(&task.spilled);
    outcome
}
