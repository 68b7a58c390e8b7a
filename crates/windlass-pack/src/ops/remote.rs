//! `remote set` and `sync`: the config repository between machines.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_pack_author::{SyncRequest, set_remote, sync as synchronise};
use windlass_ports::trust;
use windlass_types::Problem;

use super::{Shop, value, with_warnings};
use crate::{
    arguments::{Common, require_yes},
    workspace::{Moment, Pack},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.change(
            "remote.set",
            "Set the remote",
            "Names the remote the config repository is synchronised with.",
            set,
        ),
        shop.change(
            "sync",
            "Pull and push",
            "Pulls from the remote and pushes to it.",
            sync,
        ),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct RemoteInput {
    #[serde(flatten)]
    common: Common,
    /// The address.
    url: String,
    /// The remote's name.
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn set(pack: &Pack, moment: &Moment, input: RemoteInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "remote set")?;
    let repo = pack.repo(&input.common, moment);
    let name = input.name.as_deref().unwrap_or("origin");
    value(&set_remote(
        &*pack.git,
        &repo,
        name,
        &input.url,
        input.dry_run,
    )?)
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct SyncInput {
    #[serde(flatten)]
    common: Common,
    /// Pull with rebase.
    #[serde(default)]
    rebase: bool,
    /// The remote's name.
    #[serde(default)]
    remote: Option<String>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn sync(pack: &Pack, moment: &Moment, input: SyncInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "sync")?;
    let repo = pack.repo(&input.common, moment);
    let skipped = pack.git.skipped(&repo).unwrap_or_default();
    let data = value(&synchronise(
        &*pack.git,
        &SyncRequest {
            repo: &repo,
            remote: input.remote.as_deref().unwrap_or("origin"),
            rebase: input.rebase,
            dry_run: input.dry_run,
        },
    )?)?;
    let warnings = trust::skipped(&repo, &skipped).into_iter().collect();
    Ok(with_warnings(data, warnings))
}
