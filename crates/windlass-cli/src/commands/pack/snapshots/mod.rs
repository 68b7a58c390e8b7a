//! `windlass pack snapshots`: what rollback and undo work from.

mod list;
mod prune;
mod show;

use clap::Subcommand;
use windlass_types::Problem;

use super::context::Context;
use crate::session::Report;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SnapshotsCommand {
    /// List every event: deployments, rollbacks, undos.
    List(list::ListArgs),
    /// Show one event.
    Show(show::ShowArgs),
    /// Remove old events and contents nothing refers to.
    Prune(prune::PruneArgs),
}

impl SnapshotsCommand {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        match self {
            Self::List(args) => args.run(context).await,
            Self::Show(args) => args.run(context).await,
            Self::Prune(args) => args.run(context).await,
        }
    }
}
