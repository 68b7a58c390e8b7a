//! `doctor`: whether the places pack deploys to are in order.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_pack_author::evolve::overlay_warnings;
use windlass_pack_author::{Authored, DoctorData, DoctorInput as Examine, doctor as examine};
use windlass_pack_deploy::render::render;
use windlass_types::Problem;

use super::{Shop, manifest::finish};
use crate::{
    arguments::{Common, only_known, read, require_yes},
    contract,
    workspace::{Moment, Pack, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.reading(
            shop.tool("doctor", "doctor", contract::inputs::doctor()).describe(
                "Check the targets",
                "Checks that every target directory exists, can be written and is ignored by git where it should be. Reads only.",
            ),
            |pack, moment, input| {
                only_known(moment.surface, &input, &["repo", "target"])?;
                look(pack, &moment, read(input)?)
            },
        ),
        shop.change(
            "doctor_fix",
            "Check the targets and fix ignore files",
            "Like doctor, and lets git ignore the manifests of packs.",
            fix,
        ),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LookInput {
    #[serde(default)]
    repo: Option<String>,
    #[serde(default)]
    target: Option<String>,
    // The command line may say more than the contract's tool.
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    machine: Option<String>,
    #[serde(default)]
    strict: bool,
}

fn look(pack: &Pack, moment: &Moment, input: LookInput) -> Result<Value, Problem> {
    let common = Common {
        repo: input.repo,
        profile: input.profile,
        target: input.target,
        machine: input.machine,
    };
    let authored = examined(pack, moment, common, input.strict, false)?;
    finish(pack, moment, &authored, true)
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct FixInput {
    #[serde(flatten)]
    common: Common,
    /// Unknown keys fail.
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn fix(pack: &Pack, moment: &Moment, input: FixInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "doctor --fix")?;
    let authored = examined(pack, moment, input.common, input.strict, true)?;
    finish(pack, moment, &authored, input.dry_run)
}

fn examined(
    pack: &Pack,
    moment: &Moment,
    common: Common,
    strict: bool,
    fix: bool,
) -> Result<Authored<DoctorData>, Problem> {
    let workspace = Workspace::open(pack, common, moment.clone())?;
    let checkouts = workspace.checkouts();
    let render_input = workspace.input(&checkouts);
    let desired = render(&render_input)?;
    let caller = workspace.caller();
    let mut authored = examine(&Examine {
        repo: &workspace.repo,
        manifest: &workspace.manifest,
        manifest_warnings: &workspace.manifest_warnings,
        desired: &desired,
        machine_id: &workspace.machine_id,
        project: workspace.project.as_ref(),
        home: workspace.state.home(),
        git: &*pack.git,
        caller: &caller,
        json: true,
        fix,
        strict,
    })?;
    let mut warnings = workspace.warnings.clone();
    warnings.extend(desired.warnings.iter().cloned());
    warnings.extend(overlay_warnings(&render_input));
    for warning in std::mem::take(&mut authored.warnings) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    authored.warnings = warnings;
    Ok(authored)
}
