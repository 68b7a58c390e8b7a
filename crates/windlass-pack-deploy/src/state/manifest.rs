//! Managed manifests on disk: what pack owns in a root.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use windlass_pack_model::{
    ManagedManifest, Target,
    fault::{self, is_absent},
    managed::{self, LEGACY_NAME, manifest_name, read_managed},
};
use windlass_types::{Digest, Problem};

use crate::state::observe::read_following;

/// The manifest of a root, as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundManifest {
    /// The manifest. None: there is none that can be used; the warnings say why.
    pub manifest: Option<ManagedManifest>,
    /// The digest of the file with the current name, usable or not: what a write of the manifest
    /// has to find there.
    pub digest: Option<Digest>,
    /// The legacy file the manifest was read from, when it was.
    pub legacy: Option<PathBuf>,
    /// What is odd.
    pub warnings: Vec<String>,
}

/// Where the manifest of a target in a root is.
pub fn manifest_path(root: &Path, target: Target) -> PathBuf {
    root.join(manifest_name(target))
}

/// Reads the manifest of a target in a root, if need be under the name all targets once shared.
pub fn read_manifest(root: &Path, target: Target) -> Result<FoundManifest, Problem> {
    let mut found = FoundManifest::default();
    let mut buffer = Vec::new();
    let path = manifest_path(root, target);
    if read(&path, &mut buffer)? {
        found.digest = Some(Digest::of(&buffer));
        found.take(&buffer, target, &path);
        return Ok(found);
    }
    let legacy = root.join(LEGACY_NAME);
    if read(&legacy, &mut buffer)? {
        found.take(&buffer, target, &legacy);
        if found.manifest.is_some() {
            found.legacy = Some(legacy);
        }
    }
    Ok(found)
}

impl FoundManifest {
    fn take(&mut self, bytes: &[u8], target: Target, path: &Path) {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let read = read_managed(text, target, path);
                self.manifest = read.manifest;
                self.warnings.extend(read.warnings);
            }
            Err(_) => self.warnings.push(format!(
                "target manifest ({target}): {} is not UTF-8 and counts as missing",
                path.display()
            )),
        }
    }
}

fn read(path: &Path, buffer: &mut Vec<u8>) -> Result<bool, Problem> {
    match read_following(path, buffer) {
        Ok(read) => Ok(read.is_some()),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(fault::io("read", path, &error)),
    }
}

/// Whether a file name is that of a manifest.
pub(crate) fn is_manifest_name(name: Option<&OsStr>) -> bool {
    name.and_then(OsStr::to_str)
        .is_some_and(managed::is_manifest_name)
}
