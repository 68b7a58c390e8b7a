//! The high-water mark: a small file beside the store that says how far the history went.
//!
//! SQLite ends a damaged log where its checksums end and calls that the end of the store. The
//! mark says what was there: the last event, the tally of all events, the frames of the log. It
//! has two slots of fixed size, written in turn, each within one sector, which disks write whole;
//! one that cannot be read is damage like any other, or else an attacker who blanks it could cut off what
//! it covers. The mark is written at most once in `INTERVAL` and never before the events it covers
//! are durable.

use std::{
    fs::{File, TryLockError},
    io,
    os::unix::fs::FileExt,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OptionalExtension};
use windlass_ports::StoreError;
use windlass_types::Digest;

use crate::{
    error::{Failure, Result},
    history::{self, SealKey, Tally},
    home::{Home, sync_dir},
    read,
};

/// Less than a second: what was acknowledged longer ago than that is covered.
const INTERVAL: Duration = Duration::from_millis(800);
const MAGIC: &[u8; 8] = b"WNDLMRK1";
const PURPOSE: &[u8] = b"windlass.seal.mark.v1\0";
/// Slots lie in different blocks of the disk.
const SLOT_STRIDE: u64 = 4096;
const SLOTS: u64 = 2;
const SLOT: usize = 256;
const BODY: usize = 128;

/// Where the log stood: a log of this round has at least so many frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogMark {
    salt: [u8; 8],
    frames: u32,
}

/// How far the history went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Grows with every mark.
    pub(crate) generation: u64,
    /// The place and hash of the last event.
    pub(crate) position: i64,
    pub(crate) hash: Digest,
    /// Every event ever written, up to that place.
    pub(crate) tally: Tally,
    log: LogMark,
    key_name: [u8; 8],
}

impl Mark {
    /// Magic, 9 fields and a MAC, closed by a checksum that needs no key.
    fn encode(&self, key: &SealKey) -> [u8; SLOT] {
        let mut slot = [0; SLOT];
        let fields: [&[u8]; 9] = [
            MAGIC,
            &self.generation.to_be_bytes(),
            &self.position.to_be_bytes(),
            self.hash.as_bytes(),
            &self.tally.events.to_be_bytes(),
            &self.tally.sum_bytes(),
            &self.log.salt,
            &self.log.frames.to_be_bytes(),
            &self.key_name,
        ];
        let mut at = 0;
        for field in fields {
            slot[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        }
        let mac = key.mac(PURPOSE, &[&slot[..BODY]]);
        slot[BODY..BODY + 32].copy_from_slice(&mac);
        let sum = Digest::of(&slot[..SLOT - 32]);
        slot[SLOT - 32..].copy_from_slice(sum.as_bytes());
        slot
    }

    fn decode(slot: &[u8; SLOT]) -> Option<Self> {
        let is_whole = Digest::of(&slot[..SLOT - 32]).as_bytes() == &slot[SLOT - 32..];
        if !is_whole || &slot[..8] != MAGIC {
            return None;
        }
        let mut at = 8;
        Some(Self {
            generation: u64::from_be_bytes(take(slot, &mut at)),
            position: i64::from_be_bytes(take(slot, &mut at)),
            hash: Digest::from_bytes(take(slot, &mut at)),
            tally: {
                let events = u64::from_be_bytes(take(slot, &mut at));
                Tally::from_parts(events, &take(slot, &mut at))
            },
            log: LogMark {
                salt: take(slot, &mut at),
                frames: u32::from_be_bytes(take(slot, &mut at)),
            },
            key_name: take(slot, &mut at),
        })
    }
}

fn take<const N: usize>(slot: &[u8; SLOT], at: &mut usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&slot[*at..*at + N]);
    *at += N;
    bytes
}

/// Why the mark cannot be compared with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoMark {
    #[error("windlass.mark, which says how far the history went, is missing")]
    Missing,
    #[error("windlass.mark, which says how far the history went, is damaged")]
    Unreadable,
    #[error(
        "windlass.mark is sealed with another key than keys/store.key; if the key was lost with \
         the home, put it back from where you keep it"
    )]
    OtherKey,
    #[error("windlass.mark was altered: its seal does not fit")]
    Forged,
}

/// Reads the newest mark.
pub(crate) fn read_mark(home: &Home, key: &SealKey) -> Result<Result<Mark, NoMark>> {
    match File::open(home.mark()) {
        Ok(file) => Ok(newest(&file, key)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Err(NoMark::Missing)),
        Err(error) => Err(error.into()),
    }
}

fn newest(file: &File, key: &SealKey) -> io::Result<Result<Mark, NoMark>> {
    let mut found: Option<(Mark, [u8; SLOT])> = None;
    let mut readable = 0;
    for slot in 0..SLOTS {
        let mut bytes = [0; SLOT];
        match file.read_exact_at(&mut bytes, slot * SLOT_STRIDE) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            Err(error) => return Err(error),
        }
        let Some(mark) = Mark::decode(&bytes) else {
            continue;
        };
        readable += 1;
        if found.is_none_or(|(other, _)| other.generation < mark.generation) {
            found = Some((mark, bytes));
        }
    }
    Ok(match found {
        None => Err(NoMark::Unreadable),
        // Only the first mark stands alone.
        Some((mark, _)) if readable < SLOTS.min(mark.generation) => Err(NoMark::Unreadable),
        Some((mark, _)) if mark.key_name != key.name() => Err(NoMark::OtherKey),
        Some((_, bytes)) if !key.is_mac(PURPOSE, &[&bytes[..BODY]], &bytes[BODY..BODY + 32]) => {
            Err(NoMark::Forged)
        }
        Some((mark, _)) => Ok(mark),
    })
}

/// What the store lacks according to the mark, as one sentence; `None` when it lacks nothing. Read
/// the mark first: a store in use only grows.
pub(crate) fn shortfall(
    home: &Home,
    connection: &Connection,
    key: &SealKey,
    mark: Result<Mark, NoMark>,
) -> Result<Option<String>> {
    let mark = match mark {
        Ok(mark) => mark,
        Err(why) => return Ok(Some(why.to_string())),
    };
    let position = i64::try_from(read::position(connection)?).unwrap_or(i64::MAX);
    if position < mark.position {
        return Ok(Some(match mark.position - position {
            1 => format!("event {} was acknowledged and is gone", mark.position),
            _ => format!(
                "events {} to {} were acknowledged and are gone",
                position + 1,
                mark.position
            ),
        }));
    }
    let hash: Option<[u8; 32]> = connection
        .query_row(
            "SELECT hash FROM events WHERE position = ?1",
            [mark.position],
            |row| row.get(0),
        )
        .optional()?;
    let floor: i64 =
        connection.query_row("SELECT position FROM floors WHERE id = 1", [], |row| {
            row.get(0)
        })?;
    match hash {
        Some(hash) if Digest::from_bytes(hash) != mark.hash => {
            return Ok(Some(format!(
                "event {} is not the one that was acknowledged",
                mark.position
            )));
        }
        None if floor < mark.position => {
            return Ok(Some(format!(
                "event {} was acknowledged and is gone",
                mark.position
            )));
        }
        _ => {}
    }
    match history::pruned(connection, key) {
        Ok(Some(_)) => {}
        Ok(None) => return Ok(Some("the count of pruned events is missing".to_owned())),
        Err(Failure::Store(StoreError::Damaged(why))) => return Ok(Some(why)),
        Err(failure) => return Err(failure),
    }
    if let Some(log) = log_mark(home, connection)?
        && log.salt == mark.log.salt
        && log.frames < mark.log.frames
    {
        // The frames that are left may hide newer pages in the database.
        return Ok(Some(format!(
            "the write-ahead log is damaged: {} of its {} frames can be read",
            log.frames, mark.log.frames
        )));
    }
    Ok(None)
}

/// Where the log stands. `None` inside a transaction, and while the log is begun again.
fn log_mark(home: &Home, connection: &Connection) -> Result<Option<LogMark>> {
    if !connection.is_autocommit() {
        return Ok(None);
    }
    let Some(before) = salt(home) else {
        return Ok(None);
    };
    let frames: i64 = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))?;
    // Frames of another round say nothing about this one.
    if salt(home) != Some(before) {
        return Ok(None);
    }
    Ok(Some(LogMark {
        salt: before,
        frames: u32::try_from(frames).unwrap_or(0),
    }))
}

/// The log's header names its round.
fn salt(home: &Home) -> Option<[u8; 8]> {
    let mut salt = [0; 8];
    let file = File::open(home.wal()).ok()?;
    file.read_exact_at(&mut salt, 16).ok()?;
    Some(salt)
}

/// Writes the mark of a store, now and then.
pub(crate) struct MarkKeeper {
    home: Home,
    key: SealKey,
    file: Option<File>,
    written: Option<Instant>,
    is_behind: bool,
}

impl MarkKeeper {
    pub(crate) const fn new(home: Home, key: SealKey) -> Self {
        Self {
            home,
            key,
            file: None,
            written: None,
            is_behind: false,
        }
    }

    pub(crate) const fn key(&self) -> &SealKey {
        &self.key
    }

    /// Something was committed.
    pub(crate) const fn note_commit(&mut self) {
        self.is_behind = true;
    }

    /// Whether events are not covered yet.
    pub(crate) const fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Whether it is time.
    pub(crate) fn is_due(&self) -> bool {
        self.is_behind && self.written.is_none_or(|then| then.elapsed() >= INTERVAL)
    }

    /// What the store lacks.
    pub(crate) fn shortfall(&self, connection: &Connection) -> Result<Option<String>> {
        let mark = read_mark(&self.home, &self.key)?;
        shortfall(&self.home, connection, &self.key, mark)
    }

    /// Covers what was committed since, by any process. Left to the other where two try at once.
    pub(crate) fn advance(&mut self, connection: &Connection) -> Result<()> {
        self.written = Some(Instant::now());
        let file = self.open()?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let advanced = advance_locked(&self.home, &self.key, &file, connection);
        let unlocked = file.unlock();
        self.file = Some(file);
        advanced?;
        unlocked?;
        self.is_behind = false;
        Ok(())
    }

    /// The same, for those who must not go on without it.
    pub(crate) fn advance_or_wait(&mut self, connection: &Connection) -> Result<()> {
        const TRIES: u32 = 100;
        self.is_behind = true;
        for _ in 0..TRIES {
            self.advance(connection)?;
            if !self.is_behind {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(StoreError::Busy.into())
    }

    /// Seals a store for the first time. One that has a mark already was sealed before, unless it
    /// is the mark that an attempt left which was interrupted here.
    pub(crate) fn begin_unless_marked(&mut self, connection: &Connection) -> Result<()> {
        match read_mark(&self.home, &self.key)? {
            Err(NoMark::Missing) => {}
            Ok(mark) => {
                let all = history::stretch(connection, &self.key, -1, i64::MAX)?;
                if all.tally != mark.tally {
                    return Ok(());
                }
            }
            Err(_) => return Ok(()),
        }
        history::set_pruned(connection, &self.key, Tally::default())?;
        self.begin(connection)
    }

    /// Seals the store as it is: a new one, one from before there were marks, or one whose loss
    /// was accepted.
    pub(crate) fn begin(&mut self, connection: &Connection) -> Result<()> {
        let generation = match read_mark(&self.home, &self.key)? {
            Ok(mark) => mark.generation + 1,
            // Newer than any that another key may have made.
            Err(NoMark::OtherKey | NoMark::Forged | NoMark::Unreadable) => {
                let _ = fs_err::remove_file(self.home.mark());
                1
            }
            Err(NoMark::Missing) => 1,
        };
        let pruned = history::pruned(connection, &self.key)?.unwrap_or_default();
        let all = history::stretch(connection, &self.key, -1, i64::MAX)?;
        let floor = i64::try_from(read::position(connection)?).unwrap_or(i64::MAX);
        let (position, hash) = match all.last {
            Some((position, hash)) if position >= floor => (position, hash),
            _ => (floor, Digest::ZERO),
        };
        let mark = Mark {
            generation,
            position,
            hash,
            tally: all.tally.plus(pruned),
            log: LogMark::default(),
            key_name: self.key.name(),
        };
        self.file = None;
        let file = self.open()?;
        write(&file, &self.key, &mark)?;
        file.sync_all()?;
        sync_dir(self.home.root())?;
        self.file = Some(file);
        Ok(())
    }

    fn open(&mut self) -> io::Result<File> {
        match self.file.take() {
            Some(file) => Ok(file),
            None => self.home.open_lock(&self.home.mark()),
        }
    }
}

fn advance_locked(home: &Home, key: &SealKey, file: &File, connection: &Connection) -> Result<()> {
    let mark = newest(file, key)?.map_err(|why| Failure::damaged(why.to_string()))?;
    // Before the events are read: the log only grows, and what it holds now is durable.
    let log = log_mark(home, connection)?.unwrap_or(mark.log);
    let added = history::stretch(connection, key, mark.position, i64::MAX)?;
    let Some((position, hash)) = added.last else {
        return Ok(());
    };
    let next = Mark {
        generation: mark.generation + 1,
        position,
        hash,
        tally: mark.tally.plus(added.tally),
        log,
        ..mark
    };
    write(file, key, &next)?;
    Ok(())
}

fn write(file: &File, key: &SealKey, mark: &Mark) -> io::Result<()> {
    let slot = mark.generation % SLOTS;
    file.write_all_at(&mark.encode(key), slot * SLOT_STRIDE)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(generation: u64) -> Mark {
        Mark {
            generation,
            position: 7,
            hash: Digest::of(b"event"),
            tally: Tally::from_parts(7, &[9; 32]),
            log: LogMark {
                salt: [5; 8],
                frames: 3,
            },
            key_name: SealKey::new(None).name(),
        }
    }

    #[test]
    fn a_slot_reads_back_and_every_flipped_bit_shows() {
        let key = SealKey::new(None);
        let slot = mark(4).encode(&key);
        assert_eq!(Mark::decode(&slot), Some(mark(4)));
        for at in 0..SLOT * 8 {
            let mut harmed = slot;
            harmed[at / 8] ^= 1 << (at % 8);
            assert_eq!(Mark::decode(&harmed), None, "bit {at}");
        }
    }

    #[test]
    fn a_slot_that_cannot_be_read_is_damage() {
        let (key, file) = (SealKey::new(None), tempfile::tempfile().unwrap());
        assert_eq!(newest(&file, &key).unwrap(), Err(NoMark::Unreadable));
        for generation in 1..=3 {
            write(&file, &key, &mark(generation)).unwrap();
        }
        assert_eq!(newest(&file, &key).unwrap(), Ok(mark(3)));
        for slot in 0..SLOTS {
            write(&file, &key, &mark(2)).unwrap();
            write(&file, &key, &mark(3)).unwrap();
            file.write_all_at(&[0; SLOT], slot * SLOT_STRIDE).unwrap();
            assert_eq!(newest(&file, &key).unwrap(), Err(NoMark::Unreadable));
        }
    }

    #[test]
    fn a_mark_without_the_key_is_no_mark() {
        let file = tempfile::tempfile().unwrap();
        let ours = SealKey::new(Some(&windlass_types::Secret::new(vec![1; 32])));
        let theirs = SealKey::new(None);
        let mut forged = mark(1);
        write(&file, &theirs, &forged).unwrap();
        assert_eq!(newest(&file, &ours).unwrap(), Err(NoMark::OtherKey));
        forged.key_name = ours.name();
        write(&file, &theirs, &forged).unwrap();
        assert_eq!(newest(&file, &ours).unwrap(), Err(NoMark::Forged));
    }
}
