//! MariaDB's server, which only the operating system can provide.
//!
//! Not here: starting one. Tests make a data folder of their own in a temporary folder.

use std::path::PathBuf;

use anyhow::Result;

use super::system::{folder_of, require};

/// The folder with `mariadbd`; `mariadb-install-db` is in the path.
pub fn mariadb() -> Result<PathBuf> {
    let probe = "mariadbd --version && command -v mariadb-install-db";
    require("MariaDB", &["sh", "-c", probe], &["mariadb-server"])?;
    folder_of("mariadbd")
}
