//! From a descriptor to what is below it, one component at a time.

use std::{
    ffi::OsStr,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, statat},
    io::Errno,
};

use crate::FileError;

/// How a directory is opened on the way. Passing through takes no permission to list.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = OFlags::RDONLY;

/// What to do about a directory that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Refuse.
    Refuse,
    /// Make it with this mode, which the umask limits.
    Make(u32),
}

/// The names in a relative path, each a plain one.
pub(crate) fn names(below: &Path) -> Result<Vec<&OsStr>, FileError> {
    let leaves = || FileError::Leaves {
        path: below.to_owned(),
    };
    let mut names = Vec::new();
    for component in below.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(leaves()),
        }
    }
    if below.as_os_str().is_empty() {
        return Err(leaves());
    }
    Ok(names)
}

/// Opens a directory by the names that lead to it. `above` is the path of `start`, for messages.
pub(crate) fn open_below(
    start: BorrowedFd<'_>,
    above: &Path,
    names: &[&OsStr],
    missing: Missing,
) -> Result<OwnedFd, FileError> {
    let mut path = above.to_owned();
    let mut open: Option<OwnedFd> = None;
    for name in names {
        path.push(name);
        let from = open.as_ref().map_or(start, AsFd::as_fd);
        let next = open_one(from, name, &path, missing)?;
        open = Some(next);
    }
    match open {
        Some(open) => Ok(open),
        None => start
            .try_clone_to_owned()
            .map_err(|error| FileError::io("open", above, error)),
    }
}

fn open_one(
    from: BorrowedFd<'_>,
    name: &OsStr,
    path: &Path,
    missing: Missing,
) -> Result<OwnedFd, FileError> {
    let open = || {
        let flags = THROUGH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(from, name, flags, Mode::empty())
    };
    let opened = match (open(), missing) {
        (Err(Errno::NOENT), Missing::Make(mode)) => {
            match mkdirat(from, name, Mode::from_raw_mode(mode)) {
                // Another process was faster.
                Ok(()) | Err(Errno::EXIST) => open(),
                Err(error) => return Err(FileError::io("create", path, error)),
            }
        }
        (opened, _) => opened,
    };
    match opened {
        Err(Errno::NOTDIR | Errno::LOOP) => Err(match kind_of(from, name) {
            Ok(Some(FileType::Symlink)) => link(path),
            _ => FileError::NotADirectory {
                path: path.to_owned(),
            },
        }),
        opened => opened.map_err(|error| FileError::io("open", path, error)),
    }
}

/// What a name stands for, the link itself where it is one; none when nothing has it.
pub(crate) fn kind_of(from: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<FileType>> {
    match statat(from, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The refusal of a link. Where it leads is looked up by path: it is told, and decides nothing.
pub(crate) fn link(path: &Path) -> FileError {
    let text = || {
        let text = std::fs::read_link(path).unwrap_or_default();
        let above = path.parent().unwrap_or(Path::new("/"));
        above.join(text)
    };
    let leads_to: PathBuf = path.canonicalize().unwrap_or_else(|_| text());
    FileError::Link {
        path: path.to_owned(),
        leads_to,
    }
}

/// Opens a directory by its whole path in one call, if no component is a link and the kernel can.
#[cfg(target_os = "linux")]
pub(crate) fn open_at_once(path: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{CWD, ResolveFlags, openat2};
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    Ok(opened)
}
