//! `windlass keys`: API keys for MCP over HTTP and the HTTP API.

mod create;
mod list;
mod revoke;

pub(crate) use revoke::find;

use clap::Subcommand;
use windlass_types::Problem;

use crate::session::{Report, Session};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum KeysCommand {
    /// Create a key; it is shown only once.
    Create(create::CreateArgs),
    /// List keys, without their secrets.
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Stop a key from working.
    Revoke(revoke::RevokeArgs),
}

impl KeysCommand {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        match self {
            Self::Create(args) => args.run(session).await,
            Self::List(args) => args.run(session).await,
            Self::Revoke(args) => args.run(session).await,
        }
    }
}
