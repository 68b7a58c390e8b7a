//! `windlass store`: care of the store.

mod accept_loss;
mod backup;
mod check;
mod prune;

use clap::Subcommand;
use windlass_types::Problem;

use crate::{
    OpenOptions,
    cli::Need,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StoreCommand {
    /// Go on after acknowledged events were lost, and put that on record.
    AcceptLoss(accept_loss::AcceptLossArgs),
    /// Copy the whole store to a new directory while it is in use.
    Backup(backup::BackupArgs),
    /// Verify every journal, index and artifact.
    Check(check::CheckArgs),
    /// Remove old, ended runs and what nothing refers to.
    Prune(prune::PruneArgs),
}

impl StoreCommand {
    pub(crate) const fn need(&self) -> Need {
        match self {
            Self::AcceptLoss(_) | Self::Backup(_) | Self::Check(_) => Need::Short,
            Self::Prune(_) => Need::Long,
        }
    }

    pub(crate) async fn run(
        self,
        session: &Session,
        options: &OpenOptions,
    ) -> Result<Report, Problem> {
        match self {
            Self::AcceptLoss(args) => args.run(session).await,
            Self::Backup(args) => args.run(session, options).await,
            Self::Check(args) => args.run(session).await,
            Self::Prune(args) => args.run(session, options).await,
        }
    }
}
