//! What is at the paths a plan looks at. A pure view; `gather` fills it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use windlass_pack_model::FileMode;
use windlass_types::{Digest, Problem, code};

/// What is at each path that matters; a path that was not looked at counts as absent.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    entries: HashMap<PathBuf, OnDisk>,
    texts: HashMap<PathBuf, Arc<[u8]>>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq)]
pub enum OnDisk {
    /// Nothing.
    Absent,
    /// A file.
    File(FoundFile),
    /// A symbolic link, and the file it leads to; none when it leads nowhere.
    Symlink {
        /// Where it leads.
        to: PathBuf,
        /// The file there.
        file: Option<FoundFile>,
    },
    /// Something that is no file: mostly a directory, or a link to one.
    NotAFile,
    /// Something that could not be looked at, and why.
    Unreadable(Problem),
}

/// A file that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its permission bits.
    pub mode: FileMode,
}

impl OnDisk {
    /// The file that reading the path gives.
    pub fn file(&self) -> Option<FoundFile> {
        match self {
            Self::File(file)
            | Self::Symlink {
                file: Some(file), ..
            } => Some(*file),
            _ => None,
        }
    }
}

impl Disk {
    /// What is at a path.
    pub fn at(&self, path: &Path) -> &OnDisk {
        self.entries.get(path).unwrap_or(&OnDisk::Absent)
    }

    /// The bytes of a file whose keys are looked at.
    pub fn bytes(&self, path: &Path) -> Option<&Arc<[u8]>> {
        self.texts.get(path)
    }

    /// Notes what is at a path.
    pub fn put(&mut self, path: PathBuf, found: OnDisk) {
        self.entries.insert(path, found);
    }

    /// Notes the bytes of a file.
    pub fn put_bytes(&mut self, path: PathBuf, bytes: Arc<[u8]>) {
        self.texts.insert(path, bytes);
    }

    /// Takes a name that the file system does not allow for absent: nothing can be there. Not
    /// where a file is wanted, so that the caller learns why it cannot be.
    pub(crate) fn without_impossible(&mut self, wanted: impl Fn(&Path) -> bool) {
        for (path, found) in &mut self.entries {
            if let OnDisk::Unreadable(problem) = found
                && problem.code() == &code::E_IO_PATH_TOO_LONG
                && !wanted(path)
            {
                *found = OnDisk::Absent;
            }
        }
    }

    /// How many paths were looked at.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no path was looked at.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
