//! Databases for real: PostgreSQL, MariaDB and Redis, each started by the tests that use it.
//!
//! The tests are Rust tests that skip themselves without the servers' programs; this file brings the
//! programs.

use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::repo::Repo;
use crate::tools;

/// The tests that use them: the adapter, the rules, the questions, and the binary.
const TESTS: &str = "package(windlass-database) | \
    (package(windlass-stack-diagnose) & test(/(guard|session|servers|bastion)::/)) | \
    (package(windlass-stack-lifecycle) & test(/script::bastion::/)) | \
    (package(windlass) & test(/stack::(databases|bastion)::/))";

/// Installs what the stage needs.
pub fn prepare(repo: &Repo) -> Result<()> {
    command(repo).map(drop)
}

/// Runs the stage.
pub fn run(repo: &Repo) -> Result<String> {
    process::run(&mut command(repo)?)?;
    Ok(String::new())
}

fn command(repo: &Repo) -> Result<Command> {
    let mut tests = tools::tests_matching(repo, TESTS)?;
    tests
        .env("WINDLASS_TEST_POSTGRES", tools::postgres()?)
        .env("WINDLASS_TEST_MARIADB", tools::mariadb()?)
        .env("WINDLASS_TEST_REDIS", tools::redis()?);
    Ok(tests)
}
