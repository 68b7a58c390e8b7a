//! `windlass pack bootstrap`.

use clap::{Args, builder::PossibleValuesParser};
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, Touches},
    deploy::{applied, confirm_changes},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct BootstrapArgs {
    /// Where to install: for the user, in the project, or both.
    #[arg(
        long,
        value_name = "SCOPE",
        default_value = "both",
        value_parser = PossibleValuesParser::new(["user", "project", "both"])
    )]
    scope: String,
    /// Overwrite existing files of the same names that pack did not write.
    #[arg(long)]
    adopt: bool,
    /// Install nothing, and stop `status` from suggesting it again.
    #[arg(long, conflicts_with = "scope")]
    decline: bool,
}

impl BootstrapArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        if self.decline {
            let own = json!({ "decline": true });
            let data = context
                .write("pack.bootstrap", own, Touches::Repository)
                .await?;
            context.warn(&data);
            let message = "status will not suggest bootstrap again";
            context.say(message);
            return Ok(Report::new(message, data));
        }
        let own = json!({ "scope": self.scope, "adopt": self.adopt });
        let confirmed = confirm_changes(context, "pack.bootstrap", own, "bootstrap").await?;
        applied(context, confirmed)
    }
}
