//! `windlass pack overlay`: changes to a module that are stored separately.

mod edit;
mod path;
mod rebase;

use clap::Subcommand;
use windlass_types::Problem;

use super::context::Context;
use crate::session::Report;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum OverlayCommand {
    /// Create an overlay of a module and open it in $EDITOR.
    Edit(edit::EditArgs),
    /// Merge what changed upstream into an overlay.
    Rebase(rebase::RebaseArgs),
    /// Print the path of an overlay.
    Path(path::PathArgs),
}

impl OverlayCommand {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        match self {
            Self::Edit(args) => args.run(context).await,
            Self::Rebase(args) => args.run(context).await,
            Self::Path(args) => args.run(context).await,
        }
    }
}
