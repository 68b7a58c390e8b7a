//! `plan`, `diff`, `preview`: what a deploy would change.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::operation::Operation;
use windlass_pack_deploy::{DeployPlan, preview as make_preview};
use windlass_types::Problem;

use super::{Shop, value, with_warnings};
use crate::{
    arguments::{Common, read_tool},
    contract,
    workspace::{Moment, Pack, Scene, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.reading(
            shop.tool("plan", "plan", contract::inputs::plan()).describe(
                "Plan a deploy",
                "Shows what a deploy of the config repository would create, update and delete in each target.",
            )
            .discloses("changes"),
            plan,
        ),
        shop.reading(
            shop.tool("diff", "diff", contract::inputs::plan()).describe(
                "Compare with the targets",
                "Shows the changes between the config repository and the deployed files.",
            )
            .discloses("changes"),
            plan,
        ),
        shop.reading(
            shop.tool("preview", "preview", contract::inputs::preview()).describe(
                "Preview a deploy",
                "Shows the plan of a deploy, with unified diffs when `diff` is true.",
            ),
            preview,
        ),
    ]
}

/// What `plan`, `diff` and `deploy` take besides the shared arguments. Reading changes nothing
/// either way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanInput {
    #[serde(default, rename = "dry_run")]
    _dry_run: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PreviewInput {
    #[serde(default)]
    diff: bool,
    #[serde(default, rename = "dry_run")]
    _dry_run: bool,
}

fn plan(pack: &Pack, moment: Moment, input: Value) -> Result<Value, Problem> {
    let (common, PlanInput { .. }) = read_tool(input)?;
    let (workspace, scene, plan) = planned(pack, common, moment)?;
    drop(scene);
    let data = plan_data(&workspace, &plan)?;
    Ok(with_warnings(data, plan.warnings))
}

fn preview(pack: &Pack, moment: Moment, input: Value) -> Result<Value, Problem> {
    let (common, input): (Common, PreviewInput) = read_tool(input)?;
    let (workspace, scene, plan) = planned(pack, common, moment)?;
    let mut warnings = plan.warnings.clone();
    let changes = value(&plan.changes)?;
    let mut data = json!({
        "profile": workspace.profile,
        "targets": workspace.targets,
        "plan": { "summary": plan.summary },
    });
    if input.diff {
        let preview = make_preview(&plan, &scene.desired, &scene.owned);
        warnings.extend(preview.warnings);
        data["diff"] = json!({ "summary": plan.summary });
        data["diff"]["changes"] = changes.clone();
        data["diff"]["files"] = value(&preview.files)?;
    }
    data["plan"]["changes"] = changes;
    Ok(with_warnings(data, warnings))
}

/// Opens the repository, looks and plans.
pub(super) fn planned<'a>(
    pack: &'a Pack,
    common: Common,
    moment: Moment,
) -> Result<(Workspace<'a>, Scene, DeployPlan), Problem> {
    let workspace = Workspace::open(pack, common, moment)?;
    let scene = workspace.look()?;
    let plan = workspace.plan(&scene)?;
    workspace.remember_hashes();
    Ok((workspace, scene, plan))
}

/// The plan as the contract shows it.
pub(super) fn plan_data(workspace: &Workspace<'_>, plan: &DeployPlan) -> Result<Value, Problem> {
    let mut data = json!({
        "profile": workspace.profile,
        "targets": workspace.targets,
        "summary": plan.summary,
    });
    // Put in, not written out by the macro, which would copy thousands of changes.
    data["changes"] = value(&plan.changes)?;
    if !plan.links.is_empty() {
        data["links"] = value(&plan.links)?;
    }
    if !plan.local_edits.is_empty() {
        data["local_edits"] = value(&plan.local_edits)?;
    }
    Ok(data)
}
