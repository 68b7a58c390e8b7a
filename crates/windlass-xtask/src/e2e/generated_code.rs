//! Projects that the pipeline generates, with the tools their users have: npm, tsc, eslint, the
//! production build, vitest, and PostgreSQL for the migration.
//!
//! The tests are Rust tests of `windlass-pipeline-code`, which skip themselves without these
//! programs; this file brings the programs.

use anyhow::Result;

use crate::process;
use crate::repo::Repo;
use crate::tools;

/// Runs the stage.
pub fn run(repo: &Repo) -> Result<String> {
    let node = tools::node(repo)?;
    tools::require_npm()?;
    let postgres = tools::postgres()?;
    process::run(
        tools::require_nextest(repo)?
            .args(["run", "--package", "windlass-pipeline-code"])
            .args(["--success-output", "immediate"])
            .env("WINDLASS_TEST_NODE", node.path())
            .env("WINDLASS_TEST_POSTGRES", postgres),
    )?;
    Ok(String::new())
}
