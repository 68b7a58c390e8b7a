//! Finds the files in the roots that report extras. Reads directories; decides nothing.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use windlass_pack_model::{Desired, HashCache, Target};
use windlass_types::{Digest, Problem};

use crate::{
    gather::{cannot_read, digest},
    owned::Owned,
};

/// A file found in a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The target of the root.
    pub target: Target,
    /// The absolute path.
    pub path: PathBuf,
    /// Its digest; none when it could not be read.
    pub digest: Option<Digest>,
}

/// Walks every root that reports extras and has a manifest. Files pack owns or wants are left
/// out, as are manifests and the temporary files of applies.
pub fn scan_extras(
    desired: &Desired,
    owned: &Owned,
    hashes: &dyn HashCache,
) -> Result<Vec<Scanned>, Problem> {
    let mut known: HashSet<PathBuf> = desired.files.iter().map(|file| file.path.clone()).collect();
    for root in &owned.roots {
        known.extend(root.files.iter().map(|file| file.path.under(&root.path)));
    }
    let mut walk = Walk {
        known,
        hashes,
        buffer: Vec::new(),
        found: Vec::new(),
    };
    for root in desired.roots.iter().filter(|root| root.scan_extras) {
        if owned
            .root(root.target, &root.path)
            .is_some_and(|owned| owned.has_manifest())
        {
            let inner: HashSet<&Path> = desired
                .roots
                .iter()
                .filter(|other| other.target == root.target && other.path != root.path)
                .map(|other| other.path.as_path())
                .collect();
            walk.directory(root.target, root.path.clone(), &inner)?;
        }
    }
    Ok(walk.found)
}

struct Walk<'a> {
    known: HashSet<PathBuf>,
    hashes: &'a dyn HashCache,
    buffer: Vec<u8>,
    found: Vec<Scanned>,
}

impl Walk<'_> {
    /// Links to directories are not followed: they lead out of the root, or round in circles.
    fn directory(
        &mut self,
        target: Target,
        top: PathBuf,
        inner: &HashSet<&Path>,
    ) -> Result<(), Problem> {
        let mut pending = vec![top];
        while let Some(directory) = pending.pop() {
            let entries = match std::fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(cannot_read(&directory, &error)),
            };
            for entry in entries {
                let entry = entry.map_err(|error| cannot_read(&directory, &error))?;
                let path = entry.path();
                let kind = entry
                    .file_type()
                    .map_err(|error| cannot_read(&path, &error))?;
                if kind.is_dir() {
                    if !inner.contains(path.as_path()) {
                        pending.push(path);
                    }
                } else if !self.known.contains(&path) && !is_ours(&entry.file_name()) {
                    self.file(target, path);
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, target: Target, path: PathBuf) {
        // Follows a link to its file; one that leads nowhere, or to a directory, is no file.
        let Ok(metadata) = std::fs::metadata(&path) else {
            return;
        };
        if !metadata.is_file() {
            return;
        }
        let digest = digest(&path, &metadata, self.hashes, &mut self.buffer).ok();
        self.found.push(Scanned {
            target,
            path,
            digest,
        });
    }
}

/// Manifests, and files that are only there while an apply runs.
fn is_ours(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        windlass_pack_model::managed::is_manifest_name(name) || crate::state::is_temp_name(name)
    })
}
