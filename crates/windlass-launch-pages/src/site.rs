//! The site's files: read and written beneath one directory handle, following no symbolic link.
//!
//! Every component of a path is opened by name from the handle of its parent, so nothing can be
//! swapped in between a check and its use. A file is replaced by rename, so a hard link to
//! another owner's file is cut and never written through.

use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read as _, Write as _},
    path::Path,
};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
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
    root: Dir,
}

impl SiteReader for SiteDir {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let Some((parent, name)) = self.open_parent(path, false)? else {
            return Ok(None);
        };
        read_in(&parent, &name, path)
    }
}

impl SiteDir {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        Dir::open_ambient_dir(path, ambient_authority())
            .map(Self::new)
            .map_err(|error| {
                Problem::internal("site", format!("the site cannot be opened: {error}"))
            })
    }

    /// Takes a folder that is open already.
    pub const fn new(root: Dir) -> Self {
        Self { root }
    }

    /// Writes a file: a temporary one next to it, flushed, then renamed over it.
    pub(crate) fn write(&self, path: &str, content: &[u8]) -> Result<(), Refusal> {
        let Some((parent, name)) = self.open_parent(path, true)? else {
            return Err(not_allowed(path, "no folder could be created"));
        };
        // A path that became a link since it was read is refused here, not written through.
        read_in(&parent, &name, path)?;
        let failed = |error: std::io::Error| not_allowed(path, &error.to_string());
        // The same on every attempt, so that one that died leaves nothing behind for long.
        let temp = format!(".{name}.windlass-tmp");
        match parent.remove_file(&temp) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .follow(FollowSymlinks::No);
        let mut file = parent.open_with(&temp, &options).map_err(failed)?;
        let written = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| parent.rename(&temp, &parent, &name));
        if let Err(error) = written {
            // The first failure is the one to report.
            let _ = parent.remove_file(&temp);
            return Err(failed(error));
        }
        sync(&parent).map_err(failed)
    }

    /// Removes a file; one that is gone already is fine.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Refusal> {
        let Some((parent, name)) = self.open_parent(path, false)? else {
            return Ok(());
        };
        if read_in(&parent, &name, path)?.is_none() {
            return Ok(());
        }
        parent
            .remove_file(&name)
            .and_then(|()| sync(&parent))
            .map_err(|error| not_allowed(path, &error.to_string()))
    }

    /// The folder of a path, opened component by component, and the file's name in it; none when
    /// a folder is missing and is not to be made.
    fn open_parent(&self, path: &str, make: bool) -> Result<Option<(Dir, String)>, Refusal> {
        let failed = |error: std::io::Error| not_allowed(path, &error.to_string());
        if normal_path(path).as_deref() != Some(path) {
            return Err(not_allowed(path, "not a plain path within the site"));
        }
        let mut parts: Vec<&str> = path.split('/').collect();
        let name = parts.pop().unwrap_or_default().to_owned();
        let mut folder = self.root.try_clone().map_err(failed)?;
        for part in parts {
            refuse_other_case(&folder, part, path)?;
            folder = match folder.open_dir_nofollow(part) {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound && make => {
                    match folder.create_dir(part) {
                        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                            return Err(failed(error));
                        }
                        _ => folder.open_dir_nofollow(part).map_err(failed)?,
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => {
                    let is_link = folder
                        .symlink_metadata(part)
                        .is_ok_and(|found| found.is_symlink());
                    let what = if is_link {
                        "a symbolic link".to_owned()
                    } else {
                        error.to_string()
                    };
                    return Err(not_allowed(part, &what));
                }
            };
        }
        refuse_other_case(&folder, &name, path)?;
        Ok(Some((folder, name)))
    }
}

fn read_in(parent: &Dir, name: &str, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let failed = |error: std::io::Error| not_allowed(path, &error.to_string());
    let found = match parent.symlink_metadata(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    if !found.is_file() {
        let what = if found.is_symlink() {
            "a symbolic link"
        } else {
            "not a regular file"
        };
        return Err(not_allowed(path, what));
    }
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    let file = parent.open_with(name, &options).map_err(failed)?;
    let mut content = Vec::new();
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut content)
        .map_err(failed)?;
    if content.len() as u64 > LARGEST_FILE {
        return Err((
            ConflictReason::TooLarge,
            format!("{path:?} has more than {LARGEST_FILE} bytes"),
        ));
    }
    Ok(Some(content))
}

/// Names that differ in letter case alone are one file on many machines.
fn refuse_other_case(folder: &Dir, name: &str, path: &str) -> Result<(), Refusal> {
    if folder.symlink_metadata(name).is_ok() {
        return Ok(());
    }
    let failed = |error: std::io::Error| not_allowed(path, &error.to_string());
    let lower = name.to_lowercase();
    for entry in folder.entries().map_err(failed)? {
        let other = entry.map_err(failed)?.file_name();
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

fn not_allowed(path: &str, what: &str) -> Refusal {
    (ConflictReason::PathNotAllowed, format!("{path:?}: {what}"))
}

/// Makes a rename or removal durable.
fn sync(folder: &Dir) -> std::io::Result<()> {
    // Opened as a file: the handle of a directory capability cannot be flushed.
    folder.open(".")?.sync_all()
}
