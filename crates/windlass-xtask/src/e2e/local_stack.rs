//! A stack on this machine for real: Node, Python, PostgreSQL, Redis and Podman under the manager,
//! and code packaged with the pinned bundler from npm.
//!
//! The tests are Rust tests of `windlass-stack-dev`, `windlass-stack-lifecycle` and of the binary,
//! which skip themselves without these programs; this file brings the programs.

use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::repo::Repo;
use crate::tools;

const TESTS: &str = "package(windlass-stack-dev) | (package(windlass) & test(/fault_stack_dev::/)) \
                     | (package(windlass-stack-lifecycle) & test(/package::real_tools::/))";

/// Installs what the stage needs.
pub fn prepare(repo: &Repo) -> Result<()> {
    command(repo)?;
    // Packages of the bundler, and NestJS.
    tools::require_npm()?;
    tools::podman().map(drop)
}

/// Runs the stage.
pub fn run(repo: &Repo) -> Result<String> {
    let mut tests = command(repo)?;
    // Not every machine lets containers run: the note in the table says what was skipped.
    let note = match tools::podman() {
        Ok(podman) => {
            tests.env("WINDLASS_TEST_PODMAN", podman);
            String::new()
        }
        Err(error) => format!("NO CONTAINER WAS RUN: {error:#}"),
    };
    process::run(&mut tests)?;
    Ok(note)
}

fn command(repo: &Repo) -> Result<Command> {
    let mut tests = tools::tests_matching(repo, TESTS)?;
    tests
        .env("WINDLASS_TEST_NODE", tools::node(repo)?.path())
        .env("WINDLASS_TEST_POSTGRES", tools::postgres()?)
        .env("WINDLASS_TEST_REDIS", tools::redis()?);
    Ok(tests)
}
