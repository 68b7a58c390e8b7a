//! The site's files: read and written beneath one directory handle, following no symbolic link.
//!
//! The one writer of files does it; what is added here is what a path of a site may be.

use std::{collections::BTreeMap, io::ErrorKind, path::Path};

use windlass_files::{Access, Directory, FileError};
use windlass_launch_model::{ConflictReason, site_path};
use windlass_types::Problem;

use crate::patch::LARGEST_FILE;

/// Why a file cannot be read or written, and what is in the way.
pub type Refusal = (ConflictReason, String);

/// Something that has files by path.
pub trait SiteReader {
    /// A file's content; none when there is no file.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Refusal>;
}

impl SiteReader for BTreeMap<String, Vec<u8>> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        Ok(self.get(path).cloned())
    }
}

/// A path without `.` and `..`; none when it is absolute, leaves the site, is empty, has a
/// backslash or NUL, or lies in `.git`.
pub fn normal_path(path: &str) -> Option<String> {
    let parts = site_path::normalise(path).ok()?;
    let in_git = parts.iter().any(|part| part.eq_ignore_ascii_case(".git"));
    (!parts.is_empty() && !in_git).then(|| parts.join("/"))
}

/// A site's folder, opened.
#[derive(Debug)]
pub struct SiteDir {
    root: Directory,
}

impl SiteReader for SiteDir {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        self.check(path)?;
        let found = self.root.read(Path::new(path), LARGEST_FILE);
        found.map_err(|error| refused(path, &error))
    }
}

impl SiteDir {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let root = Directory::open(path).map_err(|error| {
            Problem::internal("site", format!("the site cannot be opened: {error}"))
        })?;
        Ok(Self { root })
    }

    /// Writes a file: a temporary one next to it, flushed, then renamed over it.
    pub(crate) fn write(&self, path: &str, content: &[u8]) -> Result<(), Refusal> {
        self.check(path)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        // The same on every attempt, so that one that died leaves nothing behind for long.
        let temp = format!(".{name}.windlass-tmp");
        self.root
            .write_by(Path::new(path), content, Access::Usual, &temp)
            .map_err(|error| refused(path, &error))
    }

    /// Removes a file; one that is gone already is fine.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Refusal> {
        self.check(path)?;
        let path_below = Path::new(path);
        let removed = self
            .root
            .check(path_below)
            .and_then(|()| self.root.remove_file(path_below))
            .and_then(|_| self.root.flush(path_below));
        removed.map_err(|error| refused(path, &error))
    }

    /// Refuses a path that is not plain, and one of which a part is there in other letter case.
    fn check(&self, path: &str) -> Result<(), Refusal> {
        if normal_path(path).as_deref() != Some(path) {
            return Err(not_allowed(path, "not a plain path within the site"));
        }
        let mut folder: Option<Directory> = None;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let above = folder.as_ref().unwrap_or(&self.root);
            refuse_other_case(above, part, path)?;
            if parts.peek().is_none() {
                break;
            }
            folder = match above.directory(Path::new(part)) {
                Ok(found) => Some(found),
                Err(error) if error.io_kind() == Some(ErrorKind::NotFound) => break,
                Err(error) => return Err(refused(part, &error)),
            };
        }
        Ok(())
    }
}

/// Names that differ in letter case alone are one file on many machines.
fn refuse_other_case(folder: &Directory, name: &str, path: &str) -> Result<(), Refusal> {
    let failed = |error: FileError| refused(path, &error);
    if folder.kind(Path::new(name)).map_err(failed)?.is_some() {
        return Ok(());
    }
    let lower = name.to_lowercase();
    for other in folder.names().map_err(failed)? {
        if other
            .to_str()
            .is_some_and(|other| other.to_lowercase() == lower && other != name)
        {
            let what = format!("{other:?} differs from {name:?} in letter case alone");
            return Err((ConflictReason::FileExists, what));
        }
    }
    Ok(())
}

/// What a refusal of the writer is called in a launch; paths of this machine stay out of it.
fn refused(path: &str, error: &FileError) -> Refusal {
    match error {
        FileError::Link { .. } => not_allowed(path, "a symbolic link"),
        FileError::NotAFile { .. } => not_allowed(path, "not a regular file"),
        FileError::NotADirectory { .. } => not_allowed(path, "not a directory"),
        FileError::Leaves { .. } => not_allowed(path, "not a plain path within the site"),
        FileError::Io { source, .. } if source.kind() == ErrorKind::FileTooLarge => (
            ConflictReason::TooLarge,
            format!("{path:?} has more than {LARGEST_FILE} bytes"),
        ),
        FileError::Io { source, .. } => not_allowed(path, &source.to_string()),
    }
}

fn not_allowed(path: &str, what: &str) -> Refusal {
    (ConflictReason::PathNotAllowed, format!("{path:?}: {what}"))
}
