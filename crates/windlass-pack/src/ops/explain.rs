//! `explain`: which module and layer stand behind each change or drift.

use std::{collections::HashMap, path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::operation::Operation;
use windlass_pack_deploy::{PlanOptions, drift};
use windlass_pack_model::{Desired, Origin, Target};
use windlass_types::Problem;

use super::{Shop, value, with_warnings};
use crate::{
    arguments::{Common, read_tool},
    contract,
    workspace::{Moment, Pack, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![shop.reading(
        shop.tool("explain", "explain", contract::inputs::explain()).describe(
            "Explain a plan or drift",
            "Names the module, layer and source file behind each change (plan, diff) or drifted file (status).",
        ),
        explain,
    )]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainInput {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Plan,
    Diff,
    Status,
}

fn explain(pack: &Pack, moment: Moment, input: Value) -> Result<Value, Problem> {
    let (common, input): (Common, ExplainInput) = read_tool(input)?;
    let workspace = Workspace::open(pack, common, moment)?;
    let scene = workspace.look()?;
    let sources = Sources::of(&scene.desired);
    let mut data = json!({ "profile": workspace.profile, "targets": workspace.targets });
    let mut warnings = Vec::new();
    if input.kind == Kind::Status {
        let report = drift(
            &scene.desired,
            &scene.owned,
            &scene.disk,
            &[],
            &PlanOptions::default(),
        )?;
        warnings.extend(workspace.warnings.iter().cloned());
        warnings.extend(scene.desired.warnings.iter().cloned());
        warnings.extend(report.warnings);
        let mut items = Vec::with_capacity(report.items.len());
        for item in &report.items {
            let mut shown = value(item)?;
            if let Some(map) = shown.as_object_mut() {
                map.remove("root");
                map.remove("root_posix");
            }
            shown["modules"] = sources.modules(item.target, &item.path);
            items.push(shown);
        }
        data["drift"] = Value::Array(items);
    } else {
        let plan = workspace.plan(&scene)?;
        data["changes"] = plan
            .changes
            .iter()
            .map(|change| {
                let path = change.path.display().to_string();
                json!({
                    "op": change.op,
                    "target": change.target,
                    "path": path,
                    "path_posix": path,
                    "modules": sources.modules(change.target, &change.path),
                })
            })
            .collect();
        warnings.extend(plan.warnings);
    }
    workspace.remember_hashes();
    Ok(with_warnings(data, warnings))
}

/// Where every output comes from.
struct Sources<'a>(HashMap<(Target, &'a Path), Vec<&'a Origin>>);

impl<'a> Sources<'a> {
    fn of(desired: &'a Desired) -> Self {
        let mut sources: HashMap<(Target, &Path), Vec<&Origin>> = HashMap::new();
        for file in &desired.files {
            let origins = sources.entry((file.target, &file.path)).or_default();
            origins.extend(&file.origins);
        }
        for key in &desired.keys {
            let origins = sources.entry((key.target, &key.path)).or_default();
            if !origins.contains(&&key.origin) {
                origins.push(&key.origin);
            }
        }
        Self(sources)
    }

    fn modules(&self, target: Target, path: &Path) -> Value {
        let origins = self
            .0
            .get(&(target, path))
            .map(Vec::as_slice)
            .unwrap_or_default();
        origins
            .iter()
            .map(|origin| {
                json!({
                    "module_id": origin.module_id,
                    "module_type": origin.module_type,
                    "layer": origin.layer.as_str(),
                    "module_path": origin.module_path.as_str(),
                    "module_path_posix": origin.module_path.as_str(),
                })
            })
            .collect()
    }
}
