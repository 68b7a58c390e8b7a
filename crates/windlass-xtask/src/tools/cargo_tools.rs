//! Cargo subcommands: rustfmt and clippy from the toolchain, nextest and cargo-deny built.
//!
//! cargo-deny is compiled without optimisation: 70 CPU seconds instead of 190, and
//! its check of this workspace still takes two.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::install::{Tool, ensure};
use super::system::works;
use crate::process;
use crate::repo::Repo;

const CARGO_DENY_VERSION: &str = "0.20.2";
const CARGO_NEXTEST_VERSION: &str = "0.9.143";

/// `cargo fmt` comes with the toolchain.
pub fn require_rustfmt(repo: &Repo) -> Result<()> {
    require_component(repo, "rustfmt", "fmt")
}

/// `cargo clippy` comes with the toolchain.
pub fn require_clippy(repo: &Repo) -> Result<()> {
    require_component(repo, "clippy", "clippy")
}

/// The nextest runner: the machine's own if there is one, else one built here.
pub fn require_nextest(repo: &Repo) -> Result<Command> {
    if works(&["cargo-nextest", "nextest", "--version"]) {
        let mut command = repo.cargo();
        command.arg("nextest");
        return Ok(command);
    }
    let program = cargo_install(repo, "cargo-nextest", CARGO_NEXTEST_VERSION)?;
    let mut command = Command::new(program);
    command.arg("nextest").current_dir(&repo.root);
    Ok(command)
}

/// The tests of some packages, out of the build that the stage `tests` makes: a build of these
/// packages alone has other features, and would compile most of what they stand on again.
pub fn tests_of(repo: &Repo, packages: &[&str]) -> Result<Command> {
    let chosen: Vec<String> = packages
        .iter()
        .map(|package| format!("package({package})"))
        .collect();
    tests_matching(repo, &chosen.join(" | "))
}

/// The same by a filter expression of nextest.
pub fn tests_matching(repo: &Repo, filter: &str) -> Result<Command> {
    let mut command = require_nextest(repo)?;
    command
        .args(["run", "--workspace", "--success-output", "immediate", "-E"])
        .arg(filter);
    Ok(command)
}

/// The licence, ban and source checker.
pub fn cargo_deny(repo: &Repo) -> Result<PathBuf> {
    cargo_install(repo, "cargo-deny", CARGO_DENY_VERSION)
}

fn cargo_install(repo: &Repo, package: &str, version: &str) -> Result<PathBuf> {
    let tool = Tool {
        folder: package,
        version,
        entry: &format!("bin/{package}"),
        needs: || Ok(()),
    };
    ensure(repo, &tool, |folder| {
        let build = folder.join("build");
        process::run(
            repo.cargo()
                .args(["install", package, "--version", version, "--locked"])
                .args(["--debug", "--quiet", "--root"])
                .arg(folder)
                .arg("--target-dir")
                .arg(&build)
                .env("CARGO_PROFILE_DEV_DEBUG", "0"),
        )?;
        Ok(fs_err::remove_dir_all(&build)?)
    })
}

fn require_component(repo: &Repo, component: &str, subcommand: &str) -> Result<()> {
    let present = || {
        process::capture(
            repo.cargo().args([subcommand, "--version"]),
            Duration::from_secs(60),
        )
        .is_ok_and(|captured| captured.status.success())
    };
    if present() {
        return Ok(());
    }
    if works(&["rustup", "--version"]) {
        super::retry(&format!("adding {component}"), || {
            process::run(Command::new("rustup").args(["component", "add", component]))
        })?;
    }
    if !present() {
        bail!("`cargo {subcommand}` is missing; install it with: rustup component add {component}");
    }
    Ok(())
}
