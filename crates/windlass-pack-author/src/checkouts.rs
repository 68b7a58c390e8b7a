//! Checkouts of git sources in the cache: found, or made by git.
//!
//! A checkout is at `cache/git/<sha256 of the address>/<commit>`. Git creates it next to its
//! place and renames it, so it is whole or not there, and two processes that make the same one do
//! no harm. Checkouts that older versions filed under the module are renamed into place.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use fs_err as fs;
use tempfile::TempDir;
use windlass_pack_deploy::render::Checkouts;
use windlass_pack_model::{
    GitSource, PackHome, fault,
    lockfile::is_commit,
    source::{check_git_reference, check_git_url},
};
use windlass_ports::git::{Checkout, Git, hide_credentials};
use windlass_types::Problem;

use crate::git_fault::git_problem;

/// The checkouts of one home.
pub struct GitCheckouts<'a> {
    home: &'a PackHome,
    git: &'a dyn Git,
    /// What references mean; asked once per command.
    commits: Mutex<HashMap<(String, String), String>>,
    /// Where new checkouts go when the cache must stay as it is.
    scratch: Option<Scratch>,
}

/// No checkouts, for those who read local sources only.
pub(crate) struct NoCheckouts;

impl Checkouts for NoCheckouts {
    fn checkout(
        &self,
        module_id: &str,
        _: &GitSource,
        _: Option<&str>,
    ) -> Result<PathBuf, Problem> {
        Err(Problem::internal(
            "pack.checkouts",
            format!("no git source is read here, so {module_id} is not checked out"),
        ))
    }
}

/// A temporary directory that is made when it is needed.
struct Scratch {
    parent: PathBuf,
    made: OnceLock<TempDir>,
}

impl<'a> GitCheckouts<'a> {
    /// Checkouts that stay in the cache.
    pub fn new(home: &'a PackHome, git: &'a dyn Git) -> Self {
        Self {
            home,
            git,
            commits: Mutex::default(),
            scratch: None,
        }
    }

    /// Checkouts for a dry run: those in the cache are used, new ones go to a directory below
    /// `temporary` and disappear with this value.
    pub fn passing(home: &'a PackHome, git: &'a dyn Git, temporary: &Path) -> Self {
        Self {
            scratch: Some(Scratch {
                parent: temporary.to_owned(),
                made: OnceLock::new(),
            }),
            ..Self::new(home, git)
        }
    }

    /// The home they belong to.
    pub fn home(&self) -> &'a PackHome {
        self.home
    }

    /// The commit a source means now: its reference, looked up where it comes from.
    pub fn commit(&self, source: &GitSource) -> Result<String, Problem> {
        check_git_url(&source.url)?;
        check_git_reference(&source.reference)?;
        let key = (source.url.clone(), source.reference.clone());
        if let Some(commit) = self.known().get(&key) {
            return Ok(commit.clone());
        }
        let commit = self
            .git
            .resolve(&source.url, &source.reference)
            .map_err(|error| {
                let url = hide_credentials(&source.url);
                let args = ["ls-remote", "--", &url, &source.reference];
                git_problem(&error, self.home.root(), &args)
            })?;
        self.known().insert(key, commit.clone());
        Ok(commit)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), String>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory of a commit, made if it is not there.
    fn at(&self, module_id: &str, source: &GitSource, commit: &str) -> Result<PathBuf, Problem> {
        check_git_url(&source.url)?;
        if !is_commit(commit) {
            return Err(fault::config_invalid(format!(
                "{commit:?} is not a commit: 40 hexadecimal digits are expected"
            ))
            .with("commit", commit));
        }
        let place = self.home.checkout(&source.url, commit);
        if place.is_dir() {
            return Ok(place);
        }
        let older = self.home.older_checkouts(module_id, commit);
        if let Some(older) = older.into_iter().find(|older| older.is_dir()) {
            return match self.scratch {
                Some(_) => Ok(older),
                None => move_into(&older, &place).map(|()| place),
            };
        }
        let place = match self.scratch_home()? {
            Some(home) => home.checkout(&source.url, commit),
            None => place,
        };
        let checkout = Checkout {
            url: &source.url,
            commit,
            shallow: source.shallow,
            directory: &place,
        };
        match self.git.checkout(&checkout) {
            Ok(()) => Ok(place),
            Err(error) => {
                let url = hide_credentials(&source.url);
                Err(git_problem(&error, &place, &["fetch", "--", &url, commit]))
            }
        }
    }

    fn scratch_home(&self) -> Result<Option<PackHome>, Problem> {
        let Some(scratch) = &self.scratch else {
            return Ok(None);
        };
        if scratch.made.get().is_none() {
            let made = tempfile::Builder::new()
                .prefix("windlass-pack-")
                .tempdir_in(&scratch.parent)
                .map_err(|error| fault::io("create a directory in", &scratch.parent, &error))?;
            // Another thread may have been faster; then this one's is dropped, empty.
            let _ = scratch.made.set(made);
        }
        Ok(scratch
            .made
            .get()
            .map(|directory| PackHome::at(directory.path())))
    }
}

impl Checkouts for GitCheckouts<'_> {
    fn checkout(
        &self,
        module_id: &str,
        source: &GitSource,
        locked_commit: Option<&str>,
    ) -> Result<PathBuf, Problem> {
        let made = match locked_commit {
            Some(commit) => self.at(module_id, source, commit),
            None => self
                .commit(source)
                .and_then(|commit| self.at(module_id, source, &commit)),
        };
        made.map_err(|problem| {
            problem
                .with("module_id", module_id)
                .with("url", hide_credentials(&source.url))
        })
    }
}

/// Renames an older checkout into place. Another process that was faster renamed the same one.
fn move_into(older: &Path, place: &Path) -> Result<(), Problem> {
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).map_err(|error| fault::io("create", parent, &error))?;
    }
    match fs::rename(older, place) {
        Err(error) if !place.is_dir() => Err(fault::io("move a checkout to", place, &error)),
        _ => Ok(()),
    }
}
