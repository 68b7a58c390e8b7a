//! `windlass pack mcp serve`: `windlass mcp serve` with the toolset `pack`.

use clap::Subcommand;
use windlass_types::Problem;

use crate::{
    Host, OpenOptions,
    commands::mcp::{self, McpServeArgs},
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum McpCommand {
    /// Serve the pack tools on standard input and output, or over HTTP.
    Serve(McpServeArgs),
}

impl McpCommand {
    pub(super) async fn run(
        self,
        session: &Session,
        host: &dyn Host,
        open: &OpenOptions,
    ) -> Result<Report, Problem> {
        let Self::Serve(args) = self;
        mcp::McpCommand::Serve(args.limited_to("pack"))
            .run(session, host, open)
            .await
    }
}
