//! Where the repository is and what Cargo says about it.
//!
//! Not here: any judgement about what is found; that is `tidy`. Called first by every verb.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process;

/// The checkout a verb works on.
pub struct Repo {
    /// The folder that holds the root manifest.
    pub root: PathBuf,
    /// Cargo's target folder, wherever the user moved it.
    pub target: PathBuf,
    /// `cargo metadata --no-deps`: the workspace's own packages.
    pub metadata: Value,
}

impl Repo {
    /// Finds the checkout around the current folder and asks Cargo about it.
    pub fn load() -> Result<Repo> {
        let here = std::env::current_dir().context("the current folder is gone")?;
        let root = find_root(&here)?;
        let output = process::capture(
            cargo()
                .args(["metadata", "--no-deps", "--format-version", "1"])
                .current_dir(&root),
            Duration::from_secs(120),
        )?
        .success("`cargo metadata`")?;
        let metadata: Value =
            serde_json::from_str(&output.stdout).context("`cargo metadata` printed no JSON")?;
        let target = metadata["target_directory"]
            .as_str()
            .context("`cargo metadata` names no target folder")?
            .into();
        Ok(Repo {
            root,
            target,
            metadata,
        })
    }

    /// A `cargo` command that runs at the root.
    pub fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root);
        command
    }

    /// An empty folder for one stage. It stays after the stage, to look into a failure.
    pub fn scratch(&self, stage: &str) -> Result<PathBuf> {
        let folder = self.target.join("xtask").join(stage);
        if folder.exists() {
            fs_err::remove_dir_all(&folder)?;
        }
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// The Cargo that started this process, so that a `+toolchain` choice carries over.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if on_build_machine() {
        // What only a second build would use: gigabytes of disk, and minutes of linking.
        command
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "none");
    }
    command
}

/// Whether this runs on a build machine; those set `CI=true`.
pub fn on_build_machine() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true" || value == "1")
}

fn find_root(start: &Path) -> Result<PathBuf> {
    match start
        .ancestors()
        .find(|folder| folder.join("crates/windlass-xtask/Cargo.toml").is_file())
    {
        Some(root) => Ok(root.to_path_buf()),
        None => bail!(
            "{} is not inside a Windlass checkout; change into one first",
            start.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_root_from_inside_and_not_from_outside() {
        let here = std::env::current_dir().unwrap();
        let root = find_root(&here).unwrap();
        assert!(here.starts_with(&root));
        let error = find_root(Path::new("/")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/ is not inside a Windlass checkout; change into one first"
        );
    }
}
