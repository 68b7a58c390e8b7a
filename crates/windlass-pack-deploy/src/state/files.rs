//! The few things done to files of the pack home: private, whole or not there at all.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use windlass_pack_model::fault::{self, is_absent};
use windlass_types::Problem;

/// The mode of every file in the pack home that is ours.
pub(crate) const PRIVATE: u32 = 0o600;

/// Creates a directory and its parents, for the owner alone.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a file that must not be there yet.
pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
}

/// Writes a private file and flushes it; whatever had the name before is gone.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(PRIVATE)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Flushes the entries of a directory.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The paths of what is in a directory, in no order; none when there is no such directory.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, Problem> {
    let io = |error: io::Error| fault::io("list", directory, &error);
    match std::fs::read_dir(directory) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()).map_err(io))
            .collect(),
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(io(error)),
    }
}

/// Removes a file; one that is not there is fine.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Gives a file another name, which nothing may have yet: one call that looks and acts at once,
/// so that no other process can interfere.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot do both in one call.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            match std::fs::symlink_metadata(to) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if is_absent(&error) => std::fs::rename(from, to),
                Err(error) => Err(error),
            }
        }
        done => done.map_err(io::Error::from),
    }
}
