//! Packages that were made before, found again while everything they were made from is the same.
//!
//! A record holds the digests of the input files, and of the names of all files of the project:
//! a new file may be preferred to an old one by a bundler, and no content would say so.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use windlass_files::{Access, Directory, write_from};
use windlass_types::Digest;

/// What is remembered of a package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub names: Digest,
    pub inputs: Vec<(PathBuf, Digest)>,
    pub digest: Digest,
    pub unzipped: u64,
    pub handler: Option<String>,
}

/// A folder with packages and records.
pub(crate) struct Cache<'a>(pub &'a Path);

impl Cache<'_> {
    /// Where the package of a digest is.
    pub fn zip(&self, digest: &Digest) -> PathBuf {
        self.0.join("zips").join(format!("{digest}.zip"))
    }

    /// The record of a key, when it still holds and its package is whole.
    pub fn look(&self, key: &Digest, names: &Digest) -> Option<Record> {
        let text = fs::read(self.record(key)).ok()?;
        let record: Record = serde_json::from_slice(&text).ok()?;
        let holds = record.names == *names
            && record
                .inputs
                .iter()
                .all(|(path, digest)| file_digest(path).ok() == Some(*digest))
            && file_digest(&self.zip(&record.digest)).ok() == Some(record.digest);
        if !holds {
            return None;
        }
        // What is used stays. One that could not be touched is made again some day.
        let zip = Path::new("zips").join(format!("{}.zip", record.digest));
        let own = Path::new("records").join(format!("{key}.json"));
        let _ = Directory::open(self.0).and_then(|cache| {
            cache.touch(&zip)?;
            cache.touch(&own)
        });
        Some(record)
    }

    /// Keeps a record.
    pub fn keep(&self, key: &Digest, record: &Record) -> std::io::Result<()> {
        self.place(&self.record(key), &serde_json::to_vec(record)?)
    }

    /// Keeps a package; returns its path.
    pub fn keep_zip(&self, digest: &Digest, bytes: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.zip(digest);
        self.place(&path, bytes)?;
        Ok(path)
    }

    /// Forgets every record; the zips stay.
    pub fn forget(&self) -> std::io::Result<()> {
        let cache = Directory::create(self.0, Access::Usual)?;
        cache.remove_tree(Path::new("records"))?;
        Ok(())
    }

    /// Writes a file whole or not at all: others may package at the same time.
    fn place(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        write_from(self.0, path, bytes, Access::Usual)?;
        Ok(())
    }

    fn records(&self) -> PathBuf {
        self.0.join("records")
    }

    fn record(&self, key: &Digest) -> PathBuf {
        self.records().join(format!("{key}.json"))
    }
}

/// The digest of a file's contents.
pub(crate) fn file_digest(path: &Path) -> std::io::Result<Digest> {
    Ok(Digest::of(&fs::read(path)?))
}
