//! `evolve propose` and `evolve restore`: drift kept on a branch, or missing files brought back.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation};
use windlass_pack_author::evolve::{
    COMMIT_MESSAGE, Context, ProposeRequest, commit_proposal, propose as find_edits,
};
use windlass_pack_deploy::plan_restore;
use windlass_ports::trust;
use windlass_types::{EffectClass, Problem, Surface};

use super::{
    Outcome, Shop, done,
    overlay::scope,
    rollback::{Event, Ready},
    value, with_warnings,
};
use crate::{
    apply::{blocking, lock_unless_dry},
    arguments::{Common, read_tool, require_yes, says_yes},
    contract,
    edit::write,
    workspace::{Moment, Pack, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.writing(
            shop.tool("evolve.propose", "evolve_propose", contract::inputs::evolve_propose())
                .describe(
                    "Keep edits as overlays",
                    "Takes edits of deployed files back into overlays, committed on a branch of the config repository.",
                ),
            EffectClass::Write,
            |shop, context, input| async move { propose(&shop, &context, input).await },
        ),
        shop.writing(
        shop.tool("evolve.restore", "evolve_restore", contract::inputs::evolve_restore())
            .describe(
                "Restore missing files",
                "Writes deployed files that are missing again; never touches one that is there.",
            ),
        EffectClass::Write,
        |shop, context, input| async move { restore(&shop, &context, input).await },
    )]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProposeInput {
    #[serde(default)]
    module_id: Option<String>,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

async fn propose(shop: &Shop, context: &CallContext, input: Value) -> Outcome {
    let is_dry = input.get("dry_run") == Some(&Value::Bool(true));
    if context.surface != Surface::Cli {
        require_yes(is_dry || says_yes(&input), "evolve propose")?;
    }
    shop.judge(context, &input)?;
    let (common, input): (Common, ProposeInput) = read_tool(input)?;
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    let data = blocking(move || proposed(&pack, &moment, common, input)).await?;
    done(data)
}

fn proposed(
    pack: &Pack,
    moment: &Moment,
    common: Common,
    input: ProposeInput,
) -> Result<Value, Problem> {
    let workspace = Workspace::open(pack, common, moment.clone())?;
    let scene = workspace.look()?;
    let checkouts = workspace.checkouts();
    let (caller, now) = (workspace.caller(), moment.rfc3339());
    let proposal = find_edits(
        &Context {
            input: workspace.input(&checkouts),
            git: &*pack.git,
            caller: &caller,
            now: &now,
        },
        &scene.desired,
        &scene.disk,
        ProposeRequest {
            module_id: input.module_id.as_deref(),
            scope: scope(input.scope.as_deref())?,
            branch: input.branch.as_deref(),
        },
    )?;
    let mut warnings = workspace.warnings.clone();
    warnings.extend(scene.desired.warnings.iter().cloned());
    warnings.extend(proposal.warnings.iter().cloned());
    // The order of the command line: nothing to do and dry runs are answered without a yes.
    if input.dry_run {
        return Ok(with_warnings(proposal.dry_run_data(), warnings));
    }
    if let Some(reason) = proposal.nothing() {
        return Ok(with_warnings(proposal.nothing_data(reason), warnings));
    }
    require_yes(input.yes, "evolve propose")?;
    let skipped = pack.git.skipped(&workspace.repo).unwrap_or_default();
    warnings.extend(trust::skipped(&workspace.repo, &skipped));
    let roots = [workspace.repo.clone()];
    commit_proposal(
        &*pack.git,
        &workspace.repo,
        &proposal.branch,
        &proposal.writes,
        COMMIT_MESSAGE,
        |actions| write(pack, moment, &roots, actions).map(drop),
    )?;
    Ok(with_warnings(proposal.created_data(), warnings))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RestoreInput {
    #[serde(default)]
    module_id: Option<String>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

async fn restore(shop: &Shop, context: &CallContext, input: Value) -> Outcome {
    // Over MCP the yes comes first, even if nothing would be written; the command line answers
    // that there is nothing to do without asking.
    let is_cli = context.surface == Surface::Cli;
    let is_dry = input.get("dry_run") == Some(&Value::Bool(true));
    if !is_cli {
        require_yes(is_dry || says_yes(&input), "evolve restore")?;
    }
    let (common, input): (Common, RestoreInput) = read_tool(input)?;
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    let (ready, mut data, missing) = blocking(move || {
        let workspace = Workspace::open(&pack, common, moment.clone())?;
        let roots = workspace.roots_to_lock()?;
        let locks = lock_unless_dry(&workspace.state, &roots, input.dry_run)?;
        let scene = workspace.look()?;
        let plan = plan_restore(
            &scene.desired,
            &scene.owned,
            &scene.disk,
            input.module_id.as_deref(),
        )?;
        let missing = !plan.restored.is_empty();
        if missing && !input.dry_run {
            // Nothing is missing in a home that was never deployed to.
            if let Some(moved) = workspace.moved_home(&scene) {
                moved.agreed(false)?;
            }
            require_yes(input.yes, "evolve restore")?;
        }
        let data = json!({
            "restored": value(&plan.restored)?,
            "summary": value(&if input.dry_run { plan.summary } else { plan.summary_applied() })?,
        });
        let repo = workspace.repo.clone();
        let ready = Ready::new(&pack, &moment, repo, locks, plan.event)?;
        Ok((ready, data, missing))
    })
    .await?;
    let render = move |event: Event| {
        let run_id = event.applied.map(|applied| applied.run_id);
        data["reason"] = match (missing, &run_id) {
            (false, _) => json!("no_missing"),
            (true, None) => json!("dry_run"),
            (true, Some(_)) => json!("restored"),
        };
        if let Some(run_id) = &run_id {
            data["run_id"] = json!(run_id);
        }
        with_warnings(data, event.warnings)
    };
    let effect = EffectClass::Write;
    ready
        .finish(shop, "pack.evolve.restore", effect, render)
        .await
}
