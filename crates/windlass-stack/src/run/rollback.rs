//! Going back: an operation that failed is taken back, a rollback that stopped goes on, or an
//! earlier version is deployed. The stack's state decides which.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, Step};
use windlass_ports::aws::Stack;
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::execute::OnFailure;
use windlass_stack_lifecycle::owner::require_own;
use windlass_stack_lifecycle::rollback::{self, Mode, RollbackIntent};
use windlass_stack_lifecycle::situation::Situation;
use windlass_stack_lifecycle::versions::{self, Version, VersionRecord, Wish};
use windlass_stack_lifecycle::{Access, Proposal};
use windlass_types::{ArtifactRef, Problem, code};

use super::after::Aftermath;
use super::change::{Change, Changed};
use super::{Job, Kind, claim, failure, follow, gate, report};
use crate::desk::Desk;
use crate::fault;
use crate::known;
use crate::package::Packages;
use crate::prepare::{FilledBucket, Prepared};

/// How long single calls may take.
const CALL_TIME: Duration = Duration::from_secs(300);

/// A stack as it was found, and the way back from there.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Way {
    stack: Stack,
    mode: Mode,
}

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
    let way: Way = Step::pure("way")
        .run(context, async |_| find_way(&access, &name).await)
        .await?;
    match way.mode {
        Mode::Undo | Mode::Continue => {
            let lines = vec![format!(
                "~ {name}: {:?} from {}",
                way.mode, way.stack.stack_status
            )];
            gate::pass(context, desk, Kind::Rollback, job, &name, &way, lines).await?;
            go_back(context, desk, job, &name, way).await
        }
        Mode::Redeploy => redeploy(context, desk, job, &name).await,
    }
}

async fn find_way(access: &Access, name: &str) -> Result<Way, Problem> {
    let situation = Situation::find(access, name)
        .await
        .map_err(fault::problem)?;
    let Some(stack) = situation.stack else {
        return Err(
            Problem::new(&code::NOT_FOUND, format!("there is no stack {name}"))
                .with("reason", "stack_not_found")
                .with("kind", "stack")
                .with("stackName", name)
                .next("`windlass stack info stacks` lists what exists in the region"),
        );
    };
    require_own(&stack).map_err(fault::problem)?;
    let mode = rollback::mode(&stack).map_err(fault::problem)?;
    Ok(Way { stack, mode })
}

/// The two ways CloudFormation has.
async fn go_back(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    name: &str,
    way: Way,
) -> Result<Value, RunError> {
    report::progress(context, "rolling-back", "Rolling back", Some(0)).await?;
    let access = desk.access(job.place.target());
    let (mode, run_id) = (way.mode, context.run_id().as_str());
    let skip = job.texts("resourcesToSkip");
    let intent: RollbackIntent = Step::pure("intend")
        .run(context, async |_| {
            rollback::intend(&access, &way.stack, mode, &skip, run_id)
                .await
                .map_err(fault::problem)
        })
        .await?;
    let _: bool = Step::effect("begin", name)
        .input(&intent)
        .run(context, async |_| {
            let deadline = access.clock.now().after(CALL_TIME);
            rollback::begin(&access, &intent, deadline)
                .await
                .map_err(fault::problem)?;
            Ok(true)
        })
        .await?;
    let trail = follow::follow(context, desk, &access, intent.trail()).await?;
    if trail.succeeded() != Some(true) {
        let names = known::names_of(&access, name).await;
        let report = failure::report(context, desk, job, &trail, &names, name).await?;
        return Err(failure::problem(&code::ROLLBACK_FAILED, &report, "rolling-back").into());
    }
    Ok(json!({
        "message": format!("{name} is back: {}", trail.stack_status),
        "stackName": name,
        "mode": mode,
        "fromVersion": null,
        "toVersion": null,
        "stackStatus": trail.stack_status,
        "outputs": {},
        "runId": context.run_id(),
    }))
}

/// An earlier version and the newest one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Chosen {
    from: Option<String>,
    store: AssetStore,
    record: ArtifactRef,
}

async fn redeploy(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    name: &str,
) -> Result<Value, RunError> {
    if !job.texts("resourcesToSkip").is_empty() {
        return Err(fault::invalid(
            "resourcesToSkip",
            format!("{name} is in no failed rollback; there is nothing to skip"),
        )
        .into());
    }
    let chosen = choose(context, desk, job, name).await?;
    let record: VersionRecord = desk.load(&chosen.record).await?;
    let version = record.version.to_string();
    let lines = vec![format!("~ {name}: deploy version {version}")];
    gate::pass(context, desk, Kind::Rollback, job, name, &chosen, lines).await?;
    for part in &record.not_restored {
        let message = format!("not part of a version and not restored: {part}");
        report::warn(context, &version, &message).await?;
    }
    let prepared = as_prepared(job, &chosen, &record);
    let artifact = desk.keep("prepared.json", &prepared).await?;
    let change = Change {
        desk,
        job,
        proposal: prepared.proposal.clone(),
        store: chosen.store.clone(),
        on_failure: OnFailure::Rollback,
        recreated: None,
    };
    let (plan, stack_id, changed) = match change.make(context).await? {
        Changed::Nothing { plan, stack_id } => (plan, stack_id, false),
        Changed::Ended { plan, trail } => {
            if trail.succeeded() != Some(true) {
                let names = &record.names;
                let report = failure::report(context, desk, job, &trail, names, name).await?;
                let problem = failure::problem(&code::ROLLBACK_FAILED, &report, "deploying");
                return Err(problem.into());
            }
            (plan, trail.stack_id.clone(), true)
        }
    };
    let finished = Aftermath {
        desk,
        job,
        prepared: &prepared,
        artifact: &artifact,
        store: &chosen.store,
        stack_id: &stack_id,
        plan: &plan,
        changed,
        restored: Some(&record),
    }
    .finish(context)
    .await?;
    Ok(json!({
        "message": format!("{name} is back at {version}"),
        "stackName": name,
        "mode": Mode::Redeploy,
        "fromVersion": chosen.from,
        "toVersion": version,
        "version": finished.version,
        "outputs": finished.outputs,
        "changeCounts": plan.counts(),
        "planDigest": plan.digest().to_string(),
        "notRestored": record.not_restored,
        "runId": context.run_id(),
    }))
}

async fn choose(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    name: &str,
) -> Result<Chosen, RunError> {
    Step::pure("choose")
        .run(context, async |_| {
            let access = desk.access(job.place.target());
            let store = AssetStore::of_caller(&access)
                .await
                .map_err(fault::problem)?;
            let all = versions::list(&access, &store, name)
                .await
                .map_err(fault::problem)?;
            let wish = wish(job)?;
            let version = versions::pick(name, &all, wish).map_err(fault::problem)?;
            let record = versions::read(&access, &store, name, version)
                .await
                .map_err(fault::problem)?;
            versions::require_artifacts(&access, &store, &record)
                .await
                .map_err(fault::problem)?;
            Ok(Chosen {
                from: all.last().map(Version::to_string),
                store,
                record: desk.keep("version.json", &record).await?,
            })
        })
        .await
}

fn wish(job: &Job) -> Result<Wish, Problem> {
    if let Some(version) = job.text("targetVersion") {
        let version = version.parse::<Version>().map_err(fault::problem)?;
        return Ok(Wish::Exactly(version));
    }
    let steps = job.arguments.get("rollbackSteps").and_then(Value::as_u64);
    let steps = usize::try_from(steps.unwrap_or(1)).unwrap_or(usize::MAX);
    if steps == 0 {
        return Err(fault::invalid(
            "rollbackSteps",
            "rollbackSteps is at least 1",
        ));
    }
    Ok(Wish::Back(steps))
}

/// A version as if it had just been prepared.
fn as_prepared(job: &Job, chosen: &Chosen, record: &VersionRecord) -> Prepared {
    let buckets = crate::sync::manifests_of(record).into_iter();
    Prepared {
        project: job.place.project_name.clone().unwrap_or_default(),
        stage: job.place.stage.clone().unwrap_or_default(),
        region: chosen.store.region.clone(),
        account: Some(chosen.store.account.clone()),
        config_file: record.version.to_string(),
        proposal: Proposal {
            stack_name: job.place.stack_name().unwrap_or_default(),
            template: record.template.clone(),
            parameters: record.parameters.clone(),
            tags: record.tags.clone(),
            capabilities: record.capabilities.clone(),
            names: record.names.clone(),
            ..Proposal::default()
        },
        packages: Packages::default(),
        output_names: record.output_names.clone(),
        missing_secrets: Vec::new(),
        missing_parameters: Vec::new(),
        warnings: Vec::new(),
        termination_protection: None,
        disable_auto_rollback: false,
        versions_to_keep: usize::MAX,
        stack_info: None,
        config_directory: std::path::PathBuf::new(),
        buckets: buckets
            .map(|(resource, kept)| FilledBucket {
                resource,
                logical_id: kept.bucket_id,
                bucket: String::new(),
                invalidates: kept.distribution_id,
            })
            .collect(),
        functions: Vec::new(),
        not_restored: record.not_restored.clone(),
    }
}
