//! The Python SDK's client lists and calls our tools, over stdio and HTTP.
//!
//! The checks are in `harness/python_client.py`; this file installs the SDK, starts
//! the HTTP server and hands over the addresses.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::server::Server;
use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;
use crate::tools::python_with;

const VERSION: &str = "2.3.0";
const SCRIPT: &str = "crates/windlass-xtask/harness/python_client.py";
const LIMIT: Duration = Duration::from_secs(180);

/// Installs what the stage needs.
pub fn prepare(repo: &Repo) -> Result<()> {
    install(repo).map(drop)
}

fn install(repo: &Repo) -> Result<PathBuf> {
    python_with(repo, "mcp", VERSION)
}

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let python = install(repo)?;
    let scratch = repo.scratch("python-client")?;
    let binary = binaries.product(repo)?;
    let server = Server::start(&binary, &[], &scratch.join("http"))?;
    let work = scratch.join("work");
    fs_err::create_dir_all(&work)?;
    let output = process::capture(
        Command::new(python)
            // Bytecode would land next to the script, inside the checkout.
            .arg("-B")
            .arg(repo.root.join(SCRIPT))
            .arg("--binary")
            .arg(&binary)
            .arg("--url")
            .arg(&server.url)
            .arg("--home")
            .arg(scratch.join("stdio-home"))
            .arg("--work")
            .arg(work),
        LIMIT,
    )?
    .success("the Python client")?;
    print!("{}", output.stdout);
    let approvals = |line: &&str| line.starts_with("approvals");
    let (eras, lines) = (
        output.stdout.lines().filter(approvals).count(),
        output.stdout.lines(),
    );
    let connections = lines.count() - eras;
    Ok(format!(
        "{connections} connections, approvals in {eras} eras"
    ))
}
