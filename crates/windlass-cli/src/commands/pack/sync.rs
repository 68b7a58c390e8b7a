//! `windlass pack sync`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::context::{Context, Touches, parse};
use crate::{output::Tone, session::Report};

#[derive(Args, Debug)]
pub(crate) struct SyncArgs {
    /// Rebase local commits onto what is pulled.
    #[arg(long)]
    rebase: bool,
    /// The remote.
    #[arg(long, value_name = "NAME", default_value = "origin")]
    remote: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Synced {
    remote: String,
    branch: String,
    commands: Vec<String>,
}

impl SyncArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "rebase": self.rebase, "remote": self.remote });
        let data = context.write("pack.sync", own, Touches::Repository).await?;
        let synced: Synced = parse(&data)?;
        let (tone, sign, verb) = if context.options.dry_run {
            (Tone::Active, ">", "would be in sync")
        } else {
            (Tone::Good, "✓", "is in sync")
        };
        for command in &synced.commands {
            context.say(&context.view.line(tone, sign, command));
        }
        let message = format!("{} {verb} with {}", synced.branch, synced.remote);
        context.say(&message);
        context.warn(&data);
        Ok(Report::new(message, data))
    }
}
