//! Answers from files, without a process, where git would certainly give the same.
//!
//! The rule for everything here: anything unusual (a `.git` file, a worktree, an include, an
//! `insteadOf`, an extension, a variable, another owner, odd syntax) is `Unsure`, and git is
//! asked. Two processes cost more than all of a small plan's own work.

mod config;
mod discover;
mod refs;

use std::path::{Path, PathBuf};

use windlass_ports::git::Head;

use crate::environment::{Environment, Scope};
use discover::{Found, discover};

/// An answer, or the advice to ask git.
#[derive(Debug, PartialEq, Eq)]
pub enum Certainty<T> {
    /// What git would say.
    Certain(T),
    /// git has to be asked.
    Unsure,
}

/// What `git rev-parse --show-toplevel` gives; `None` outside of repositories.
pub fn toplevel(
    environment: &Environment,
    scope: Scope,
    directory: &Path,
) -> Certainty<Option<PathBuf>> {
    if !environment.is_plain(scope) {
        return Certainty::Unsure;
    }
    match discover(directory) {
        Found::Repository(repository) => Certainty::Certain(Some(repository.top)),
        Found::Nothing => Certainty::Certain(None),
        Found::Unsure => Certainty::Unsure,
    }
}

/// What `git remote get-url` gives; `None` without such a remote.
pub fn remote_url(
    environment: &Environment,
    scope: Scope,
    program: &Path,
    repo: &Path,
    remote: &str,
) -> Certainty<Option<String>> {
    if !environment.is_plain(scope) {
        return Certainty::Unsure;
    }
    let repository = match discover(repo) {
        Found::Repository(repository) => repository,
        Found::Nothing => return Certainty::Certain(None),
        Found::Unsure => return Certainty::Unsure,
    };
    if !config::others_are_silent(environment, program) {
        return Certainty::Unsure;
    }
    config::remote_url(&repository, remote)
}

/// Branch and commit.
pub fn head(environment: &Environment, scope: Scope, repo: &Path) -> Certainty<Head> {
    if !environment.is_plain(scope) {
        return Certainty::Unsure;
    }
    match discover(repo) {
        Found::Repository(repository) => refs::head(&repository),
        Found::Nothing | Found::Unsure => Certainty::Unsure,
    }
}

#[cfg(test)]
#[path = "shortcut_tests.rs"]
mod tests;
