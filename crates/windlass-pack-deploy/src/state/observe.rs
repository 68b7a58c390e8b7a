//! What is at a path right now. Always read from disk: no cache decides about a write.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::{fs::OFlags, io::Errno};
use serde::{Deserialize, Serialize};
use windlass_pack_model::{FileMode, fault::is_absent};
use windlass_types::Digest;

use crate::state::journal::{Entry, FileState};

/// What is at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing.
    Absent,
    /// A regular file.
    File(FileState),
    /// A directory.
    Directory,
    /// A symbolic link, a device.
    Other,
}

/// Where a destination stands between before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// Not changed yet.
    Before,
    /// Changed by the transaction.
    After,
    /// Changed by another writer.
    Foreign,
}

/// Looks at a path. Does not follow a symbolic link at its end.
pub(crate) fn observe(path: &Path, buffer: &mut Vec<u8>) -> io::Result<Seen> {
    match read_regular(path, buffer) {
        Ok(Some(metadata)) => Ok(Seen::File(FileState {
            sha256: Digest::of(buffer),
            mode: FileMode::new(metadata.mode()),
        })),
        Ok(None) => Ok(match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => Seen::Directory,
            _ => Seen::Other,
        }),
        Err(error) if is_absent(&error) => Ok(Seen::Absent),
        Err(error) => Err(error),
    }
}

/// Reads a regular file into a buffer that is used again and again. `None`: it is not one.
pub(crate) fn read_regular(path: &Path, buffer: &mut Vec<u8>) -> io::Result<Option<Metadata>> {
    match open(path, OFlags::NOFOLLOW) {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Ok(None),
        opened => read_opened(opened?, buffer),
    }
}

/// The same, but a symbolic link is followed.
pub(crate) fn read_following(path: &Path, buffer: &mut Vec<u8>) -> io::Result<Option<Metadata>> {
    read_opened(open(path, OFlags::empty())?, buffer)
}

/// Opens for reading; a pipe without a writer is not waited for.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags((flags | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
}

fn read_opened(mut file: File, buffer: &mut Vec<u8>) -> io::Result<Option<Metadata>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    read_known(&mut file, metadata.len(), buffer)?;
    Ok(Some(metadata))
}

/// Reads a file whose length is known: one call when the length still holds.
pub(crate) fn read_known(file: &mut File, len: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    // One more than there should be: a read that stops short of it proves the end.
    let room = usize::try_from(len).unwrap_or(usize::MAX).saturating_add(1);
    buffer.clear();
    buffer.resize(room, 0);
    let mut filled = 0;
    loop {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if filled + 1 == room {
            break;
        }
        if filled == room {
            // It has grown since.
            return file.read_to_end(buffer).map(drop);
        }
    }
    buffer.truncate(filled);
    Ok(())
}

/// Where an entry's destination stands.
pub(crate) fn standing(entry: &Entry, buffer: &mut Vec<u8>) -> io::Result<Standing> {
    if let Some(link) = &entry.link {
        return link_standing(entry, link, buffer);
    }
    let seen = observe(entry.real(), buffer)?;
    Ok(compare(&seen, entry))
}

fn compare(seen: &Seen, entry: &Entry) -> Standing {
    if let (Seen::Directory, Some(side)) = (seen, entry.directory) {
        return side;
    }
    let is = |state: &Option<FileState>| match (seen, state) {
        (Seen::Absent, None) => true,
        (Seen::File(found), Some(state)) => found.same(state),
        _ => false,
    };
    // A changed mode with the same bytes is not an edit worth stopping for.
    let has_bytes = |state: &Option<FileState>| match (seen, state) {
        (Seen::File(found), Some(state)) => found.sha256 == state.sha256,
        _ => false,
    };
    if is(&entry.after) {
        Standing::After
    } else if is(&entry.before) {
        Standing::Before
    } else if has_bytes(&entry.after) {
        Standing::After
    } else if has_bytes(&entry.before) {
        Standing::Before
    } else {
        Standing::Foreign
    }
}

/// A removal takes the link, not the file it leads to.
fn link_standing(entry: &Entry, link: &Path, buffer: &mut Vec<u8>) -> io::Result<Standing> {
    match std::fs::read_link(&entry.path) {
        Ok(found) if found == link => {}
        Ok(_) => return Ok(Standing::Foreign),
        Err(error) if is_absent(&error) => return Ok(Standing::After),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(Standing::Foreign),
        Err(error) => return Err(error),
    }
    Ok(match observe(entry.real(), buffer)? {
        Seen::File(found)
            if entry
                .before
                .is_some_and(|before| before.sha256 == found.sha256) =>
        {
            Standing::Before
        }
        _ => Standing::Foreign,
    })
}
