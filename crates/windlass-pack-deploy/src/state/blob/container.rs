//! A container: the new contents of an event in one file, instead of a file for each.
//!
//! First a mark, then the contents one after the other, then the index (digest, offset and length
//! of each, by digest), then how many there are and the mark again. The name is the digest of the
//! index, so a container never changes: other contents have another name. It has its name only
//! when it is whole and flushed.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;
use windlass_types::Digest;

use crate::state::{
    blob::{UNFINISHED, recreate},
    files::{create_private_dir, remove_if_there},
};

/// The mark; its last byte is the version.
const MARK: &[u8; 8] = b"wl-cont\x01";
const MARK_LEN: u64 = 8;
/// Digest, offset, length.
const RECORD: usize = 32 + 8 + 8;
/// How many records, mark.
const TRAILER: usize = 8 + 8;
const TRAILER_LEN: u64 = 16;
/// Contents are collected up to this size before they are written.
const BUFFER: usize = 256 * 1024;

/// Where a content is in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) digest: Digest,
    offset: u64,
    pub(super) len: u64,
}

/// A container whose index has been read.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) path: PathBuf,
    /// By digest.
    pub(super) records: Vec<Record>,
    /// The whole file, in bytes.
    pub(super) size: u64,
}

impl Container {
    /// Reads the index. [`is_damage`] tells a damaged container from one that cannot be read.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let file = open(&path)?;
        let size = file.metadata()?.len();
        let (records_at, count) = bounds(&file, size)?;
        let mut index = vec![0; count * RECORD];
        file.read_exact_at(&mut index, records_at)?;
        let named = path
            .file_name()
            .is_some_and(|name| *name == *Digest::of(&index).to_string());
        let records: Vec<Record> = index.chunks_exact(RECORD).filter_map(parse).collect();
        let inside = |record: &Record| {
            let end = record.offset.checked_add(record.len);
            record.offset >= MARK_LEN && end.is_some_and(|end| end <= records_at)
        };
        let whole = named && records.len() == count && records.iter().all(inside);
        match whole {
            true => Ok(Self {
                path,
                records,
                size,
            }),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Where a content is.
    pub(super) fn find(&self, digest: &Digest) -> Option<&Record> {
        let index = self
            .records
            .binary_search_by_key(digest, |record| record.digest)
            .ok()?;
        self.records.get(index)
    }
}

/// Opens a container for reading; a link is not followed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
}

/// The bytes of a content; the caller compares them with the digest.
pub(super) fn bytes_of(file: &File, record: &Record) -> io::Result<Vec<u8>> {
    let len = usize::try_from(record.len).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, record.offset)?;
    Ok(bytes)
}

/// Whether an error means that the file is there but is no whole container.
pub(super) fn is_damage(error: &io::Error) -> bool {
    let link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    let cut = matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::IsADirectory
    );
    link || cut
}

/// Where the index begins and how many records it has.
fn bounds(file: &File, size: u64) -> io::Result<(u64, usize)> {
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let trailer_at = size.checked_sub(TRAILER_LEN).ok_or_else(damaged)?;
    let mut mark = [0; MARK.len()];
    file.read_exact_at(&mut mark, 0)?;
    let mut trailer = [0; TRAILER];
    file.read_exact_at(&mut trailer, trailer_at)?;
    let (count, end) = trailer.split_at(8);
    if mark != *MARK || end != MARK {
        return Err(damaged());
    }
    let count = number(count).ok_or_else(damaged)?;
    let records_at = count
        .checked_mul(RECORD as u64)
        .and_then(|bytes| trailer_at.checked_sub(bytes))
        .filter(|at| *at >= MARK_LEN)
        .ok_or_else(damaged)?;
    Ok((records_at, usize::try_from(count).map_err(|_| damaged())?))
}

fn parse(bytes: &[u8]) -> Option<Record> {
    let digest: [u8; 32] = bytes.get(..32)?.try_into().ok()?;
    Some(Record {
        digest: Digest::from_bytes(digest),
        offset: number(bytes.get(32..40)?)?,
        len: number(bytes.get(40..)?)?,
    })
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// A container that is being written. Dropped before it is published it leaves nothing.
pub(super) struct NewContainer {
    directory: PathBuf,
    unfinished: PathBuf,
    file: BufWriter<File>,
    records: Vec<Record>,
    end: u64,
    name: Option<Digest>,
}

impl NewContainer {
    /// Begins one. No other process may use the tag at the same time.
    pub(super) fn create(directory: PathBuf, tag: &str) -> io::Result<Self> {
        create_private_dir(&directory)?;
        let unfinished = directory.join(format!("{UNFINISHED}{tag}"));
        let mut file = BufWriter::with_capacity(BUFFER, recreate(&unfinished)?);
        file.write_all(MARK)?;
        Ok(Self {
            directory,
            unfinished,
            file,
            records: Vec::new(),
            end: MARK_LEN,
            name: None,
        })
    }

    /// Where it is written.
    pub(super) fn path(&self) -> &Path {
        &self.unfinished
    }

    /// Adds a content that is not in it yet.
    pub(super) fn append(&mut self, digest: Digest, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        let len = bytes.len() as u64;
        self.records.push(Record {
            digest,
            offset: self.end,
            len,
        });
        self.end += len;
        Ok(())
    }

    /// Writes the index and flushes the whole file.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.records.sort_unstable_by_key(|record| record.digest);
        let mut index = Vec::with_capacity(self.records.len() * RECORD + TRAILER);
        for record in &self.records {
            index.extend(record.digest.as_bytes());
            index.extend(record.offset.to_le_bytes());
            index.extend(record.len.to_le_bytes());
        }
        self.name = Some(Digest::of(&index));
        index.extend((self.records.len() as u64).to_le_bytes());
        index.extend(MARK);
        self.file.write_all(&index)?;
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }

    /// Gives it its name. One of the same name has the same index, so it may be replaced.
    pub(super) fn publish(&mut self) -> io::Result<()> {
        let name = self.name.ok_or(io::ErrorKind::InvalidInput)?;
        std::fs::rename(&self.unfinished, self.directory.join(name.to_string()))
    }
}

impl Drop for NewContainer {
    fn drop(&mut self) {
        // Published it is not there any more; otherwise nothing relies on it.
        let _ = remove_if_there(&self.unfinished);
    }
}
