//! A script of the config, run once.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_types::Problem;

use super::{Job, Kind, gate, report};
use crate::desk::Desk;
use crate::project::Project;
use crate::scripts::{Ran, run_script};
use crate::telling::telling;

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
    let lines = vec![format!("> run the script {script}")];
    gate::pass(
        context,
        desk,
        Kind::Script,
        job,
        &stack,
        &job.arguments,
        lines,
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
            let script = &script;
            let work = async move {
                let project = Project::load(desk, &job.place, &job.arguments, "script_run").await?;
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

fn interrupted(script: &str) -> Problem {
    Problem::new(
        &windlass_types::code::STEP_FAILED,
        format!("the process ended while {script} was running; it may have done part of its work"),
    )
    .with("reason", "interrupted")
    .with("scriptName", script)
    .next("check what the script did, then run it again")
}
