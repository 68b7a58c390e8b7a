//! Webhooks verified by the `standardwebhooks` library of another language.
//!
//! The checks are in `harness/webhooks.py`, which starts the server and the receiver itself.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;
use crate::tools::standard_webhooks;

const SCRIPT: &str = "crates/windlass-xtask/harness/webhooks.py";
const LIMIT: Duration = Duration::from_secs(180);

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let python = standard_webhooks(repo)?;
    let scratch = repo.scratch("webhooks")?;
    let binary = binaries.product(repo)?;
    let output = process::capture(
        Command::new(python)
            // Bytecode would land next to the script, inside the checkout.
            .arg("-B")
            .arg(repo.root.join(SCRIPT))
            .arg("--binary")
            .arg(&binary)
            .arg("--home")
            .arg(scratch.join("home")),
        LIMIT,
    )?
    .success("the webhook receiver")?;
    print!("{}", output.stdout);
    Ok(format!("{} checks", output.stdout.lines().count()))
}
