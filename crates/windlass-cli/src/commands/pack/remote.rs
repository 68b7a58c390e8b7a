//! `windlass pack remote set`.

use clap::{Args, Subcommand};
use serde_json::json;
use windlass_types::Problem;

use super::context::{Context, Touches, report};
use crate::{output::Tone, session::Report};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum RemoteCommand {
    /// Set the address of a remote; add it if it is new.
    Set(SetArgs),
}

#[derive(Args, Debug)]
pub(crate) struct SetArgs {
    /// The address.
    #[arg(value_name = "URL")]
    url: String,
    /// The remote's name.
    #[arg(long, value_name = "NAME", default_value = "origin")]
    name: String,
}

impl RemoteCommand {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let Self::Set(args) = self;
        let own = json!({ "url": args.url, "name": args.name });
        let data = context
            .write("pack.remote.set", own, Touches::Repository)
            .await?;
        let verb = if context.options.dry_run {
            "would be"
        } else {
            "is"
        };
        let message = format!("{} {verb} {}", args.name, args.url);
        context.say(&context.view.line(Tone::Good, "✓", &message));
        context.warn(&data);
        Ok(report(message, data))
    }
}
