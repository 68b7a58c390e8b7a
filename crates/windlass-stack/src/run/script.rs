//! A script of the config, run once.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_ports::aws::Target;
use windlass_stack_config::model::script::{Script, ScriptStep};
use windlass_stack_lifecycle::lines::Level;
use windlass_types::{Digest, Problem, code};

use super::{Job, Kind, gate, report};
use crate::desk::Desk;
use crate::dev::{Localised, RunningSession};
use crate::fault;
use crate::project::Project;
use crate::scripts::{Ran, run_script};
use crate::telling::{Teller, telling};

/// What a script would do, as an approver sees it and as it must still be when it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ScriptPlan {
    /// Of the definition in the config, of the files it runs and of what it runs with.
    digest: Digest,
    lines: Vec<String>,
    /// What it runs with.
    #[serde(default)]
    environment: String,
}

impl ScriptPlan {
    async fn read(
        desk: &Desk,
        project: &Project,
        session: Option<&RunningSession>,
        script: &str,
    ) -> Result<Self, Problem> {
        let environment = match session {
            Some(session) => session.shown(),
            None => format!(
                "the deployed stack {} in {}",
                project.stack_name(),
                project.region
            ),
        };
        let mut lines = vec![
            format!("> run the script {script}"),
            format!("  with {environment}"),
        ];
        let Some(found) = project.config.scripts.get(script) else {
            // Refused with the known names when it is started.
            return Ok(Self {
                digest: Digest::default(),
                lines,
                environment,
            });
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
        let mut whole = json!({ "definition": definition, "files": files });
        if let Some(RunningSession { session, .. }) = session {
            // A session that was started again is another one, with other passwords.
            whole["session"] = json!([session.manager, session.started_at]);
        }
        Ok(Self {
            digest: Digest::of_json(&whole),
            lines,
            environment,
        })
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
            let session = session_for(desk, job, &project, &script).await?;
            ScriptPlan::read(desk, &project, session.as_ref(), &script).await
        })
        .await?;
    let line = format!("{script} runs with {}", plan.environment);
    report::logs(context, "environment", &[("windlass".to_owned(), line)]).await?;
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
                let session = session_for(desk, job, &project, script).await?;
                if ScriptPlan::read(desk, &project, session.as_ref(), script).await? != *plan {
                    return Err(changed(script));
                }
                let local = match &session {
                    Some(session) => Some(localised(desk, session, &project, script, &teller)?),
                    None => None,
                };
                let deadline = desk.engine.now().after(time);
                run_script(desk, &job.place, &project, script, local, deadline, &teller).await
            };
            tokio::join!(work, telling).0
        })
        .await?;
    Ok(json!({
        "message": format!("{script} ended with exit code {}", ran.exit_code),
        "scriptName": script,
        "environment": plan.environment,
        "exitCode": ran.exit_code,
        "durationMs": ran.duration_ms,
        "outputTail": ran.output_tail,
        "runId": context.run_id(),
    }))
}

/// The session that a script runs with; nothing where it runs with the deployed stack.
async fn session_for(
    desk: &Desk,
    job: &Job,
    project: &Project,
    script: &str,
) -> Result<Option<RunningSession>, Problem> {
    let is_on_bastion = matches!(project.config.scripts.get(script), Some(Script::Bastion(_)));
    let Some(running) = RunningSession::of(&job.place, &job.arguments) else {
        return Ok(None);
    };
    if is_on_bastion || running.session.project_name != project.name {
        // The region may be one that only the session named, and the stack elsewhere.
        if !job.arguments.contains_key("region") {
            let target = Target {
                region: None,
                ..job.place.target()
            };
            let found = desk.outside.cloud.region(&target).await;
            if found.ok().flatten().as_deref() != Some(project.region.as_str()) {
                return Err(fault::missing("script_run", "region")
                    .next("name the region of the deployed stack, which this script runs with"));
            }
        }
        return Ok(None);
    }
    if running.session.is_local() && job.arguments.contains_key("assumeRoleOfResource") {
        return Err(Problem::invalid(
            "assumeRoleOfResource",
            "the deployed stack",
            format!(
                "assumeRoleOfResource needs a role of the deployed stack, and {script} runs with {}",
                running.shown()
            ),
        )
        .with("reason", "session_running")
        .next("add --deployed (deployed: true) to run it with the deployed stack"));
    }
    Ok(Some(running))
}

/// The script for a session; what it connects to and does not get is said.
fn localised(
    desk: &Desk,
    session: &RunningSession,
    project: &Project,
    script: &str,
    teller: &Teller,
) -> Result<Localised, Problem> {
    let (variables, redactor) = (&desk.outside.environment, &desk.engine.redactor);
    let ready = session.localised(&project.config, script, variables, redactor)?;
    for name in &ready.absent {
        let line = format!("{name} does not run locally; {script} gets no variables for it");
        teller.say("windlass", Level::Warn, &line);
    }
    Ok(ready)
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
