//! A deployment of the config: hooks, packages, uploads, the change, what comes after it.

use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_stack_lifecycle::Proposal;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::delete::Deletion;
use windlass_stack_lifecycle::execute::OnFailure;
use windlass_stack_lifecycle::recreate::deletion_first;
use windlass_stack_lifecycle::script::Moment;
use windlass_stack_lifecycle::situation::Situation;
use windlass_types::{ArtifactRef, Problem, code};

use super::after::{Aftermath, Finished};
use super::change::{Change, Changed};
use super::preview::prepared;
use super::{Job, claim, failure, gate, recreate, report};
use crate::desk::Desk;
use crate::fault;
use crate::package::{self, Sent};
use crate::prepare::Prepared;
use crate::project::Project;
use crate::scripts::{HooksRan, run_hooks};
use crate::sync::Filled;
use crate::telling::telling;

pub(super) async fn run(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
) -> Result<Value, RunError> {
    report::progress(context, "initializing", "Reading the config", None).await?;
    let (stack, job) = gate::name_stack(context, desk, job, "deploy").await?;
    let job = &gate::pass_deployment(context, desk, &job, &stack).await?;
    hooks(context, desk, job, Moment::BeforeDeploy, "deploy").await?;
    report::progress(context, "packaging", "Packaging workloads", None).await?;
    let (prepared, artifact) = prepared(context, desk, job, "deploy").await?;
    prepared.require_secrets()?;
    claim::claim(context, desk, &prepared.region, prepared.stack_name()).await?;
    let failed = failed_stack(context, desk, job, &prepared.proposal).await?;
    let recreated = match failed {
        Some(failed) => {
            let proposal = &prepared.proposal;
            Some(recreate::confirmed(context, desk, job, proposal, failed).await?)
        }
        None => None,
    };
    let account = prepared.account.clone().unwrap_or_default();
    let store = AssetStore::new(&account, &prepared.region);
    report::progress(context, "uploading", "Uploading what is missing", None).await?;
    let sent = upload(context, desk, job, &store, &artifact).await?;
    let message = format!("{} uploaded, {} already there", sent.uploaded, sent.present);
    report::progress(context, "uploading", &message, None).await?;
    if let Some(failed) = recreated.as_ref().and_then(|plan| plan.recreate.as_ref()) {
        recreate::delete_failed(context, desk, job, &prepared.proposal, failed).await?;
    }
    let keep = job.says("disableAutoRollback") || prepared.disable_auto_rollback;
    let change = Change {
        desk,
        job,
        proposal: prepared.proposal.clone(),
        store: store.clone(),
        on_failure: if keep {
            OnFailure::Keep
        } else {
            OnFailure::Rollback
        },
        recreated,
    };
    let (plan, stack_id, changed) = match change.make(context).await? {
        Changed::Nothing { plan, stack_id } => (plan, stack_id, false),
        Changed::Ended { plan, trail } => {
            if trail.succeeded() != Some(true) {
                let names = &prepared.proposal.names;
                let stack = prepared.stack_name();
                let report = failure::report(context, desk, job, &trail, names, stack).await?;
                return Err(failure::problem(&code::DEPLOY_FAILED, &report, "deploying").into());
            }
            (plan, trail.stack_id.clone(), true)
        }
    };
    let finished = Aftermath {
        desk,
        job,
        prepared: &prepared,
        artifact: &artifact,
        store: &store,
        stack_id: &stack_id,
        plan: &plan,
        changed,
        restored: None,
    }
    .finish(context)
    .await?;
    Ok(answer(context, &prepared, &plan, changed, finished))
}

/// A failed stack that must be deleted first. A stack that cannot be deployed to at all is refused
/// before anything is sent.
async fn failed_stack(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    proposal: &Proposal,
) -> Result<Option<Deletion>, RunError> {
    let access = desk.access(job.place.target());
    Step::pure("situation")
        .run(context, async |_| {
            let situation = Situation::find(&access, &proposal.stack_name).await;
            let situation = situation.map_err(fault::problem)?;
            let failed = deletion_first(&access, &situation, &proposal.names).await;
            let failed = failed.map_err(fault::problem)?;
            if failed.is_none() {
                let deployable = situation.require_deployable(&access).await;
                deployable.map_err(fault::problem)?;
            }
            Ok(failed)
        })
        .await
}

fn answer(
    context: &dyn RunContext,
    prepared: &Prepared,
    plan: &windlass_stack_lifecycle::plan::Plan,
    changed: bool,
    finished: Finished,
) -> Value {
    let stack = prepared.stack_name();
    let mut message = if changed {
        format!("Deploy of {stack} completed")
    } else {
        format!("{stack} has no changes")
    };
    if !finished.hook_failures.is_empty() {
        let failed = match finished.hook_failures.len() {
            1 => "1 after-hook".to_owned(),
            count => format!("{count} after-hooks"),
        };
        message.push_str(&format!("; {failed} failed"));
    }
    let mut data = json!({
        "message": message,
        "stackName": stack,
        "outputs": finished.outputs,
        "runId": context.run_id(),
        "version": finished.version,
        "changeCounts": plan.counts(),
        "planDigest": plan.digest().to_string(),
        "hookFailures": finished.hook_failures,
        "buckets": finished.buckets.iter().map(Filled::summary).collect::<Vec<_>>(),
        "warnings": prepared.warnings,
        "configFile": prepared.config_file,
        "region": prepared.region,
    });
    if !changed {
        data["reason"] = json!("no_changes");
    }
    data
}

/// Runs the hooks of a moment, once. A run that was interrupted among them does not guess.
pub(super) async fn hooks(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    moment: Moment,
    command: &'static str,
) -> Result<HooksRan, RunError> {
    let name = format!("hooks-{}", moment.name());
    Step::effect(&name, moment.name())
        .undo(|_: HooksRan| async { Ok(()) })
        .run(context, async |step| {
            let (teller, telling) = telling(desk, context.run_id(), &name, step.attempt());
            let work = async move {
                // Hooks change things; without credentials nothing could follow them.
                let target = job.place.target();
                let caller = desk.outside.cloud.caller(&target).await;
                caller.map_err(|failure| fault::problem(failure.into()))?;
                let project = Project::load(desk, &job.place, &job.arguments, command).await?;
                run_hooks(desk, &job.place, &project, moment, &teller).await
            };
            tokio::join!(work, telling).0
        })
        .await
}

/// Makes the asset store where it is missing and sends what it lacks. Named by content, so what
/// was sent harms nobody when the deployment fails.
async fn upload(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    store: &AssetStore,
    artifact: &ArtifactRef,
) -> Result<Sent, RunError> {
    Step::effect("upload", store.bucket.clone())
        .undo(|_: Sent| async { Ok(()) })
        .run(context, async |_| {
            let prepared: Prepared = desk.load(artifact).await?;
            send(desk, job, store, &prepared).await
        })
        .await
}

async fn send(
    desk: &Desk,
    job: &Job,
    store: &AssetStore,
    prepared: &Prepared,
) -> Result<Sent, Problem> {
    let access = desk.access(job.place.target());
    store.ensure_bucket(&access).await.map_err(fault::problem)?;
    let zips = package::send_zips(&access, store, &prepared.packages).await?;
    if prepared.packages.images.is_empty() {
        return Ok(zips);
    }
    store
        .ensure_repository(&access)
        .await
        .map_err(fault::problem)?;
    let project = Project::load(desk, &job.place, &job.arguments, "deploy").await?;
    let images = package::send_images(desk, &access, project, &prepared.packages).await?;
    Ok(Sent {
        uploaded: zips.uploaded + images.uploaded,
        present: zips.present + images.present,
    })
}
