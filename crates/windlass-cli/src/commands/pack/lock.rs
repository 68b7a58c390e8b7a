//! `windlass pack lock`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::context::{Context, DONE};
use crate::{output::counted, session::Report};

#[derive(Args, Debug)]
pub(crate) struct LockArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Locked {
    lockfile: String,
    modules: usize,
}

impl LockArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let message = |locked: &Locked| {
            let modules = counted(locked.modules, "module");
            format!(
                "{modules} pinned in {}",
                context.view.path(&locked.lockfile)
            )
        };
        context
            .write_and_say("pack.lock", json!({}), DONE, message)
            .await
    }
}
