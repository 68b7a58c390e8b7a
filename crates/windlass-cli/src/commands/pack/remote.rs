//! `windlass pack remote set`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use windlass_types::Problem;

use super::context::{Context, DONE};
use crate::session::Report;

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
        let verb = context.either("would be", "is");
        let message = |_: &Value| format!("{} {verb} {}", args.name, args.url);
        context
            .write_and_say("pack.remote.set", own, DONE, message)
            .await
    }
}
