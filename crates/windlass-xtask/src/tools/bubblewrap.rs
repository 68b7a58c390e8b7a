//! Bubblewrap, which only the operating system can provide.
//!
//! Not here: whether it can make namespaces. Tests of the sandbox try that, and test the other
//! backends as well.

use anyhow::Result;

use super::system::require;

/// Makes sure that `bwrap` is installed.
pub fn require_bubblewrap() -> Result<()> {
    require("bubblewrap", &["bwrap", "--version"], &["bubblewrap"])
}
