//! `windlass pack evolve`: what to do about drift besides overwriting it.

mod propose;
mod restore;

use clap::Subcommand;
use windlass_types::Problem;

use super::context::Context;
use crate::session::Report;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum EvolveCommand {
    /// Put edits of deployed files into overlays, on a branch of the repository.
    Propose(propose::ProposeArgs),
    /// Restore missing deployed files; touch no others.
    Restore(restore::RestoreArgs),
}

impl EvolveCommand {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        match self {
            Self::Propose(args) => args.run(context).await,
            Self::Restore(args) => args.run(context).await,
        }
    }
}
