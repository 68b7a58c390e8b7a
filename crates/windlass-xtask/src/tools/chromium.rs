//! Chromium, which only the operating system can provide.
//!
//! Not here: what is shown in it. Its arguments are with the script that drives it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::system::require;
use crate::process;

const FIND: &str =
    "command -v chromium || command -v chromium-browser || command -v google-chrome-stable";

/// The program.
pub fn chromium() -> Result<PathBuf> {
    require(
        "Chromium",
        &["sh", "-c", FIND],
        &["chromium", "fonts-dejavu-core"],
    )?;
    let found = process::capture(
        Command::new("sh").args(["-c", FIND]),
        Duration::from_secs(10),
    )?
    .success("the search for Chromium")?;
    let path = found
        .stdout
        .lines()
        .next()
        .context("Chromium is installed, but its program was not found")?;
    Ok(PathBuf::from(path))
}
