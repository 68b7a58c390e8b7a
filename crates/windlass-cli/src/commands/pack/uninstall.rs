//! `windlass pack uninstall`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::Context,
    deploy::{applied, confirm_changes},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct UninstallArgs {
    /// Restore the files that were replaced when they were first adopted.
    #[arg(long)]
    restore_originals: bool,
}

impl UninstallArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "restore_originals": self.restore_originals });
        let confirmed = confirm_changes(context, "pack.uninstall", own, "uninstall").await?;
        applied(context, confirmed)
    }
}
