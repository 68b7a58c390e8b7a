//! End-to-end stages: the built binary against clients and suites that others wrote.
//!
//! One file per stage. Each returns a short note for the closing table.
//! Not here: tests that need no foreign program; those are Rust tests in the crates.

pub mod conformance;
pub mod databases;
pub mod generated_code;
pub mod inspector;
pub mod local_model;
pub mod local_stack;
pub mod python_client;
mod server;
pub mod tour;
pub mod webhooks;
