//! Redis's server, which only the operating system can provide.
//!
//! Not here: starting one. Tests start their own, in memory, in a temporary folder.

use std::path::PathBuf;

use anyhow::Result;

use super::system::{folder_of, require};

/// The folder with `redis-server`.
pub fn redis() -> Result<PathBuf> {
    require("Redis", &["redis-server", "--version"], &["redis-server"])?;
    folder_of("redis-server")
}
