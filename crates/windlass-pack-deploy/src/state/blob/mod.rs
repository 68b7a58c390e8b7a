//! Contents under their SHA-256, each stored once.
//!
//! What an event replaces is in a file of its own, which its snapshot names. What an event writes
//! is too where that is little, and in one container where it is much. A content can be found only
//! when it is whole, and is compared with its digest whenever it is read. It never shares an inode
//! with a deployed file: people edit those in place.

mod container;
mod containers;
mod sweep;
mod writer;

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use windlass_pack_model::fault::{self, is_absent};
use windlass_types::{Digest, Problem};

pub(crate) use writer::BlobWriter;

use crate::state::{
    blob::containers::{Containers, Read},
    files::{PRIVATE, create_new, remove_if_there},
    observe::read_regular,
};

/// How the names of files begin that are being written.
const UNFINISHED: &str = ".new-";
/// The directory of the containers, next to the 256 of single contents.
const CONTAINERS: &str = "containers";

/// The blob store.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    containers: Arc<Mutex<Containers>>,
}

impl Blobs {
    pub(crate) fn at(root: PathBuf) -> Self {
        Self {
            root,
            containers: Arc::default(),
        }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the content of a digest is or would be, as a file of its own.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        let (shard, rest) = name.split_at(2);
        let mut path = PathBuf::with_capacity(self.root.as_os_str().len() + name.len() + 2);
        path.push(&self.root);
        path.push(shard);
        path.push(rest);
        path
    }

    /// Whether a content is stored.
    pub fn contains(&self, digest: &Digest) -> bool {
        self.len(digest).is_some()
    }

    /// How many bytes a stored content has.
    pub fn len(&self, digest: &Digest) -> Option<u64> {
        let mut containers = self.known();
        let known = containers.len(digest).or_else(|| self.len_alone(digest));
        known.or_else(|| match containers.refresh(&self.container_dir()) {
            Ok(true) => containers.len(digest),
            _ => None,
        })
    }

    /// Reads a content. `None`: it is not stored. One that does not have its digest any more is
    /// an error (`store_hash_mismatch`), as is one that may have been in a damaged container.
    pub fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Problem> {
        let mut containers = self.known();
        let mut damage = match containers.read(digest)? {
            Read::Content(bytes) => return Ok(Some(bytes)),
            Read::Damaged(path) => Some(path),
            Read::Nothing => None,
        };
        match self.get_alone(digest)? {
            Read::Content(bytes) => return Ok(Some(bytes)),
            Read::Damaged(path) => damage = Some(path),
            Read::Nothing => {}
        }
        if containers.refresh(&self.container_dir())? {
            match containers.read(digest)? {
                Read::Content(bytes) => return Ok(Some(bytes)),
                Read::Damaged(path) => damage = Some(path),
                Read::Nothing => {}
            }
        }
        match damage.as_ref().or(containers.damaged.values().next()) {
            Some(path) => Err(damaged(path, digest)),
            None => Ok(None),
        }
    }

    fn len_alone(&self, digest: &Digest) -> Option<u64> {
        std::fs::symlink_metadata(self.path(digest))
            .ok()
            .map(|metadata| metadata.len())
    }

    fn get_alone(&self, digest: &Digest) -> Result<Read, Problem> {
        let path = self.path(digest);
        let mut bytes = Vec::new();
        match read_regular(&path, &mut bytes) {
            Ok(Some(_)) if Digest::of(&bytes) == *digest => Ok(Read::Content(bytes)),
            Ok(_) => Ok(Read::Damaged(path)),
            Err(error) if is_absent(&error) => Ok(Read::Nothing),
            Err(error) => Err(fault::io("read", &path, &error)),
        }
    }

    fn container_dir(&self) -> PathBuf {
        self.root.join(CONTAINERS)
    }

    fn known(&self) -> MutexGuard<'_, Containers> {
        self.containers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file of the store that has other bytes than it should have.
fn damaged(path: &Path, digest: &Digest) -> Problem {
    fault::unexpected(
        "store_hash_mismatch",
        &["restore_from_backup", "retry_command"],
        format!(
            "the stored content {} cannot be read: {} is damaged",
            digest.short(),
            path.display()
        ),
    )
    .with("path", path.display().to_string())
    .with("sha256", digest.to_string())
}

/// Creates a file; what this same run left there before it was interrupted goes first.
fn recreate(path: &Path) -> io::Result<File> {
    match create_new(path, PRIVATE) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_if_there(path)?;
            create_new(path, PRIVATE)
        }
        created => created,
    }
}
