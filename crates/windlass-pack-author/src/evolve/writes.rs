//! Collects what is to be written to the config repository, as the actions of one transaction.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_pack_deploy::state::{After, FileAction};
use windlass_pack_model::{SnapshotOp, fault};
use windlass_types::{Digest, Problem};

use crate::evolve::read;

/// Writes to a repository, each file once.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    actions: BTreeMap<PathBuf, FileAction>,
}

impl Writes {
    /// Writes a file, unless it holds these bytes already. Says whether it is written.
    pub(crate) fn put(&mut self, path: PathBuf, after: After) -> Result<bool, Problem> {
        let before = read::bytes_if_present(&path)?.map(|bytes| Digest::of(&bytes));
        if before == Some(after.digest) {
            return Ok(false);
        }
        self.add(path, before, Some(after));
        Ok(true)
    }

    /// Writes a file where nothing is.
    pub(crate) fn create(&mut self, path: PathBuf, after: After) {
        self.add(path, None, Some(after));
    }

    /// Writes a text where no file is; leaves one that is there.
    pub(crate) fn put_if_absent(&mut self, path: PathBuf, text: String) {
        if std::fs::symlink_metadata(&path).is_err() {
            self.create(path, After::of(text.into_bytes(), false));
        }
    }

    /// Removes a file, if it is there. Says whether it is.
    pub(crate) fn remove(&mut self, path: PathBuf) -> Result<bool, Problem> {
        let Some(bytes) = read::bytes_if_present(&path)? else {
            return Ok(false);
        };
        self.add(path, Some(Digest::of(&bytes)), None);
        Ok(true)
    }

    fn add(&mut self, path: PathBuf, before: Option<Digest>, after: Option<After>) {
        let action = action(path.clone(), before, after);
        self.actions.insert(path, action);
    }

    /// The actions by path.
    pub(crate) fn finish(self) -> Vec<FileAction> {
        self.actions.into_values().collect()
    }
}

/// One file of the repository.
pub(crate) fn action(path: PathBuf, before: Option<Digest>, after: Option<After>) -> FileAction {
    let snapshot_op = match (&before, &after) {
        (_, None) => SnapshotOp::Delete,
        (None, Some(_)) => SnapshotOp::Create,
        (Some(_), Some(_)) => SnapshotOp::Update,
    };
    FileAction {
        target: None,
        path,
        before,
        after,
        snapshot_op,
        adopted: false,
    }
}

/// The files of some actions below the repository, with `/`, sorted.
pub(crate) fn relative_files(repo: &Path, actions: &[FileAction]) -> Vec<String> {
    let mut files: Vec<String> = actions
        .iter()
        .map(|action| fault::posix(action.path.strip_prefix(repo).unwrap_or(&action.path)))
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The files that some actions change, as they were before.
pub(crate) struct Originals(Vec<(PathBuf, Option<After>)>);

impl Originals {
    /// Keeps the files; to be called before the actions are carried out.
    pub(crate) fn keep(actions: &[FileAction]) -> Result<Self, Problem> {
        let kept = actions.iter().map(|action| {
            let path = &action.path;
            let file = read::bytes_if_present(path)?
                .map(|bytes| After::of(bytes, read::is_executable(path)));
            Ok((path.clone(), file))
        });
        kept.collect::<Result<_, Problem>>().map(Self)
    }

    /// The actions that bring them back, whatever is there now: a hook may have changed the
    /// files again.
    pub(crate) fn bring_back(self) -> Result<Vec<FileAction>, Problem> {
        let mut actions = Vec::new();
        for (path, original) in self.0 {
            let found = read::bytes_if_present(&path)?.map(|bytes| Digest::of(&bytes));
            if found != original.as_ref().map(|file| file.digest) {
                actions.push(action(path, found, original));
            }
        }
        Ok(actions)
    }
}
