//! The MCP surface: the only crate that knows JSON-RPC.
//!
//! Serves one handler over stdio and streamable HTTP, to clients of both protocol eras
//! (2025-03-26 to 2025-11-25 with `initialize`, 2026-07-28 without) in one process and on
//! one endpoint. Parses, negotiates, renders; what an operation does is the catalogue's
//! business, who the caller is the HTTP surface's. Called by the binary.

#[cfg(feature = "conformance-fixtures")]
pub mod fixtures;
pub mod http;
pub mod negotiate;
mod server;
pub mod transport;
pub mod wire;

pub use server::{
    Beginning, Changed, ClientLink, Extension, McpHandler, ServerOptions, ToolEntry, ToolMode,
    ToolSearch, UnknownToolset, handler,
};
