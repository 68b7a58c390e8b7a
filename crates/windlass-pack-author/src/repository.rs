//! The files of a config repository: read with faults that name them, rewritten as actions.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use fs_err as fs;
use windlass_pack_deploy::state::{After, FileAction};
use windlass_pack_model::{
    FileWarning, Lockfile, Manifest, SnapshotOp,
    fault::{self, is_absent},
    lockfile::LOCKFILE,
    manifest::MANIFEST_FILE,
    parse_manifest,
};
use windlass_types::{Digest, Problem};

/// A manifest that was read, with the text that changes are made in.
#[derive(Clone, Debug)]
pub struct ManifestFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it says.
    pub manifest: Manifest,
    /// What is odd about it.
    pub warnings: Vec<FileWarning>,
}

impl ManifestFile {
    /// The action that replaces the text.
    pub(crate) fn replaced_by(&self, text: String) -> FileAction {
        put(
            self.path.clone(),
            Some(self.text.as_bytes()),
            text.into_bytes(),
        )
    }
}

/// Reads the manifest of a repository.
pub fn read_manifest(repo: &Path) -> Result<ManifestFile, Problem> {
    let path = repo.join(MANIFEST_FILE);
    let Some(text) = read_text(&path, fault::config_invalid)? else {
        let problem = fault::config_missing(format!(
            "there is no {}; create it with init, or name the repository with --repo",
            path.display()
        ));
        return Err(fault::at(problem, &path).with(
            "hint",
            "create it with init, or name the repository with --repo",
        ));
    };
    let parsed = parse_manifest(&text).map_err(|problem| fault::at(problem, &path))?;
    Ok(ManifestFile {
        path,
        text,
        manifest: parsed.manifest,
        warnings: parsed.warnings,
    })
}

/// Reads the lockfile of a repository, if there is one.
pub fn read_lockfile(repo: &Path) -> Result<Option<Lockfile>, Problem> {
    let path = repo.join(LOCKFILE);
    match read_text(&path, fault::lockfile_invalid)? {
        Some(text) => Lockfile::parse(&text, &path).map(Some),
        None => Ok(None),
    }
}

/// Reads the lockfile of a repository, which must be there.
pub fn require_lockfile(repo: &Path) -> Result<Lockfile, Problem> {
    match read_lockfile(repo)? {
        Some(lockfile) => Ok(lockfile),
        None => Err(lockfile_missing(repo)),
    }
}

/// `E_LOCKFILE_MISSING` about a repository.
pub(crate) fn lockfile_missing(repo: &Path) -> Problem {
    let path = repo.join(LOCKFILE);
    let message = format!(
        "there is no {}; write it with lock, or with update",
        path.display()
    );
    fault::at(fault::lockfile_missing(message), &path).with("hint", "run lock or update first")
}

/// The text of a file that need not be there; `invalid` makes the fault for one that is no text.
pub(crate) fn read_text(
    path: &Path,
    invalid: fn(String) -> Problem,
) -> Result<Option<String>, Problem> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let error = error.utf8_error();
        let message = format!("{} is not UTF-8 text: {error}", path.display());
        fault::at(invalid(message), path).with("error", error.to_string())
    })
}

/// The bytes of a file that need not be there.
pub(crate) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, Problem> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(fault::io("read", path, &error)),
    }
}

/// Whether nothing is there, not even a link.
pub(crate) fn is_free(path: &Path) -> Result<bool, Problem> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(error) if is_absent(&error) => Ok(true),
        Err(error) => Err(fault::io("look at", path, &error)),
    }
}

/// The action that writes a file of no target.
pub(crate) fn put(path: PathBuf, before: Option<&[u8]>, after: impl Into<Arc<[u8]>>) -> FileAction {
    write(path, before.map(Digest::of), After::of(after, false))
}

/// The same with a content that may still be on disk.
pub(crate) fn write(path: PathBuf, before: Option<Digest>, after: After) -> FileAction {
    FileAction {
        target: None,
        path,
        snapshot_op: match before {
            Some(_) => SnapshotOp::Update,
            None => SnapshotOp::Create,
        },
        before,
        after: Some(after),
        adopted: false,
    }
}
