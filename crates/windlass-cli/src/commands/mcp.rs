//! `windlass mcp serve`: the operations for MCP clients.

use std::{net::SocketAddr, time::Duration};

use clap::{Args, Subcommand};
use serde_json::json;
use windlass_types::Problem;

use super::serve::{Listen, ToolArgs, drive_while, serve_http};
use crate::{
    Host, McpRequest, OpenOptions,
    session::{Report, Session},
};

/// A client that starts a server waits for its first answer; unfinished runs can wait for it too.
const FIRST_ANSWER: Duration = Duration::from_millis(10);

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum McpCommand {
    /// Serve MCP on standard input and output, or over HTTP.
    Serve(McpServeArgs),
}

#[derive(Args, Debug)]
pub(crate) struct McpServeArgs {
    /// Serve streamable HTTP on this address instead; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Let HTTP callers in without an API key; only on a loopback address.
    #[arg(long, requires = "http")]
    no_auth: bool,
    #[command(flatten)]
    tools: ToolArgs,
}

impl McpServeArgs {
    /// The same, offering one toolset where none was named.
    #[must_use]
    pub(crate) fn limited_to(mut self, toolset: &str) -> Self {
        self.tools.limit_to(toolset);
        self
    }
}

impl McpCommand {
    pub(crate) async fn run(
        self,
        session: &Session,
        host: &dyn Host,
        options: &OpenOptions,
    ) -> Result<Report, Problem> {
        let Self::Serve(args) = self;
        if let Some(address) = args.http {
            let listen = Listen {
                address,
                no_auth: args.no_auth,
                api: false,
            };
            return serve_http(session, host, options, listen, &args.tools).await;
        }
        if !session.printer.is_human() {
            return Err(Problem::invalid(
                "json",
                "stdio",
                "standard output carries MCP here; --json and --agent cannot be used",
            )
            .next("windlass mcp serve"));
        }
        let request = McpRequest {
            toolsets: args.tools.toolsets(&session.catalogue().toolsets())?,
            tools: args.tools.tools(),
            fixtures: args.tools.fixtures(),
            project: args.tools.project()?,
            shutdown: session.interrupt.clone(),
        };
        let opened = session.opened.clone();
        drive_while(session, FIRST_ANSWER, host.serve_stdio(opened, request)).await?;
        Ok(Report::new("stopped", json!({ "stopped": true })))
    }
}
