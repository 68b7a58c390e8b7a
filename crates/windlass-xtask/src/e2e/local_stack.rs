//! A stack on this machine for real: Node, Python, PostgreSQL and Redis under the manager.
//!
//! The tests are Rust tests of `windlass-stack-dev` and of the binary, which skip themselves
//! without these programs; this file brings the programs.

use anyhow::Result;

use crate::process;
use crate::repo::Repo;
use crate::tools;

const TESTS: &str = "package(windlass-stack-dev) | (package(windlass) & test(/fault_stack_dev::/))";

/// Runs the stage.
pub fn run(repo: &Repo) -> Result<String> {
    let node = tools::node(repo)?;
    let postgres = tools::postgres()?;
    let redis = tools::redis()?;
    process::run(
        tools::tests_matching(repo, TESTS)?
            .env("WINDLASS_TEST_NODE", node.path())
            .env("WINDLASS_TEST_POSTGRES", postgres)
            .env("WINDLASS_TEST_REDIS", redis),
    )?;
    Ok(String::new())
}
