//! `bootstrap`: operator assets, which teach an agent to operate pack.

use std::{path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation};
use windlass_pack_author::operator_assets;
use windlass_pack_deploy::state::NoFaults;
use windlass_pack_deploy::{Adoption, PlanOptions, Purpose, gather_disk, plan};
use windlass_pack_model::{ConfigScope, Project};
use windlass_types::{EffectClass, Problem};

use super::{
    Outcome, Shop, done,
    manifest::config_scope,
    rollback::{Event, Ready},
    value, with_warnings,
};
use crate::{
    apply::{blocking, lock_unless_dry, targets},
    arguments::{Common, require_yes},
    workspace::{Moment, Pack, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![shop.proposing(
        shop.begin(
            "bootstrap",
            "Write operator assets",
            "Writes the skill and commands that teach an agent to operate packs, or records that they are not wanted.",
        )
        .command(EffectClass::Write),
        |shop, context, input| async move { bootstrap(&shop, &context, input).await },
    )]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct BootstrapInput {
    #[serde(flatten)]
    common: Common,
    /// `user`, `project` or `both`.
    #[serde(default)]
    scope: Option<String>,
    /// Never suggest them again.
    #[serde(default)]
    decline: bool,
    /// Take over files of the same names.
    #[serde(default)]
    adopt: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

async fn bootstrap(shop: &Shop, context: &CallContext, input: BootstrapInput) -> Outcome {
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    if input.decline {
        require_yes(input.yes || input.dry_run, "bootstrap")?;
        let repo = pack.repo(&input.common, &moment);
        context.require_targets(&targets(&repo, &[]))?;
        let data = blocking(move || {
            if !input.dry_run {
                pack.state()
                    .remember(|remembered| remembered.operator_assets_declined = true)?;
            }
            Ok(json!({ "applied": false, "reason": "declined" }))
        })
        .await?;
        return done(data);
    }
    let (ready, data) = blocking(move || {
        let scope_name = input.scope.clone().unwrap_or_else(|| "both".to_owned());
        let scope = config_scope(&scope_name)?;
        let workspace = Workspace::open(&pack, input.common.clone(), moment.clone())?;
        let (event, locks) = planned(&workspace, scope, input.adopt, input.dry_run)?;
        if !event.is_noop() && !input.dry_run {
            require_yes(input.yes, "bootstrap")?;
        }
        let data = json!({ "targets": workspace.targets, "scope": scope_name });
        let repo = workspace.repo.clone();
        let ready = Ready::new(&pack, &moment, repo, locks, event)?;
        Ok((ready, data))
    })
    .await?;
    let render = |event: Event| event.into_data(data);
    let effect = EffectClass::Write;
    ready.finish(shop, "pack.bootstrap", effect, render).await
}

/// Plans the assets, under the locks of their roots unless they are only shown.
fn planned(
    workspace: &Workspace<'_>,
    scope: ConfigScope,
    adopt: bool,
    dry_run: bool,
) -> Result<
    (
        windlass_pack_deploy::EventPlan,
        Option<windlass_pack_deploy::state::RootLocks>,
    ),
    Problem,
> {
    let desired = operator_assets(&workspace.operator_input(scope))?;
    let roots: Vec<_> = desired.roots.iter().map(|root| root.path.clone()).collect();
    let locks = lock_unless_dry(&workspace.state, &roots, dry_run)?;
    let owned = workspace.owned(&desired.roots)?;
    let disk = gather_disk(&desired, &owned, &workspace.hashes);
    let options = PlanOptions {
        purpose: Purpose::Bootstrap,
        ..PlanOptions::default()
    };
    let plan = plan(&desired, &owned, &disk, &options)?;
    let adoption = match adopt {
        true => Adoption::all(),
        false => Adoption::none(),
    };
    Ok((plan.approve(&adoption)?, locks))
}

/// The assets written into a config repository that was just begun, as its own project.
pub(super) fn into_repository(
    pack: &Pack,
    moment: &Moment,
    common: &Common,
    repo: &Path,
    dry_run: bool,
) -> Result<(Value, Vec<String>), Problem> {
    if dry_run && !repo.join("agentpack.yaml").exists() {
        return Ok((json!({ "applied": false, "reason": "dry_run" }), Vec::new()));
    }
    let inside = Moment {
        directory: Some(repo.to_owned()),
        // Its snapshot must not share the name of another event of this moment.
        nanos: moment.nanos + 2,
        ..moment.clone()
    };
    let mut workspace = Workspace::open(pack, common.clone(), inside)?;
    let canonical = fs_err::canonicalize(repo).unwrap_or_else(|_| repo.to_owned());
    workspace.project = Some(Project::new(repo.to_owned(), &canonical, None));
    let (event, locks) = planned(&workspace, ConfigScope::Project, false, dry_run)?;
    let mut data = json!({
        "applied": false,
        "scope": "project",
        "targets": workspace.targets,
        "changes": value(&event.changes)?,
        "summary": value(&event.summary)?,
    });
    let locks = match locks {
        Some(locks) if !event.is_noop() => locks,
        _ => {
            data["reason"] = json!(if dry_run { "dry_run" } else { "no_changes" });
            return Ok((data, event.warnings));
        }
    };
    let mut context = workspace.event_context();
    context.run_id = format!("edit_{}", workspace.moment.nanos);
    let transaction = event.transaction(&context);
    let committed =
        windlass_pack_deploy::state::commit(&workspace.state, &locks, transaction, &NoFaults)?;
    data["applied"] = json!(true);
    data["snapshot_id"] = json!(committed.snapshot_id);
    Ok((with_warnings(data, Vec::new()), committed.warnings))
}
