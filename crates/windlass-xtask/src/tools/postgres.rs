//! PostgreSQL's programs, which only the operating system can provide.
//!
//! Not here: starting a server. Tests make a cluster of their own in a temporary folder.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::system::require;
use crate::process;

/// Prints the folders that hold `initdb`, newest version last; Debian keeps them out of the path.
const FIND: &str = "for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V) \
    \"$(pg_config --bindir 2>/dev/null)\"; do [ -x \"$folder/initdb\" ] && echo \"$folder\"; done | grep .";

/// The folder with `initdb`, `pg_ctl` and `psql`.
pub fn postgres() -> Result<PathBuf> {
    require("PostgreSQL", &["sh", "-c", FIND], &["postgresql"])?;
    let found = process::capture(
        Command::new("sh").args(["-c", FIND]),
        Duration::from_secs(10),
    )?
    .success("the search for PostgreSQL")?;
    let folder = found
        .stdout
        .lines()
        .last()
        .context("PostgreSQL is installed, but its programs were not found")?;
    Ok(PathBuf::from(folder))
}
