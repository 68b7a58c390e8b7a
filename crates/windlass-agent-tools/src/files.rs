//! Files read, written and remembered, beneath an open directory.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::fs::{Mode, OFlags, fchmod, fstat, open, readlinkat};
use serde::{Deserialize, Serialize};
use windlass_files::{Directory, FileError};
use windlass_types::Digest;

use crate::{Code, Failure};

/// Larger files are not edited, and no undo copy is kept of them.
pub(crate) const MOST_BYTES: u64 = 16 << 20;

/// What changed at one path. A list of these, undone from its end, restores what was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The absolute path.
    pub path: String,
    /// What was there.
    pub before: FileState,
    /// What is there now.
    pub after: FileState,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// The digest of its content, by which the content is kept.
        digest: Digest,
        /// Its permissions.
        mode: u32,
    },
    /// A directory.
    Directory {
        /// Its permissions.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Its text.
        target: String,
    },
}

/// A file's content and permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub bytes: Vec<u8>,
    pub mode: u32,
}

impl Content {
    pub(crate) fn state(&self) -> FileState {
        FileState::File {
            digest: Digest::of(&self.bytes),
            mode: self.mode,
        }
    }
}

/// Reads a regular file; none when nothing is there. The permissions are of what was read.
pub(crate) fn read(
    parent: &Directory,
    name: &Path,
    most: u64,
) -> Result<Option<Content>, FileError> {
    let Some(file) = parent.open_file(name)? else {
        return Ok(None);
    };
    read_open(file, most)
        .map(Some)
        .map_err(|source| FileError::Io {
            verb: "read",
            path: parent.path().join(name),
            source,
        })
}

fn read_open(file: File, most: u64) -> io::Result<Content> {
    let mode = file.metadata()?.mode() & 0o7777;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("it has more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(Content { bytes, mode })
}

/// Makes a file that must not be there yet: whole or not at all.
pub(crate) fn write_new(
    parent: &Directory,
    name: &Path,
    bytes: &[u8],
    mode: Option<u32>,
) -> Result<u32, FileError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temp = format!(".windlass-new-{}-{number}.tmp", std::process::id());
    let temp = Path::new(&temp);
    let file = parent.create_new(temp, if mode.is_some() { 0o600 } else { 0o666 })?;
    let fill = |mut file: File| -> io::Result<u32> {
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        file.sync_all()?;
        Ok(file.metadata()?.mode() & 0o7777)
    };
    let made = fill(file)
        .map_err(|source| FileError::Io {
            verb: "write",
            path: parent.path().join(name),
            source,
        })
        .and_then(|mode| parent.rename_new(temp, parent, name).map(|()| mode));
    match made {
        Ok(mode) => {
            parent.flush(name)?;
            Ok(mode)
        }
        Err(error) => {
            // The first failure is the one to report.
            let _ = parent.remove_file(temp);
            Err(error)
        }
    }
}

/// Replaces a file whose content is still what was read.
pub(crate) fn replace(
    parent: &Directory,
    name: &Path,
    seen: &Content,
    bytes: &[u8],
) -> Result<(), Failure> {
    unchanged(parent, name, seen)?;
    parent
        .write(name, bytes, windlass_files::Access::Usual)
        .map_err(|error| Failure::of_file(error, Code::WriteError))
}

/// Whether a file is still what was read.
pub(crate) fn unchanged(parent: &Directory, name: &Path, seen: &Content) -> Result<(), Failure> {
    let now =
        read(parent, name, MOST_BYTES).map_err(|error| Failure::of_file(error, Code::ReadError))?;
    match now.as_ref() == Some(seen) {
        true => Ok(()),
        false => Err(Failure::new(
            Code::WriteError,
            format!(
                "{} was changed by another program in the meantime. View it again.",
                parent.path().join(name).display()
            ),
        )),
    }
}

/// The permissions of a directory.
pub(crate) fn mode_of(directory: &Directory) -> io::Result<u32> {
    Ok(fstat(descriptor(directory)?)?.st_mode & 0o7777)
}

/// Changes the permissions of a directory.
pub(crate) fn set_mode(directory: &Directory, mode: u32) -> io::Result<()> {
    Ok(fchmod(descriptor(directory)?, Mode::from_raw_mode(mode))?)
}

/// The text of a link; `name` is one name.
pub(crate) fn link_text(parent: &Directory, name: &Path) -> io::Result<Option<String>> {
    let text = readlinkat(descriptor(parent)?, name, Vec::new())?;
    Ok(text.into_string().ok())
}

/// A descriptor of an open directory: opened by path, and used only if it is the same directory.
fn descriptor(directory: &Directory) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(directory.path(), flags, Mode::empty())?;
    let found = fstat(&opened)?;
    let wanted = directory.identity().map_err(io::Error::from)?;
    if (found.st_dev, found.st_ino) != (wanted.device, wanted.inode) {
        let message = format!("{} was moved in the meantime", directory.path().display());
        return Err(io::Error::other(message));
    }
    Ok(opened)
}

/// Does blocking work on another thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Failure::new(
            Code::ReadError,
            format!("The work was stopped: {error}."),
        )),
    }
}
