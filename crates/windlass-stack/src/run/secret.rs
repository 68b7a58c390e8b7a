//! Secrets made and deleted. What is written once is written once: the token of every call is the
//! run's id, and a run that is taken up again looks what it has come to.
//!
//! The value of a secret is in no run. Where it is lost with the process that was called, and had
//! not reached AWS, the run fails and says so.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_stack_diagnose::{
    self as diagnose, Operation as Question, Outside, SecretState, Settings,
};
use windlass_stack_lifecycle::change_set::client_token;
use windlass_types::{Problem, RunId, code};

use super::Job;
use crate::desk::Desk;
use crate::handover::{self, Turn};
use crate::ops::{output, outside_with};
use crate::values::SecretArgument;

/// A part of making a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Part {
    /// One that is not there.
    Create,
    /// A new version of one that is, restored first if it waits for its deletion.
    Update,
}

impl Part {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
        }
    }
}

/// What came of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Came {
    /// The value is in AWS; this is the answer.
    Written(Map<String, Value>),
    /// There is a secret of that name.
    Taken(Problem),
    /// Nobody holds the value, and it is not in AWS.
    Gone,
}

pub(super) async fn create(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
) -> Result<Value, RunError> {
    let taken = match write(context, desk, job, Part::Create).await? {
        Came::Written(output) => return Ok(Value::Object(output)),
        Came::Gone => return Err(interrupted(job).into()),
        Came::Taken(problem) => problem,
    };
    if !job.says("forceUpdate") {
        return Err(taken.into());
    }
    let waited = taken.details().get("reason") == Some(&json!("scheduled_for_deletion"));
    match write(context, desk, job, Part::Update).await? {
        Came::Written(mut output) => {
            // A try that was interrupted may have restored it, and a repeated one is answered by
            // AWS as if it had made the secret.
            let region = job.place.region.as_deref().unwrap_or_default();
            let name = secret_name(job);
            let message = format!("wrote a new version of the secret {name} in {region}");
            output.insert("message".to_owned(), json!(message));
            output.insert("restored".to_owned(), json!(waited));
            Ok(Value::Object(output))
        }
        Came::Taken(problem) => Err(problem.into()),
        Came::Gone => Err(interrupted(job).into()),
    }
}

async fn write(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    part: Part,
) -> Result<Came, RunError> {
    let run_id = context.run_id();
    let name = secret_name(job);
    let undone = name.clone();
    Step::effect(part.name(), name)
        .input(&json!({ "arguments": job.arguments, "token": token(run_id) }))
        .undo(move |came: Came| {
            let name = undone.clone();
            async move {
                match came {
                    Came::Written(_) => Err(Problem::new(
                        &code::ILLEGAL_STATE,
                        format!("the secret {name} keeps the value it was given"),
                    )
                    .next(format!("windlass stack secret delete {name}"))),
                    Came::Taken(_) | Came::Gone => Ok(()),
                }
            }
        })
        .run(context, async |step| {
            let turn = Turn {
                part,
                attempt: step.attempt(),
            };
            written(desk, run_id, job, turn).await
        })
        .await
}

/// Writes the value, or finds who does.
async fn written(desk: &Desk, run_id: &RunId, job: &Job, turn: Turn) -> Result<Came, Problem> {
    let slot = job.slot.as_deref().unwrap_or_default();
    if let Some(argument) = desk.outside.values.get(slot) {
        return perform(desk, run_id, job, turn.part, &argument).await;
    }
    if let Some(came) = in_aws(desk, run_id, job, turn.part).await? {
        return Ok(came);
    }
    if let Some(came) = handover::ask(desk, run_id, turn).await? {
        return Ok(came);
    }
    // Anyone who held it may have died after it had arrived.
    let found = in_aws(desk, run_id, job, turn.part).await?;
    Ok(found.unwrap_or(Came::Gone))
}

async fn in_aws(
    desk: &Desk,
    run_id: &RunId,
    job: &Job,
    part: Part,
) -> Result<Option<Came>, Problem> {
    let arguments = Value::Object(of_part(job, part));
    let found = diagnose::secret_written(&outside(desk, run_id, job), &arguments).await?;
    Ok(found.map(|answer| Came::Written(output(answer))))
}

/// Does a part with the value.
pub(crate) async fn perform(
    desk: &Desk,
    run_id: &RunId,
    job: &Job,
    part: Part,
    argument: &SecretArgument,
) -> Result<Came, Problem> {
    let mut arguments = of_part(job, part);
    argument.put(&mut arguments);
    let (outside, arguments) = (outside(desk, run_id, job), Value::Object(arguments));
    match diagnose::answer(&outside, Question::SecretCreate, &arguments).await {
        Ok(answer) => Ok(Came::Written(output(answer))),
        Err(problem) if problem.code() == &code::ALREADY_EXISTS => Ok(Came::Taken(problem)),
        Err(problem) => Err(problem),
    }
}

fn of_part(job: &Job, part: Part) -> Map<String, Value> {
    let mut arguments = job.arguments.clone();
    arguments.insert("forceUpdate".to_owned(), json!(part == Part::Update));
    arguments
}

fn interrupted(job: &Job) -> Problem {
    let name = secret_name(job);
    Problem::new(
        &code::STEP_FAILED,
        format!(
            "the secret {name} was not written: the process that held its value is gone, and \
             values are kept nowhere"
        ),
    )
    .with("reason", "interrupted")
    .with("name", name)
    .next("run the command again")
}

pub(super) async fn delete(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
) -> Result<Value, RunError> {
    let outside = outside(desk, context.run_id(), job);
    let arguments = Value::Object(job.arguments.clone());
    let before: SecretState = Step::pure("look")
        .run(context, async |_| {
            diagnose::secret_state(&outside, &arguments).await
        })
        .await?;
    let (undo_outside, undo_arguments) = (outside.clone(), arguments.clone());
    let output: Map<String, Value> = Step::effect("delete", secret_name(job))
        .input(&arguments)
        .undo(move |output: Map<String, Value>| {
            let (outside, arguments) = (undo_outside.clone(), undo_arguments.clone());
            async move { take_back(&outside, &arguments, &output).await }
        })
        .run(context, async |_| {
            let answer = match finished(&outside, &arguments, &before).await? {
                Some(answer) => answer,
                None => diagnose::answer(&outside, Question::SecretDelete, &arguments).await?,
            };
            Ok(output(answer))
        })
        .await?;
    Ok(Value::Object(output))
}

/// What an earlier attempt has come to. One that only scheduled the deletion is made again, for AWS
/// does not say again on which day the secret will be gone.
async fn finished(
    outside: &Outside,
    arguments: &Value,
    before: &SecretState,
) -> Result<Option<diagnose::Answer>, Problem> {
    let SecretState::There { arn } = before else {
        return Ok(None);
    };
    match diagnose::secret_state(outside, arguments).await? {
        SecretState::There { .. } => Ok(None),
        SecretState::Scheduled => {
            diagnose::secret_restored(outside, arguments).await?;
            Ok(None)
        }
        SecretState::Absent => diagnose::secret_deleted(arguments, arn.as_deref()).map(Some),
    }
}

/// Undoing a deletion: one that was only scheduled is called off.
async fn take_back(
    outside: &Outside,
    arguments: &Value,
    output: &Map<String, Value>,
) -> Result<(), Problem> {
    if output.get("recoverable") == Some(&Value::Bool(true)) {
        return diagnose::secret_restored(outside, arguments).await;
    }
    let name = output
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Err(Problem::new(
        &code::ILLEGAL_STATE,
        format!("the secret {name} was deleted at once and is gone"),
    ))
}

fn secret_name(job: &Job) -> String {
    job.text("secretName").unwrap_or_default().to_owned()
}

/// The token of a run's writes; it is the id of the version they make.
fn token(run_id: &RunId) -> String {
    format!("windlass-{}", client_token(run_id.as_str()))
}

fn outside(desk: &Desk, run_id: &RunId, job: &Job) -> Outside {
    let settings = Settings {
        role_arn: desk.outside.role_arn.clone(),
        working_directory: job.place.directory.clone(),
        request_token: Some(token(run_id)),
        // Who may change things was asked when the run was started.
        ..Settings::default()
    };
    outside_with(desk, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_a_run_fits() {
        let run_id = RunId::from_random([7; 16]);
        let token = token(&run_id);
        assert!((32..=64).contains(&token.len()), "{token}");
        assert!(token.starts_with("windlass-run-"), "{token}");
    }
}
