//! `snapshots list|show|prune`: what happened, and what it takes on disk.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::operation::Operation;
use windlass_pack_deploy::state::PruneRule;
use windlass_types::Problem;

use super::{Shop, value, with_warnings};
use crate::{
    arguments::{Common, require_yes},
    workspace::{Moment, Pack},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.query(
            "snapshots.list",
            "List snapshots",
            "Lists every deploy, rollback and undo, newest first.",
            list,
        ),
        shop.query(
            "snapshots.show",
            "Show a snapshot",
            "Shows what one event changed and managed.",
            show,
        ),
        shop.change(
            "snapshots.prune",
            "Prune snapshots",
            "Removes old snapshots and the contents that are no longer needed.",
            prune,
        ),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct SnapshotsInput {
    #[serde(flatten)]
    _common: Common,
    /// The snapshot.
    #[serde(default)]
    id: Option<String>,
    /// Keep at least so many.
    #[serde(default)]
    keep: Option<usize>,
    /// Only those older than so many days.
    #[serde(default)]
    older_than_days: Option<u64>,
    /// Also those that keep originals an adopt replaced.
    #[serde(default)]
    include_originals: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn list(pack: &Pack, _: &Moment, _: SnapshotsInput) -> Result<Value, Problem> {
    let history = pack.state().history()?;
    let snapshots: Vec<Value> = history
        .snapshots
        .iter()
        .map(|snapshot| {
            let mut shown = json!({
                "id": snapshot.id,
                "kind": snapshot.kind,
                "created_at": snapshot.created_at,
                "targets": snapshot.targets,
                "files": snapshot.files,
                "summary": {
                    "create": snapshot.created,
                    "update": snapshot.updated,
                    "delete": snapshot.deleted,
                },
                "bytes": snapshot.bytes,
                "head": snapshot.head,
                "originals": snapshot.originals,
            });
            if let Some(project) = &snapshot.project_id {
                shown["project_id"] = json!(project);
            }
            if let Some(to) = &snapshot.rolled_back_to {
                shown["rolled_back_to"] = json!(to);
            }
            shown
        })
        .collect();
    Ok(with_warnings(
        json!({ "snapshots": snapshots }),
        history.warnings,
    ))
}

fn show(pack: &Pack, _: &Moment, input: SnapshotsInput) -> Result<Value, Problem> {
    let snapshot = pack
        .state()
        .snapshot(input.id.as_deref().unwrap_or_default())?;
    let text = snapshot.render()?;
    let shown: Value =
        serde_json::from_str(&text).map_err(|error| Problem::internal("snapshot", error))?;
    Ok(json!({ "snapshot": shown }))
}

fn prune(pack: &Pack, moment: &Moment, input: SnapshotsInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "snapshots prune")?;
    let older_than = input
        .older_than_days
        .map(|days| moment.now.before(Duration::from_secs(days * 24 * 60 * 60)));
    let pruned = pack.state().prune(&PruneRule {
        keep: input.keep,
        older_than,
        include_originals: input.include_originals,
        dry_run: input.dry_run,
    })?;
    let data = value(&json!({
        "dry_run": input.dry_run,
        "removed": pruned.removed,
        "kept": pruned.kept.iter().map(|(id, why)| json!({ "id": id, "reason": format!("{why:?}").to_lowercase() })).collect::<Vec<_>>(),
        "blobs": pruned.blobs,
        "bytes": pruned.bytes,
    }))?;
    Ok(with_warnings(data, pruned.warnings))
}
