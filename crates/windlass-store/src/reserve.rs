//! Space kept aside, so that pruning works on a full disk: removing needs room for the
//! transactions that remove, and for the log to move into the database.

use std::io;

use fs_err as fs;
use rustix::fs::{FallocateFlags, fallocate, statvfs};

use crate::{
    error::{Result, is_out_of_space},
    home::{Home, sync_dir},
    probe,
};

/// Above what the write-ahead log holds, which must fit into the database.
pub(crate) const BYTES: u64 = 8 * 1024 * 1024;
/// A disk with less than this is not asked for more.
const PLENTY: u64 = 4 * BYTES;

/// Keeps space aside if there is plenty.
pub(crate) fn keep(home: &Home) -> Result<()> {
    let path = home.reserve();
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() >= BYTES) {
        return Ok(());
    }
    let disk = statvfs(home.root()).map_err(io::Error::from)?;
    if disk.f_bavail.saturating_mul(disk.f_frsize) < PLENTY {
        return Ok(());
    }
    let file = home.open_lock(&path)?;
    let reserved = fallocate(&file, FallocateFlags::empty(), 0, BYTES)
        .map_err(io::Error::from)
        .and_then(|()| file.sync_all());
    match reserved {
        Ok(()) => Ok(sync_dir(home.root())?),
        // Half a reserve is none. Without support for it there is none at all.
        Err(error) => {
            fs::remove_file(&path)?;
            match error.kind() {
                io::ErrorKind::Unsupported => Ok(()),
                _ if is_out_of_space(&error) => Ok(()),
                _ => Err(error.into()),
            }
        }
    }
}

/// Gives the space up if the disk takes no more; returns whether it did.
pub(crate) fn release(home: &Home) -> Result<bool> {
    match probe::write_and_flush(home, BYTES / 8) {
        Ok(()) => return Ok(false),
        Err(error) if is_out_of_space(&error) => {}
        Err(error) => return Err(error.into()),
    }
    match fs::remove_file(home.reserve()) {
        Ok(()) => {
            sync_dir(home.root())?;
            tracing::warn!("the disk is full; the space that was kept aside is used to make room");
            Ok(true)
        }
        // Used before; what is there must do.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error.into()),
    }
}
