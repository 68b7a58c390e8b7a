//! `status`: what drifted since the last deploy.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::operation::Operation;
use windlass_pack_author::check_operator_assets;
use windlass_pack_deploy::{DriftKind, DriftReport, PlanOptions, drift, scan_extras};
use windlass_pack_model::{
    ConfigScope, fault,
    next_actions::{Action, NextAction, ordered},
};
use windlass_types::Problem;

use super::{Shop, value, with_warnings};
use crate::{
    arguments::{Common, read_tool},
    contract,
    workspace::{Moment, Pack, Scene, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![shop.reading(
        shop.tool("status", "status", contract::inputs::status()).describe(
            "Show drift",
            "Shows deployed files that were modified, are missing or are not expected, with the commands to run next.",
        )
        .discloses("drift"),
        status,
    )]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusInput {
    #[serde(default)]
    only: Vec<String>,
    #[serde(default, rename = "dry_run")]
    _dry_run: bool,
}

fn status(pack: &Pack, moment: Moment, input: Value) -> Result<Value, Problem> {
    let (common, input): (Common, StatusInput) = read_tool(input)?;
    let kinds = input
        .only
        .iter()
        .map(|name| {
            DriftKind::by_name(name).ok_or_else(|| {
                fault::unexpected(
                    "invalid_arguments",
                    &["fix_arguments", "retry_command"],
                    format!("{name:?} is not a kind of drift; there are missing, modified, extra"),
                )
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let workspace = Workspace::open(pack, common, moment)?;
    let scene = workspace.look()?;
    let report = drifted(&workspace, &scene)?;
    workspace.remember_hashes();
    let (actions, asset_warnings) = next_actions(&workspace, &report);
    let mut warnings = workspace.warnings.clone();
    warnings.extend(scene.desired.warnings.iter().cloned());
    warnings.extend(workspace.moved_home(&scene).map(|moved| moved.warning()));
    warnings.extend(report.warnings.iter().cloned());
    warnings.extend(asset_warnings);
    let report = report.only(&kinds);
    let mut data = json!({
        "profile": workspace.profile,
        "targets": workspace.targets,
        "summary": report.summary,
        "summary_by_root": value(&report.summary_by_root())?,
    });
    data["drift"] = value(&report.items)?;
    if let Some(total) = report.summary_total {
        data["summary_total"] = json!(total);
    }
    if !actions.is_empty() {
        data["next_actions"] = actions.iter().map(|action| json!(action.command)).collect();
        data["next_actions_detailed"] = value(&actions)?;
    }
    Ok(with_warnings(data, warnings))
}

/// Compares, extras included.
pub(super) fn drifted(workspace: &Workspace<'_>, scene: &Scene) -> Result<DriftReport, Problem> {
    let scanned = scan_extras(&scene.desired, &scene.owned, &workspace.hashes)?;
    drift(
        &scene.desired,
        &scene.owned,
        &scene.disk,
        &scanned,
        &PlanOptions::default(),
    )
}

/// What to do about the drift, and what is to be said about operator assets.
fn next_actions(workspace: &Workspace<'_>, report: &DriftReport) -> (Vec<NextAction>, Vec<String>) {
    let caller = workspace.caller();
    let mut actions = Vec::new();
    let summary = report.summary;
    if summary.modified + summary.missing > 0 {
        actions.push(caller.suggest(Action::PreviewDiff, "preview --diff --json"));
        actions.push(caller.suggest(Action::DeployApply, "deploy --apply --yes --json"));
        if report.any_manifest {
            actions.push(caller.suggest(Action::EvolvePropose, "evolve propose --yes --json"));
        }
    } else if summary.extra > 0 {
        actions.push(caller.suggest(Action::PreviewDiff, "preview --diff --json"));
    }
    if report.needs_deploy {
        actions.push(caller.suggest(Action::DeployApply, "deploy --apply --yes --json"));
    }
    let declined = workspace
        .state
        .remembered()
        .is_ok_and(|(remembered, _)| remembered.operator_assets_declined);
    let mut warnings = Vec::new();
    if !declined {
        let check =
            check_operator_assets(&workspace.operator_input(ConfigScope::Both), &caller, true);
        match check {
            Ok(check) => {
                actions.extend(check.next_actions);
                warnings.extend(check.warnings);
            }
            Err(problem) => warnings.push(problem.message().to_owned()),
        }
    }
    (ordered(actions), warnings)
}
