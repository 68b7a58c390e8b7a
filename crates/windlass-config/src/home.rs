//! The Windlass home: which directory it is, and what lies where in it.
//!
//! Path arithmetic only. Creating the directory (0700) and its files (0600) is the work
//! of the writer.

use std::path::{Path, PathBuf};

use crate::env::{self, Environment};

/// There is no place for a home.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no home directory: neither WINDLASS_HOME nor HOME is set; set WINDLASS_HOME to a directory Windlass may use"
)]
pub struct HomeError;

/// The home directory and the paths in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// The home the environment names: `WINDLASS_HOME`, or `.windlass` in `HOME`.
    pub fn resolve(environment: &Environment) -> Result<Self, HomeError> {
        environment
            .path(&env::WINDLASS_HOME)
            .or_else(|| {
                environment
                    .path(&env::HOME)
                    .map(|home| home.join(".windlass"))
            })
            .map(Self)
            .ok_or(HomeError)
    }

    /// A home at a given place.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The settings file.
    pub fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    /// Rules about commands, besides those of the policy file.
    pub fn rules(&self) -> PathBuf {
        self.0.join("rules.toml")
    }

    /// The policy file.
    pub fn policy(&self) -> PathBuf {
        self.0.join("policy.toml")
    }

    /// The store.
    pub fn db(&self) -> PathBuf {
        self.0.join("windlass.db")
    }

    /// Keys that never leave this machine.
    pub fn keys_dir(&self) -> PathBuf {
        self.0.join("keys")
    }

    /// The key that seals confirm tokens.
    pub fn confirm_key(&self) -> PathBuf {
        self.keys_dir().join("confirm.key")
    }

    /// Directories whose programs may run.
    pub fn trust(&self) -> PathBuf {
        self.0.join("trust.json")
    }

    /// Digests of files that packs look at; losing it costs time only.
    pub fn pack_cache(&self) -> PathBuf {
        self.root().join("cache").join("pack-stat.bin")
    }

    /// The checkouts of site launches, one folder per run.
    pub fn launch_dir(&self) -> PathBuf {
        self.0.join("launch")
    }

    /// Packages of stacks, named by their content.
    pub fn stack_cache_dir(&self) -> PathBuf {
        self.0.join("stack").join("packages")
    }

    /// Build tools of stacks that were fetched.
    pub fn stack_tools_dir(&self) -> PathBuf {
        self.0.join("stack").join("tools")
    }

    /// Backups of the store, unless another place is named.
    pub fn backups_dir(&self) -> PathBuf {
        self.0.join("backups")
    }

    /// Files being written, before they are moved to their place.
    pub fn tmp_dir(&self) -> PathBuf {
        self.0.join("tmp")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_then_the_users_home() {
        let resolve =
            |pairs: &[(&str, &str)]| Home::resolve(&Environment::from_pairs(pairs.iter().copied()));
        let user = ("HOME", "/home/ada");
        assert_eq!(
            resolve(&[("WINDLASS_HOME", "/w"), user]),
            Ok(Home::at("/w"))
        );
        assert_eq!(resolve(&[user]), Ok(Home::at("/home/ada/.windlass")));
        assert_eq!(
            resolve(&[("WINDLASS_HOME", ""), user]),
            Ok(Home::at("/home/ada/.windlass"))
        );
        assert_eq!(resolve(&[]), Err(HomeError));
    }

    #[test]
    fn every_path_is_inside_the_home() {
        let home = Home::at("/w");
        for path in [
            home.config(),
            home.policy(),
            home.db(),
            home.launch_dir(),
            home.stack_cache_dir(),
            home.stack_tools_dir(),
            home.confirm_key(),
            home.trust(),
            home.backups_dir(),
            home.tmp_dir(),
        ] {
            assert!(
                path.starts_with(home.root()) && path != home.root(),
                "{path:?}"
            );
        }
    }
}
