//! A virtual environment with one pinned package.
//!
//! Not here: the Python interpreter itself, which is the system's `python3`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::install::{Tool, ensure};
use super::system::require;
use crate::process;
use crate::repo::Repo;

/// The interpreter of an environment that holds `package` at `version`.
pub fn python_with(repo: &Repo, package: &str, version: &str) -> Result<PathBuf> {
    let tool = Tool {
        folder: "python",
        version: &format!("{package}=={version}"),
        entry: "bin/python",
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
