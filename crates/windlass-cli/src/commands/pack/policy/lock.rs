//! `windlass pack policy lock`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::pack::context::{Context, DONE},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct LockArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Locked {
    lockfile_path: String,
    resolved_version: String,
}

impl LockArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let message = |locked: &Locked| {
            let lockfile = context.view.path(&locked.lockfile_path);
            format!(
                "policy pack {} pinned in {lockfile}",
                locked.resolved_version
            )
        };
        context
            .write_and_say("pack.policy.lock", json!({}), DONE, message)
            .await
    }
}
