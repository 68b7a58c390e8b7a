//! Podman, which only the operating system can provide.
//!
//! Not here: whether it can run a container. Tests try that with one of their own.

use std::path::PathBuf;

use anyhow::Result;

use super::system::{folder_of, require};

/// The folder with `podman`.
pub fn podman() -> Result<PathBuf> {
    require(
        "Podman",
        &[
            "sh",
            "-c",
            "podman --version && runc --version && command -v catatonit && test -x /bin/busybox",
        ],
        &["podman", "runc", "conmon", "catatonit", "busybox-static"],
    )?;
    folder_of("podman")
}
