//! `windlass ops`: the operation catalogue, as every surface offers it.

mod call;
mod describe;
mod list;

pub(crate) use call::read_stdin;
pub(crate) use list::known_toolset;

use clap::Subcommand;

use crate::{
    cli::Need,
    dispatch::Failure,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum OpsCommand {
    /// List every operation.
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Describe one operation: what it does, its input, examples.
    Describe(describe::DescribeArgs),
    /// Call an operation with JSON input.
    Call(call::CallArgs),
}

impl OpsCommand {
    pub(crate) const fn need(&self) -> Need {
        match self {
            Self::List(_) | Self::Describe(_) => Need::Short,
            Self::Call(_) => Need::Long,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Failure> {
        match self {
            Self::List(args) => Ok(args.run(session)?),
            Self::Describe(args) => Ok(args.run(session)?),
            Self::Call(args) => args.run(session).await,
        }
    }
}
