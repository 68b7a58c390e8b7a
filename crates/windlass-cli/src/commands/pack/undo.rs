//! `windlass pack undo`.

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::Context,
    deploy::{applied, confirm_changes},
};
use crate::session::Report;

#[derive(Args, Debug)]
pub(crate) struct UndoArgs {
    /// The event to undo; see `snapshots list`. Default: the newest.
    #[arg(value_name = "SNAPSHOT")]
    id: Option<String>,
    /// Only this file; may be given several times.
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
}

impl UndoArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "id": self.id, "paths": self.paths });
        let confirmed = confirm_changes(context, "pack.undo", own, "undo").await?;
        applied(context, confirmed)
    }
}
