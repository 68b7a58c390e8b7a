//! A script of the config, run once.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_stack_config::model::script::ScriptStep;
use windlass_types::{Digest, Problem, code};

use super::{Job, Kind, gate, report};
use crate::desk::Desk;
use crate::project::Project;
use crate::scripts::{Ran, run_script};
use crate::telling::telling;

/// What a script would do, as an approver sees it and as it must still be when it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ScriptPlan {
    /// Of the definition in the config and of the files it runs.
    digest: Digest,
    lines: Vec<String>,
}

impl ScriptPlan {
    async fn read(desk: &Desk, project: &Project, script: &str) -> Result<Self, Problem> {
        let mut lines = vec![format!("> run the script {script}")];
        let Some(found) = project.config.scripts.get(script) else {
            // Refused with the known names when it is started.
            let digest = Digest::default();
            return Ok(Self { digest, lines });
        };
        let mut files = Vec::new();
        for step in found.steps() {
            match step {
                ScriptStep::File(written) => {
                    let content = tokio::fs::read(project.config_directory.join(written)).await;
                    let digest = Digest::of(&content.unwrap_or_default());
                    lines.push(format!("  {written} (sha256 {digest})"));
                    files.push(digest);
                }
                ScriptStep::Command(command) => {
                    let shown = desk.engine.redactor.redact(command);
                    lines.push(format!("  $ {shown}"));
                }
            }
        }
        let definition =
            serde_json::to_value(found).map_err(|error| Problem::internal("script", error))?;
        let digest = Digest::of_json(&json!({ "definition": definition, "files": files }));
        Ok(Self { digest, lines })
    }
}

/// How long a script may take where the call says nothing.
const TIME: Duration = Duration::from_secs(3600);

pub(super) async fn run(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
) -> Result<Value, RunError> {
    let script = job.text("scriptName").unwrap_or_default().to_owned();
    let message = format!("Running {script}");
    report::progress(context, "initializing", &message, None).await?;
    let (stack, job) = &gate::name_stack(context, desk, job, "script_run").await?;
    let plan: ScriptPlan = Step::pure("script-plan")
        .run(context, async |_| {
            let project = Project::load(desk, &job.place, &job.arguments, "script_run").await?;
            ScriptPlan::read(desk, &project, &script).await
        })
        .await?;
    let asked = (&job.arguments, &plan);
    gate::pass(
        context,
        desk,
        Kind::Script,
        job,
        stack,
        &asked,
        plan.lines.clone(),
    )
    .await?;
    let time = job.arguments.get("timeoutSeconds").and_then(Value::as_u64);
    let time = time.map_or(TIME, Duration::from_secs);
    let ran: Ran = Step::effect("script", script.as_str())
        .run(context, async |step| {
            // A script that may have run before is not run a second time unasked.
            if step.attempt() > 1 {
                return Err(interrupted(&script));
            }
            let (teller, telling) = telling(desk, context.run_id(), "script", step.attempt());
            let (script, plan) = (&script, &plan);
            let work = async move {
                let project = Project::load(desk, &job.place, &job.arguments, "script_run").await?;
                if ScriptPlan::read(desk, &project, script).await? != *plan {
                    return Err(changed(script));
                }
                let deadline = desk.engine.now().after(time);
                run_script(desk, &job.place, &project, script, deadline, &teller).await
            };
            tokio::join!(work, telling).0
        })
        .await?;
    Ok(json!({
        "message": format!("{script} ended with exit code {}", ran.exit_code),
        "scriptName": script,
        "exitCode": ran.exit_code,
        "durationMs": ran.duration_ms,
        "outputTail": ran.output_tail,
        "runId": context.run_id(),
    }))
}

fn changed(script: &str) -> Problem {
    let message = format!("{script} was changed after it was planned; it was not run");
    Problem::new(&code::ILLEGAL_STATE, message)
        .with("reason", "script_changed")
        .with("scriptName", script)
        .next("run it again, so that what it does now is shown and decided")
}

fn interrupted(script: &str) -> Problem {
    Problem::new(
        &windlass_types::code::STEP_FAILED,
        format!("the process ended while {script} was running; it may have done part of its work"),
    )
    .with("reason", "interrupted")
    .with("scriptName", script)
    .next("check what the script did, then run it again")
}
