//! The MCP client: servers of others behind the `ToolServers` port.
//!
//! A server is a program that is spoken to over its standard streams, or an address. It is started
//! when something is first asked of it, watched, and started again when it ends; its tools are
//! pinned as they were first seen; what it sends is bounded and cleaned. Both eras of the protocol
//! are spoken: the modern one is tried first. Requests to remote servers, and everything that
//! signing in takes, go through the `Outbound` port and so under its address policy.
//!
//! Not here: whether a tool may be called (windlass-policy), redaction (windlass-secrets), the
//! confinement's enforcement (windlass-sandbox), where settings are (windlass-config). Called by
//! the binary, which hands it on as a `ToolServers`.

mod answer;
mod call;
mod clean;
mod client;
mod config;
mod connect;
mod environment;
mod handler;
mod http;
mod listing;
mod names;
mod oauth;
mod pins;
mod render;
mod server;
mod stdio;

pub use client::{McpClient, McpClientParts, Timing};
pub use config::{
    ClientCredentials, ConfigError, ConfigWarning, Place, RemoteConfig, ServerConfig, ServerTarget,
    Servers, SignIn, StdioConfig, parse_json, parse_toml,
};
pub use environment::{Environment, MissingVariable};
