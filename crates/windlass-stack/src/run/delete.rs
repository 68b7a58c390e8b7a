//! Deleting a stack: what is in the way is emptied, CloudFormation deletes, the end is followed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_stack_config::find_config;
use windlass_stack_lifecycle::delete::{self, DeleteIntent, Deletion};
use windlass_stack_lifecycle::script::Moment;
use windlass_stack_lifecycle::{empty, follow::Trail};
use windlass_types::code;

use super::{Job, Kind, claim, deploy, failure, follow, gate, report};
use crate::desk::Desk;
use crate::fault;
use crate::invoke;
use crate::known;
use crate::project::Project;

/// How long single calls may take.
const CALL_TIME: Duration = Duration::from_secs(900);

pub(super) async fn run(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
) -> Result<Value, RunError> {
    let name = job.place.stack_name().unwrap_or_default();
    report::progress(context, "initializing", "Looking at the stack", None).await?;
    let region = job.place.region.clone().unwrap_or_default();
    claim::claim(context, desk, &region, &name).await?;
    let access = desk.access(job.place.target());
    let retain = job.texts("retainResources");
    let (deletion, names): (Deletion, BTreeMap<String, String>) = Step::pure("plan")
        .run(context, async |_| {
            let names = known::names_of(&access, &name).await;
            let deletion = delete::plan(&access, &name, &retain, &names).await;
            Ok((deletion.map_err(fault::problem)?, names))
        })
        .await?;
    let lines = deletion.changes.iter().map(gate::line).collect();
    gate::pass(context, desk, Kind::Delete, job, &name, &deletion, lines).await?;
    let has_config = has_config(context, job).await?;
    if has_config {
        deploy::hooks(context, desk, job, Moment::BeforeDelete, "delete").await?;
        call_functions(context, desk, job, &deletion).await?;
    }
    clear(context, desk, job, &deletion).await?;
    report::progress(context, "deleting", "Deleting the stack", Some(0)).await?;
    let token = context.run_id().to_string();
    let trail = delete_stack(context, desk, job, &deletion, &token).await?;
    if trail.succeeded() != Some(true) {
        let report = failure::report(context, desk, job, &trail, &names, &name).await?;
        return Err(failure::problem(&code::DELETE_FAILED, &report, "deleting").into());
    }
    let mut hook_failures = Vec::new();
    if has_config {
        let ran = deploy::hooks(context, desk, job, Moment::AfterDelete, "delete").await?;
        hook_failures = ran.failures;
    }
    Ok(json!({
        "message": format!("{name} is deleted"),
        "stackName": name,
        "deleted": deletion.deleted(),
        "retained": deletion.retained(),
        "statefulChanges": deletion.stateful,
        "hookFailures": hook_failures,
        "runId": context.run_id(),
    }))
}

/// A stack can be deleted without its config; hooks need it.
async fn has_config(context: &dyn RunContext, job: &Job) -> Result<bool, RunError> {
    let place = &job.place;
    Step::pure("config")
        .run(context, async |_| {
            match find_config(&place.directory, place.config_path.as_deref()) {
                Ok(_) => Ok(true),
                Err(problem) if place.config_path.is_some() => Err(problem),
                Err(_) => Ok(false),
            }
        })
        .await
}

/// Deployment scripts that run before a delete.
async fn call_functions(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    deletion: &Deletion,
) -> Result<(), RunError> {
    let _: Vec<Value> = Step::effect("call-functions", deletion.stack_name.as_str())
        .run(context, async |_| {
            let project = Project::load(desk, &job.place, &job.arguments, "delete").await?;
            invoke::before_delete(desk, job, &project).await
        })
        .await?;
    Ok(())
}

/// Empties and stops what would keep the stack from being deleted.
pub(super) async fn clear(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    deletion: &Deletion,
) -> Result<(), RunError> {
    for clearing in &deletion.clearings {
        let id = clearing.logical_id();
        let message = format!("Emptying {id}");
        report::progress(context, "deleting", &message, None).await?;
        let access = desk.access(job.place.target());
        let _: u64 = Step::effect(format!("clear-{id}"), id)
            .run(context, async |_| {
                let deadline = access.clock.now().after(CALL_TIME);
                empty::clear(&access, clearing, deadline)
                    .await
                    .map_err(fault::problem)
            })
            .await?;
    }
    Ok(())
}

/// Deletes the stack and follows it to its end. The token is the run's id, or made of it.
pub(super) async fn delete_stack(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    deletion: &Deletion,
    token: &str,
) -> Result<Trail, RunError> {
    let access = desk.access(job.place.target());
    let intent: DeleteIntent = Step::pure("intend")
        .run(context, async |_| {
            delete::intend(&access, deletion, token, None)
                .await
                .map_err(fault::problem)
        })
        .await?;
    let _: bool = Step::effect("begin", deletion.stack_name.as_str())
        .input(&intent)
        .run(context, async |_| {
            let deadline = access.clock.now().after(CALL_TIME);
            delete::begin(&access, &intent, deadline)
                .await
                .map_err(fault::problem)?;
            Ok(true)
        })
        .await?;
    follow::follow(context, desk, &access, intent.trail()).await
}
