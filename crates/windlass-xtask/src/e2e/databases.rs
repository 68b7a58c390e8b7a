//! Databases for real: PostgreSQL, MariaDB and Redis, each started by the tests that use it.
//!
//! The tests are Rust tests that skip themselves without the servers' programs; this file brings the
//! programs.

use anyhow::Result;

use crate::process;
use crate::repo::Repo;
use crate::tools;

/// The tests that use them: the adapter, the rules, the questions, and the binary.
const TESTS: &str = "package(windlass-database) | \
    (package(windlass-stack-diagnose) & test(/(guard|session|servers|bastion)::/)) | \
    (package(windlass-stack-lifecycle) & test(/script::bastion::/)) | \
    (package(windlass) & test(/stack::(databases|bastion)::/))";

/// Runs the stage.
pub fn run(repo: &Repo) -> Result<String> {
    let postgres = tools::postgres()?;
    let mariadb = tools::mariadb()?;
    let redis = tools::redis()?;
    process::run(
        tools::tests_matching(repo, TESTS)?
            .env("WINDLASS_TEST_POSTGRES", postgres)
            .env("WINDLASS_TEST_MARIADB", mariadb)
            .env("WINDLASS_TEST_REDIS", redis),
    )?;
    Ok(String::new())
}
