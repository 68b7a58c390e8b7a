//! Care of SQLite's write-ahead log, so that a commit is one flush and nothing else.
//!
//! The log is kept at a fixed size and written over and over: growing a file costs a
//! flush of its metadata with every commit. It is never removed when a process leaves, and
//! moved into the database by the writer, between commits, once it is long or nothing happens.

use std::{
    io::{self, Seek, SeekFrom, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
};

use rusqlite::{Connection, ErrorCode, hooks::Wal as WalHandle};

use crate::error::{Result, is_out_of_space};

/// The log is moved into the database when it has this many pages (about 4 MiB).
const CHECKPOINT_FRAMES: i32 = 1000;
/// How much further it grows before the next try, when readers kept it from being emptied.
const RETRY_FRAMES: i32 = 250;
/// A log shorter than this is not worth moving when nothing happens.
const IDLE_FRAMES: i32 = 64;
/// What the log file is extended to: the pages up to a checkpoint and a large batch.
const RESERVED_BYTES: u64 = 6 * 1024 * 1024;
/// A process that commits less than this does not extend the file: most commands commit once.
const COMMITS_BEFORE_RESERVING: u64 = 8;
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// The log, as the writer sees it.
pub(crate) struct Log {
    path: PathBuf,
    /// Pages in the log after the last commit.
    frames: Arc<AtomicI32>,
    next_checkpoint: i32,
    commits: u64,
    reserve_at: Option<u64>,
}

impl Log {
    /// Watches the log of a connection; from now on nothing else moves it.
    pub(crate) fn watch(connection: &mut Connection, path: PathBuf) -> Result<Self> {
        let frames = Arc::new(AtomicI32::new(0));
        let counter = Arc::clone(&frames);
        connection.wal_hook(Some(move |_: &mut WalHandle, pages: i32| {
            counter.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            path,
            frames,
            next_checkpoint: CHECKPOINT_FRAMES,
            commits: 0,
            reserve_at: Some(COMMITS_BEFORE_RESERVING),
        })
    }

    /// After a commit was acknowledged.
    pub(crate) fn after_commit(&mut self, connection: &Connection) -> Result<()> {
        self.commits += 1;
        if self.frames() < RETRY_FRAMES {
            self.next_checkpoint = CHECKPOINT_FRAMES;
        }
        if self.frames() >= self.next_checkpoint {
            self.checkpoint(connection)?;
        }
        if self.reserve_at.is_some_and(|at| self.commits >= at) {
            self.reserve_at = self.reserve(connection)?.then_some(self.commits + 10_000);
        }
        Ok(())
    }

    /// Whether there is something to do when no commit has come for a while.
    pub(crate) fn has_idle_work(&self) -> bool {
        self.frames() >= IDLE_FRAMES
    }

    /// Moves the log into the database as far as readers allow, without waiting for them.
    pub(crate) fn checkpoint(&mut self, connection: &Connection) -> Result<()> {
        let moved = connection.wal_checkpoint_v2(
            Some(rusqlite::MAIN_DB),
            rusqlite::wal::CheckpointMode::PASSIVE,
        );
        let is_complete = match moved {
            Ok((frames, moved)) => frames >= 0 && frames == moved,
            // Another process is at it, which does as well.
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => false,
                _ => return Err(error.into()),
            },
        };
        if is_complete {
            // The next commit starts over at the beginning of the file.
            self.frames.store(0, Ordering::Relaxed);
            self.next_checkpoint = CHECKPOINT_FRAMES;
        } else {
            self.next_checkpoint = self.frames().saturating_add(RETRY_FRAMES);
        }
        Ok(())
    }

    fn frames(&self) -> i32 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Extends the file with zeros, which SQLite takes for what they are: no frames. Returns
    /// whether to try again later because there was no room.
    fn reserve(&self, connection: &Connection) -> Result<bool> {
        self.while_nobody_appends(connection, |file| {
            let length = file.seek(SeekFrom::End(0))?;
            match append_zeros(file, length, RESERVED_BYTES) {
                Ok(()) => Ok(false),
                Err(error) if is_out_of_space(&error) => {
                    file.set_len(length)?;
                    Ok(true)
                }
                Err(error) => Err(error),
            }
        })
    }

    /// Whether the log cannot grow for lack of room. SQLite distinguishes a full disk from other
    /// failures but not a quota or a limit on file size.
    pub(crate) fn is_out_of_room(&self, connection: &Connection) -> bool {
        let probed = self.while_nobody_appends(connection, |file| {
            let length = file.seek(SeekFrom::End(0))?;
            let grown = append_zeros(file, length, length + ZEROS.len() as u64);
            file.set_len(length)?;
            Ok(grown.is_err_and(|error| is_out_of_space(&error)))
        });
        probed.unwrap_or(false)
    }

    /// Works on the file while this connection holds the write lock: nobody else appends to
    /// the log, and nobody removes it because this connection is open.
    fn while_nobody_appends<T>(
        &self,
        connection: &Connection,
        work: impl FnOnce(&mut std::fs::File) -> io::Result<T>,
    ) -> Result<T> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = std::fs::OpenOptions::new()
            .write(true)
            .open(&self.path)
            .and_then(|mut file| work(&mut file));
        connection.execute_batch("ROLLBACK")?;
        Ok(done?)
    }
}

fn append_zeros(file: &mut std::fs::File, from: u64, to: u64) -> io::Result<()> {
    let mut left = to.saturating_sub(from);
    if left == 0 {
        return Ok(());
    }
    while left > 0 {
        let chunk = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
        file.write_all(&ZEROS[..chunk])?;
        left -= chunk as u64;
    }
    file.sync_data()
}
