//! The HTTP surface: keys, limits, checks and routes in front of the operation catalogue.
//!
//! One guard stands before everything that is served, the `/mcp` endpoint included: it checks
//! Host and Origin, authenticates, counts, limits the body and gives every answer its headers.
//! Behind it are thin routes that turn a request into a call of the catalogue. Does not know
//! JSON-RPC (the MCP surface is mounted as an opaque service) and decides nothing about
//! operations. Called by the binary.

mod base;
mod call;
mod challenge;
mod failure;
mod guard;
mod input;
mod openapi;
mod paths;
mod routes;
mod serve;
mod state;
mod traffic;

pub use axum::Router;
pub use openapi::openapi;
pub use routes::{mcp_router, router, router_with_mcp};
pub use serve::{ListenOptions, ServeError, serve};
pub use state::{AuthMode, Deprecation, HttpState, SignedAddresses};
pub use traffic::Traffic;
