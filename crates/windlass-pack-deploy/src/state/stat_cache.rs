//! Digests of files by what `stat` says about them, so that planning need not read what has not
//! changed.
//!
//! A record is known by device and inode and holds for one size, mtime and ctime. It is kept only
//! if the file had been at rest before this session began: a file that changes again within the
//! resolution of its timestamps would otherwise look unchanged (git's racy entries). The file is
//! read when first asked, replaced whole, and ignored when anything about it is odd. Losing it
//! costs time, never correctness.

use std::{
    collections::HashMap,
    fs::Metadata,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use fs_err as fs;
use windlass_pack_model::HashCache;
use windlass_types::{Digest, Timestamp};

use crate::state::{
    files::{PRIVATE, create_new, create_private_dir},
    held_contents::HeldContents,
};

/// The beginning of the file; the last byte is the version.
const MAGIC: &[u8; 8] = b"wl-stat\x01";
/// Magic, digest of the records.
const HEADER: usize = 8 + 32;
/// Device, inode, size, mtime, ctime, age, digest.
const RECORD: usize = 8 * 6 + 32;
/// An unused record is dropped after this many saves.
const MAX_AGE: u64 = 16;
/// How long before the session a file must have been at rest: several ticks of the kernel.
const REST: i128 = 50_000_000;
/// The same for a file system that seems to count whole seconds.
const COARSE_REST: i128 = 2_000_000_000;

/// A cache of digests in one file.
#[derive(Debug)]
pub struct StatCache {
    path: PathBuf,
    /// When the session began, in nanoseconds.
    began: i128,
    loaded: OnceLock<Loaded>,
    fresh: Mutex<HashMap<(u64, u64), Record>>,
    /// What was read, if it is kept.
    contents: Option<Mutex<HeldContents>>,
}

/// What the file had.
#[derive(Debug, Default)]
struct Loaded {
    /// Sorted by device and inode.
    records: Vec<Record>,
    used: Vec<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    key: (u64, u64),
    size: u64,
    mtime: i64,
    ctime: i64,
    age: u64,
    digest: Digest,
}

impl StatCache {
    /// The cache in a file that need not be there. `now` is when the session began: nothing that
    /// changed shortly before or since is remembered.
    pub fn open(path: PathBuf, now: Timestamp) -> Self {
        Self {
            path,
            began: i128::from(now.as_millis()) * 1_000_000,
            loaded: OnceLock::new(),
            fresh: Mutex::new(HashMap::new()),
            contents: None,
        }
    }

    /// Keeps the contents of files that have to be read, for the transaction that writes them.
    pub fn keep_contents(&mut self) {
        self.contents = Some(Mutex::default());
    }

    /// The contents that were kept so far.
    pub fn take_contents(&self) -> HeldContents {
        let kept = self.contents.as_ref().map(|contents| {
            let mut contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *contents)
        });
        kept.unwrap_or_default()
    }

    /// Writes the cache back if anything was learned. The caller may ignore the failure.
    pub fn save(&self) -> io::Result<()> {
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh.is_empty() {
            return Ok(());
        }
        let loaded = self.loaded();
        let kept = loaded.records.iter().zip(&loaded.used);
        let mut records: Vec<Record> = kept
            .filter(|(record, _)| !fresh.contains_key(&record.key))
            .filter_map(|(record, used)| {
                let age = match used.load(Ordering::Relaxed) {
                    true => 0,
                    false => record.age + 1,
                };
                (age <= MAX_AGE).then_some(Record { age, ..*record })
            })
            .collect();
        records.extend(fresh.values().copied());
        records.sort_unstable_by_key(|record| record.key);
        let mut bytes = Vec::with_capacity(HEADER + RECORD * records.len());
        bytes.resize(HEADER, 0);
        for record in &records {
            record.write(&mut bytes);
        }
        let digest = Digest::of(&bytes[HEADER..]);
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..HEADER].copy_from_slice(digest.as_bytes());
        self.replace(&bytes)
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        use std::io::Write;
        if let Some(directory) = self.path.parent() {
            create_private_dir(directory)?;
        }
        let unfinished = self
            .path
            .with_extension(format!("new-{}", std::process::id()));
        let written = create_new(&unfinished, PRIVATE)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&unfinished, &self.path));
        if written.is_err() {
            // Also what a killed process with the same number left.
            let _ = std::fs::remove_file(&unfinished);
        }
        written
    }

    fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| {
            let records = fs::read(&self.path)
                .ok()
                .and_then(|bytes| parse(&bytes))
                .unwrap_or_default();
            let used = records.iter().map(|_| AtomicBool::new(false)).collect();
            Loaded { records, used }
        })
    }

    /// Whether a file had been at rest long enough for its timestamps to show the next change.
    fn at_rest(&self, record: &Record) -> bool {
        let coarse = record.mtime % 1_000_000_000 == 0 && record.ctime % 1_000_000_000 == 0;
        let rest = if coarse { COARSE_REST } else { REST };
        let changed = i128::from(record.mtime.max(record.ctime));
        changed + rest < self.began
    }
}

impl HashCache for StatCache {
    fn digest(&self, _: &Path, metadata: &Metadata) -> Option<Digest> {
        let seen = Record::of(metadata, Digest::ZERO)?;
        let loaded = self.loaded();
        let index = loaded
            .records
            .binary_search_by_key(&seen.key, |record| record.key)
            .ok()?;
        let record = loaded.records.get(index)?;
        let same = (record.size, record.mtime, record.ctime) == (seen.size, seen.mtime, seen.ctime);
        if !same {
            return None;
        }
        loaded.used.get(index)?.store(true, Ordering::Relaxed);
        Some(record.digest)
    }

    fn read(&self, digest: Digest, bytes: &[u8]) {
        if let Some(contents) = &self.contents {
            let mut contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
            contents.hold(digest, bytes);
        }
    }

    fn remember(&self, _: &Path, metadata: &Metadata, digest: Digest) {
        if let Some(record) = Record::of(metadata, digest)
            && self.at_rest(&record)
        {
            let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
            fresh.insert(record.key, record);
        }
    }
}

impl Record {
    /// `None`: the times do not fit, so nothing can be said about the file.
    fn of(metadata: &Metadata, digest: Digest) -> Option<Self> {
        let moment = |seconds: i64, nanoseconds: i64| {
            seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
        };
        Some(Self {
            key: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            mtime: moment(metadata.mtime(), metadata.mtime_nsec())?,
            ctime: moment(metadata.ctime(), metadata.ctime_nsec())?,
            age: 0,
            digest,
        })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        for number in [self.key.0, self.key.1, self.size] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [self.mtime, self.ctime] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.age.to_le_bytes());
        bytes.extend(self.digest.as_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let number = |index: usize| {
            let bytes = bytes.get(index * 8..index * 8 + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let digest: [u8; 32] = bytes.get(48..RECORD)?.try_into().ok()?;
        Some(Self {
            key: (number(0)?, number(1)?),
            size: number(2)?,
            mtime: number(3)?.cast_signed(),
            ctime: number(4)?.cast_signed(),
            age: number(5)?,
            digest: Digest::from_bytes(digest),
        })
    }
}

fn parse(bytes: &[u8]) -> Option<Vec<Record>> {
    let (header, records) = bytes.split_at_checked(HEADER)?;
    let whole = header.starts_with(MAGIC)
        && records.len() % RECORD == 0
        && header.get(8..)? == Digest::of(records).as_bytes();
    if !whole {
        return None;
    }
    records.chunks_exact(RECORD).map(Record::read).collect()
}

#[cfg(test)]
#[path = "stat_cache_tests.rs"]
mod tests;
