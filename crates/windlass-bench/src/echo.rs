//! The peer: a bare rmcp server with one echo tool and nothing else.

use std::sync::Arc;

use anyhow::Result;
use rmcp::{
    ServerHandler, ServiceExt as _,
    handler::server::wrapper::Parameters,
    tool, tool_handler, tool_router,
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoInput {
    /// What to say back.
    operation: String,
    /// Ignored; there so that both servers receive the same arguments.
    effect: String,
}

#[derive(Clone)]
struct Echo;

#[tool_router]
impl Echo {
    #[tool(description = "Echoes its input.")]
    fn echo(&self, Parameters(input): Parameters<EchoInput>) -> String {
        format!("{} {}", input.operation, input.effect)
    }
}

#[tool_handler]
impl ServerHandler for Echo {}

pub(crate) fn serve_stdio() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        Echo.serve(stdio()).await?.waiting().await?;
        Ok(())
    })
}

#[expect(clippy::print_stdout, reason = "the parent reads the address")]
pub(crate) fn serve_http() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let service = StreamableHttpService::new(
            || Ok(Echo),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default().with_json_response(true),
        );
        let router = axum::Router::new().nest_service("/mcp", service);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}/mcp", listener.local_addr()?);
        axum::serve(listener, router).await?;
        Ok(())
    })
}
