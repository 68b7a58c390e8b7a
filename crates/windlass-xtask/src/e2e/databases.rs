//! Databases for real: PostgreSQL, MariaDB and Redis, each started by the tests that use it.
//!
//! The tests are Rust tests of `windlass-database` and `windlass-stack-guard`, which skip themselves without the servers'
//! programs; this file brings the programs.

use anyhow::Result;

use crate::process;
use crate::repo::Repo;
use crate::tools;

/// Runs the stage.
pub fn run(repo: &Repo) -> Result<String> {
    let postgres = tools::postgres()?;
    let mariadb = tools::mariadb()?;
    let redis = tools::redis()?;
    process::run(
        tools::tests_of(repo, &["windlass-database", "windlass-stack-guard"])?
            .env("WINDLASS_TEST_POSTGRES", postgres)
            .env("WINDLASS_TEST_MARIADB", mariadb)
            .env("WINDLASS_TEST_REDIS", redis),
    )?;
    Ok(String::new())
}
