//! What pack owns: per root, the files and keys its manifest lists.
//!
//! A pure view. Loading it from disk is `gather`'s work.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;
use windlass_pack_model::{RelPath, RootScope, Target};
use windlass_types::Digest;

use crate::disk::Disk;

/// Marks a manifest entry as an operator asset: `bootstrap` wrote it, and no deploy removes it.
pub const OPERATOR_MARK: &str = "agentpack:operator";

/// Everything owned in the roots a command is about.
///
/// These are the roots that are switched on, and those that are known for the same repository
/// and project and are switched off now; with a target filter, of that target alone. Never a
/// root of another project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owned {
    /// The roots, each at most once.
    pub roots: Vec<OwnedRoot>,
    /// Files that an import took, with their content then: one that is still so is owned as
    /// soon as it is desired.
    pub imported: BTreeMap<PathBuf, Digest>,
    /// What was strange about them, for people.
    pub warnings: Vec<String>,
}

impl Owned {
    /// The root of a target at a directory.
    pub fn root(&self, target: Target, path: &Path) -> Option<&OwnedRoot> {
        self.roots
            .iter()
            .find(|root| root.target == target && root.path == path)
    }

    /// What is owned given what is on disk. A root whose manifest is gone is known from a snapshot
    /// only, and someone else may have written there since: of its files only those are owned that
    /// still have the content the snapshot recorded, or are absent.
    pub(crate) fn as_found<'a>(&'a self, disk: &Disk) -> Cow<'a, Self> {
        let from_snapshot = |root: &OwnedRoot| matches!(root.source, OwnedSource::Snapshot { .. });
        if !self.roots.iter().any(from_snapshot) {
            return Cow::Borrowed(self);
        }
        let mut owned = self.clone();
        for root in owned.roots.iter_mut().filter(|root| from_snapshot(root)) {
            let OwnedRoot { path, files, .. } = root;
            files.retain(|file| {
                let found = disk.at(&file.path.under(path)).file();
                found.is_none_or(|found| found.digest == file.digest)
            });
        }
        Cow::Owned(owned)
    }

    /// The directories to lock before anything is planned that will be applied.
    pub fn directories(&self) -> Vec<PathBuf> {
        let mut directories: Vec<PathBuf> =
            self.roots.iter().map(|root| root.path.clone()).collect();
        directories.sort();
        directories.dedup();
        directories
    }
}

/// What is owned in one root.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedRoot {
    /// The target.
    pub target: Target,
    /// The directory, absolute.
    pub path: PathBuf,
    /// Whose it is, as far as that is known.
    pub scope: Option<RootScope>,
    /// How this is known.
    pub source: OwnedSource,
    /// The digest of the manifest file with the current name, usable or not.
    pub manifest_digest: Option<Digest>,
    /// Whole files, by path.
    pub files: Vec<OwnedFile>,
    /// Keys of shared files, by (path, pointer).
    pub keys: Vec<OwnedKey>,
}

impl OwnedRoot {
    /// A root about which nothing is known.
    pub fn nothing(target: Target, path: PathBuf) -> Self {
        Self {
            target,
            path,
            scope: None,
            source: OwnedSource::Nothing,
            manifest_digest: None,
            files: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Whether a manifest says so.
    pub fn has_manifest(&self) -> bool {
        matches!(self.source, OwnedSource::Manifest { .. })
    }
}

/// How it is known what a root holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedSource {
    /// The root's manifest.
    Manifest {
        /// The file with the old name it was read from, and the digest of its bytes. The next
        /// write uses the current name and removes it.
        legacy: Option<(PathBuf, Digest)>,
    },
    /// A snapshot that had this very root; the manifest is gone or unreadable.
    Snapshot {
        /// Its id.
        id: String,
    },
    /// Nothing is known.
    Nothing,
}

/// A file pack owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedFile {
    /// The path below the root.
    pub path: RelPath,
    /// The digest it was written with.
    pub digest: Digest,
    /// Whether it was written as an executable.
    pub executable: bool,
    /// The modules it came from.
    pub module_ids: Vec<String>,
}

impl OwnedFile {
    /// Whether `bootstrap` wrote it.
    pub fn is_operator(&self) -> bool {
        self.module_ids.iter().any(|id| id == OPERATOR_MARK)
    }
}

/// A key pack owns in a file shared with others.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedKey {
    /// The shared file, below the root.
    pub path: RelPath,
    /// Where in the file.
    pub pointer: String,
    /// The digest of the value's canonical JSON.
    pub digest: Digest,
    /// The modules it came from.
    pub module_ids: Vec<String>,
    /// The value it was written with; what a rollback needs.
    pub value: Option<Value>,
    /// Whether pack made the file; then it goes with its last key.
    pub created: bool,
}
