//! `windlass webhooks`: the delivery log, and the secrets deliveries are signed with.

mod deliveries;
mod replay;
mod secret;

use clap::Subcommand;
use windlass_types::Problem;

use crate::{
    cli::Need,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum WebhooksCommand {
    /// List deliveries with every attempt.
    Deliveries(deliveries::DeliveriesArgs),
    /// Send a delivery again: same id, same body, fresh signature.
    Replay(replay::ReplayArgs),
    /// Create, rotate and list the secrets that sign deliveries.
    #[command(subcommand)]
    Secret(secret::SecretCommand),
}

impl WebhooksCommand {
    pub(crate) const fn need(&self) -> Need {
        match self {
            Self::Deliveries(_) | Self::Secret(_) => Need::Short,
            Self::Replay(_) => Need::Long,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        match self {
            Self::Deliveries(args) => args.run(session).await,
            Self::Replay(args) => args.run(session).await,
            Self::Secret(command) => command.run(session).await,
        }
    }
}
