//! What a deployment would do: asked of CloudFormation, and nothing left behind.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_engine::run::{Entry, RunContext, RunError, Step};
use windlass_stack_lifecycle::assets::AssetStore;
use windlass_stack_lifecycle::change_set;
use windlass_stack_lifecycle::preview::{self, DriftWish, Preview, PreviewIntent, PreviewRequest};
use windlass_stack_lifecycle::situation::Situation;
use windlass_types::{ArtifactRef, Problem};

use super::{Job, Kind, PLAN, gate, report};
use crate::desk::Desk;
use crate::fault;
use crate::prepare::{Ask, Prepared, prepare};

/// How long a preview may take.
const TIME: Duration = Duration::from_secs(300);

pub(super) async fn run(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
) -> Result<Value, RunError> {
    report::progress(context, "initializing", "Reading the config", None).await?;
    let (stack, job) = &gate::name_stack(context, desk, job, "preview_changes").await?;
    gate::require(context, desk, Kind::Preview, job, stack).await?;
    let (prepared, artifact) = prepared(context, desk, job, "preview_changes").await?;
    report::progress(
        context,
        "previewing",
        "Asking CloudFormation for the changes",
        None,
    )
    .await?;
    let access = desk.access(job.place.target());
    let name = change_set::name("preview", context.run_id().as_str());
    let (situation, intent): (Situation, PreviewIntent) = Step::pure("intend")
        .run(context, async |_| {
            let situation = Situation::find(&access, &prepared.proposal.stack_name)
                .await
                .map_err(fault::problem)?;
            let intent = preview::intend(&situation, &name);
            Ok((situation, intent))
        })
        .await?;
    let created = context.created_at();
    let inspected: ArtifactRef = Step::effect("inspect", prepared.stack_name())
        .undo(|_: ArtifactRef| async { Ok(()) })
        .run(context, async |_| {
            let prepared: Prepared = desk.load(&artifact).await?;
            let seen = inspect(desk, job, &prepared, &situation, &intent, created);
            desk.keep("preview.json", &seen.await?).await
        })
        .await?;
    let preview: Preview = desk.load(&inspected).await?;
    let plan = desk.keep(PLAN, &preview.plan).await?;
    context
        .record(vec![Entry::Artifact(inspected), Entry::Artifact(plan)])
        .await?;
    let mut data = preview.data();
    data["missingSecrets"] = json!(prepared.missing_secrets);
    data["missingParameters"] = json!(prepared.missing_parameters);
    data["cost"] = Value::Null;
    let mut warnings = prepared.warnings.clone();
    if job.says("estimateCost") {
        warnings.push("the cost is unknown: there are no prices to estimate it by".to_owned());
    }
    data["warnings"] = json!(warnings);
    data["configFile"] = json!(prepared.config_file);
    data["region"] = json!(prepared.region);
    data["runId"] = json!(context.run_id());
    let counts = preview.plan.counts();
    let counts = serde_json::to_value(counts).unwrap_or_default();
    data["message"] = json!(sentence(&preview, &counts));
    Ok(data)
}

fn sentence(preview: &Preview, counts: &Value) -> String {
    let stack = &preview.plan.stack_name;
    if preview.plan.no_changes {
        return format!("{stack} would not change");
    }
    let parts: Vec<String> = counts
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(action, count)| *action != "total" && count.as_u64().is_some_and(|it| it > 0))
        .map(|(action, count)| format!("{count} to {action}"))
        .collect();
    let verb = if preview.plan.recreate.is_some() {
        "failed when it was first made; it would be deleted and created again"
    } else if preview.is_new_stack {
        "would be made"
    } else {
        "would change"
    };
    format!("{stack} {verb}: {}", parts.join(", "))
}

async fn inspect(
    desk: &Desk,
    job: &Job,
    prepared: &Prepared,
    situation: &Situation,
    intent: &PreviewIntent,
    created: windlass_types::Timestamp,
) -> Result<Preview, Problem> {
    let access = desk.access(job.place.target());
    let account = prepared.account.as_deref().unwrap_or_default();
    let store = AssetStore::new(account, &prepared.region);
    let request = PreviewRequest {
        proposal: &prepared.proposal,
        situation,
        intent,
        store: &store,
        drift: if job.says("detectDrift") {
            DriftWish::Detect
        } else {
            DriftWish::Skip
        },
        redactor: &desk.engine.redactor,
    };
    // From the run's beginning, but never less than is needed to clean up after a crash.
    let deadline = created.after(TIME).max(desk.engine.now().after(TIME / 5));
    preview::run(&access, request, deadline)
        .await
        .map_err(fault::problem)
}

/// Packages and compiles once; the journal names the result by its digest.
pub(super) async fn prepared(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    command: &'static str,
) -> Result<(Prepared, ArtifactRef), RunError> {
    let artifact: ArtifactRef = Step::pure("prepare")
        .run(context, async |_| {
            let prepared = prepare(desk, &job.place, &job.arguments, command, Ask::Aws).await?;
            desk.keep("prepared.json", &prepared).await
        })
        .await?;
    let prepared: Prepared = desk.load(&artifact).await?;
    context
        .record(vec![Entry::Artifact(artifact.clone())])
        .await?;
    report::logs(context, "package", &prepared.packages.lines).await?;
    for warning in &prepared.warnings {
        report::warn(context, &prepared.config_file, warning).await?;
    }
    Ok((prepared, artifact))
}
