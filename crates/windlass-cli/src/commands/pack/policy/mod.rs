//! `windlass pack policy`: rules for a repository that many people use.

mod audit;
mod lint;
mod lock;

use clap::Subcommand;
use windlass_types::Problem;

use super::context::Context;
use crate::session::Report;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PolicyCommand {
    /// Check the repository against the rules.
    Lint(lint::LintArgs),
    /// Report where every pinned module comes from.
    Audit(audit::AuditArgs),
    /// Pin the policy pack that agentpack.org.yaml names.
    Lock(lock::LockArgs),
}

impl PolicyCommand {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        match self {
            Self::Lint(args) => args.run(context).await,
            Self::Audit(args) => args.run(context).await,
            Self::Lock(args) => args.run(context).await,
        }
    }
}
