//! `windlass pack lock`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, Touches, parse, report},
    show::count,
};
use crate::{output::Tone, session::Report};

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
        let data = context
            .write("pack.lock", json!({}), Touches::Repository)
            .await?;
        let locked: Locked = parse(&data)?;
        let message = format!(
            "{} pinned in {}",
            count(locked.modules, "module"),
            context.view.path(&locked.lockfile)
        );
        context.say(&context.view.line(Tone::Good, "✓", &message));
        context.warn(&data);
        Ok(report(message, data))
    }
}
