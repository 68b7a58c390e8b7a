//! A stack on this machine for real: Node, Python, PostgreSQL, Redis and Podman under the manager.
//!
//! The tests are Rust tests of `windlass-stack-dev` and of the binary, which skip themselves
//! without these programs; this file brings the programs.

use anyhow::Result;

use crate::process;
use crate::repo::Repo;
use crate::tools;

const TESTS: &str = "package(windlass-stack-dev) | (package(windlass) & test(/fault_stack_dev::/)) \
                     | (package(windlass-stack-lifecycle) & test(/package::.*engine/))";

/// Runs the stage.
pub fn run(repo: &Repo) -> Result<String> {
    let node = tools::node(repo)?;
    let postgres = tools::postgres()?;
    let redis = tools::redis()?;
    let mut tests = tools::tests_matching(repo, TESTS)?;
    tests
        .env("WINDLASS_TEST_NODE", node.path())
        .env("WINDLASS_TEST_POSTGRES", postgres)
        .env("WINDLASS_TEST_REDIS", redis);
    // Not every machine lets containers run: what is skipped is said in the table of stages.
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
