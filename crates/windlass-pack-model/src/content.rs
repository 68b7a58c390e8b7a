//! File contents by digest, and trees of them. The bytes may stay on disk until they are needed.

use std::{
    collections::BTreeMap,
    fs::Metadata,
    path::{Path, PathBuf},
    sync::Arc,
};

use windlass_types::Digest;

use crate::{Layer, RelPath};

/// Where the bytes of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Here.
    Memory(Arc<[u8]>),
    /// In this file, which had the content's digest when it was looked at. A reader of it
    /// compares again.
    File(PathBuf),
}

/// A file: what is in it, whether it can be executed, which layer supplied it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The digest of the bytes.
    pub digest: Digest,
    /// How many bytes.
    pub len: u64,
    /// The owner's execute bit.
    pub executable: bool,
    /// The bytes.
    pub body: Body,
    /// The topmost layer that supplied or changed it.
    pub layer: Layer,
}

impl Content {
    /// A content in memory.
    pub fn of(bytes: impl Into<Arc<[u8]>>, executable: bool, layer: Layer) -> Self {
        let bytes = bytes.into();
        Self {
            digest: Digest::of(&bytes),
            len: bytes.len() as u64,
            executable,
            body: Body::Memory(bytes),
            layer,
        }
    }
}

/// The files of a module, by path.
pub type Tree = BTreeMap<RelPath, Content>;

/// Digests of files that were read before, kept by what `stat` says about them. Speeds planning
/// up; a writer reads the file again.
pub trait HashCache: Send + Sync {
    /// The digest of a file, when its metadata prove that it has not changed since.
    fn digest(&self, path: &Path, metadata: &Metadata) -> Option<Digest>;

    /// Keeps the digest of a file that was just read; `metadata` were taken before reading.
    fn remember(&self, path: &Path, metadata: &Metadata, digest: Digest);

    /// Is shown the bytes of a file that had to be read for its digest.
    fn read(&self, _digest: Digest, _bytes: &[u8]) {}
}

/// Remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHashCache;

impl HashCache for NoHashCache {
    fn digest(&self, _: &Path, _: &Metadata) -> Option<Digest> {
        None
    }

    fn remember(&self, _: &Path, _: &Metadata, _: Digest) {}
}
