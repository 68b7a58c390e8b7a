//! `windlass pack policy lock`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::pack::context::{Context, Touches, parse, report},
    output::Tone,
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
        let data = context
            .write("pack.policy.lock", json!({}), Touches::Repository)
            .await?;
        let locked: Locked = parse(&data)?;
        let message = format!(
            "policy pack {} pinned in {}",
            locked.resolved_version,
            context.view.path(&locked.lockfile_path)
        );
        context.say(&context.view.line(Tone::Good, "✓", &message));
        context.warn(&data);
        Ok(report(message, data))
    }
}
