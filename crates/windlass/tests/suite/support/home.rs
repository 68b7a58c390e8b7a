//! A separate home for every test, and a scratch directory next to it.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Lets everything happen without an approval.
pub(crate) const ALLOW_ALL: &str =
    "version = 1\n[[rule]]\ndecision = \"allow\"\nreason = \"tests\"\n";

/// A temporary directory with a Windlass home and a scratch directory in it.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = temporary();
        std::fs::create_dir(root.path().join("home")).unwrap();
        std::fs::create_dir(root.path().join("scratch")).unwrap();
        Self { root }
    }

    /// The same with a policy file.
    pub(crate) fn with_policy(text: &str) -> Self {
        let place = Self::new();
        place.policy(text);
        place
    }

    /// Writes the policy file.
    pub(crate) fn policy(&self, text: &str) {
        fs_err::write(self.home().join("policy.toml"), text).unwrap();
    }

    /// The home.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The directory that runs change.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.root.path().join("scratch")
    }

    /// Both, and room for more.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }
}

/// A temporary directory in memory where the machine has one. What a killed process wrote stays
/// in the page cache of a disk just the same, so only the waiting for the disk is left out.
pub(crate) fn temporary() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(directory) = TempDir::with_prefix_in("windlass-", memory)
    {
        return directory;
    }
    TempDir::with_prefix("windlass-").unwrap()
}
