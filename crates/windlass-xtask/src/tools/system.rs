//! Programs that only the operating system can provide.
//!
//! As root on a Debian-like machine they are installed; anywhere else the error says
//! what to install. Not here: tools that live under `target/tools`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::install::retry;
use crate::process;

/// Where Debian keeps what is installed.
const PACKAGES: &str = "/var/lib/dpkg";

/// Makes sure that a probe command succeeds, installing Debian packages if need be.
pub fn require(what: &str, probe: &[&str], packages: &[&str]) -> Result<()> {
    if works(probe) {
        return Ok(());
    }
    let by_hand = format!("apt-get install --yes {}", packages.join(" "));
    if !works(&["apt-get", "--version"]) {
        bail!(
            "{what} is needed and was not found; install it with your package manager \
             (on Debian: {by_hand})"
        );
    }
    if !is_root() {
        bail!("{what} is needed and was not found; install it with: sudo {by_hand}");
    }
    // The package manager refuses to run twice at once. This lock is not one of its own.
    let lock = File::open(PACKAGES).with_context(|| format!("could not open {PACKAGES}"))?;
    lock.lock()
        .with_context(|| format!("could not lock {PACKAGES}"))?;
    if works(probe) {
        return Ok(());
    }
    println!("installing {}", packages.join(" "));
    retry(&by_hand, || {
        process::run(Command::new("apt-get").args(["update", "--quiet"]))?;
        process::run(
            Command::new("apt-get")
                .args(["install", "--quiet", "--yes", "--no-install-recommends"])
                .args(packages)
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )
    })?;
    if !works(probe) {
        bail!(
            "{what} still does not work after `{by_hand}`: `{}` fails",
            probe.join(" ")
        );
    }
    Ok(())
}

/// The fuzz engine is C++ and is compiled on this machine.
pub fn require_cxx() -> Result<()> {
    require("a C++ compiler", &["c++", "--version"], &["g++"])
}

/// The folder that a program of the path is in.
pub fn folder_of(program: &str) -> Result<PathBuf> {
    let found = process::capture(
        Command::new("sh").args(["-c", "command -v \"$1\"", "sh", program]),
        Duration::from_secs(10),
    )?
    .success(&format!("the search for {program}"))?;
    Path::new(found.stdout.trim())
        .parent()
        .map(Path::to_path_buf)
        .with_context(|| format!("{program} is installed, but was not found"))
}

/// Whether a command exists and exits with zero.
pub fn works(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    process::capture(
        Command::new(program).args(arguments),
        Duration::from_secs(60),
    )
    .is_ok_and(|captured| captured.status.success())
}

fn is_root() -> bool {
    process::capture(Command::new("id").arg("-u"), Duration::from_secs(10))
        .is_ok_and(|captured| captured.stdout.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_distinguishes_present_from_absent_and_failing() {
        assert!(works(&["true"]));
        assert!(!works(&["false"]));
        assert!(!works(&["no-such-program-anywhere"]));
        assert!(!works(&[]));
    }

    #[test]
    fn nothing_is_installed_when_the_probe_succeeds() {
        require("nothing", &["true"], &["no-such-package"]).unwrap();
    }
}
