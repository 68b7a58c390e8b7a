//! A copy of the whole store while it is in use: one consistent database and every content.

use std::{
    io,
    path::{Path, PathBuf},
};

use fs_err as fs;
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use windlass_ports::StoreError;
use windlass_types::Secret;

use crate::{
    blob,
    error::{Failure, Result},
    history::SealKey,
    home::{Home, create_private_dir, sync_dir},
    mark::{self, MarkKeeper},
};

/// Copies to a directory that does not exist yet; returns how many bytes. The copy appears
/// under its name only when it is complete.
pub(crate) fn backup(
    home: &Home,
    source: &Connection,
    key: Option<&Secret<Vec<u8>>>,
    directory: &Path,
) -> Result<u64> {
    if fs::symlink_metadata(directory).is_ok() {
        return Err(StoreError::Io(format!(
            "{} exists; a backup goes to a new directory",
            directory.display()
        ))
        .into());
    }
    let partial = partial_name(directory);
    let copied = copy(home, source, key, &Home::at(&partial)).and_then(|bytes| {
        fs::rename(&partial, directory)?;
        if let Some(parent) = directory
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            sync_dir(parent)?;
        }
        Ok(bytes)
    });
    if copied.is_err() {
        // Left alone, half a copy would look like one.
        let _ = fs::remove_dir_all(&partial);
    }
    copied
}

fn partial_name(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    PathBuf::from(name)
}

fn copy(
    home: &Home,
    source: &Connection,
    key: Option<&Secret<Vec<u8>>>,
    target: &Home,
) -> Result<u64> {
    // Prune waits: a content named by the database copied below must still be there to copy.
    let lock = home.open_lock(&home.blob_lock())?;
    lock.lock_shared()?;
    target.prepare()?;
    let seal_key = SealKey::new(key);
    // Nobody may take a copy of a history that is not whole for a backup of it.
    let mark = mark::read_mark(home, &seal_key)?;
    if let Some(shortfall) = mark::shortfall(home, source, &seal_key, mark)? {
        return Err(Failure::damaged(format!(
            "{shortfall}; copy the files of the home to keep what is there"
        )));
    }
    let copied = copy_database(source, &target.database())?;
    seal(target, &copied, key)?;
    drop(copied);
    let mut bytes = fs::metadata(target.database())?.len();
    for file in blob::files(home)? {
        let path = blob::path_of(target, file.digest);
        if let Some(shelf) = path.parent() {
            create_private_dir(shelf)?;
        }
        bytes += copy_file(&file.path, &path)?;
    }
    sync_tree(&target.blobs())?;
    sync_dir(target.root())?;
    Ok(bytes)
}

fn copy_database(source: &Connection, path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(path, flags)?;
    target.execute_batch("PRAGMA synchronous = FULL")?;
    let backup = Backup::new(source, &mut target)?;
    // All pages in one step: one snapshot, whatever is committed in the meantime. Writers continue.
    let step = backup.step(-1)?;
    drop(backup);
    match step {
        StepResult::Done => Ok(target),
        _ => Err(StoreError::Busy.into()),
    }
}

/// A mark of its own, and the key to check it with.
fn seal(target: &Home, copied: &Connection, key: Option<&Secret<Vec<u8>>>) -> Result<()> {
    if let Some(key) = key {
        let path = target.seal_key();
        if let Some(keys) = path.parent() {
            create_private_dir(keys)?;
        }
        target.write_private(&path, key.expose_secret())?;
    }
    MarkKeeper::new(target.clone(), SealKey::new(key)).begin(copied)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<u64> {
    let bytes = fs::copy(from, to)?;
    fs::File::open(to)?.sync_all()?;
    Ok(bytes)
}

fn sync_tree(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_dir(&path)?;
        }
    }
    sync_dir(directory)
}
