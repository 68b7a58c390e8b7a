//! The connection that writes: how a batch becomes one transaction, and what happens when
//! the disk does not take it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{Connection, ffi};
use windlass_ports::StoreError;
use windlass_types::Digest;

use crate::{
    append::{Appender, Memory, Outcome, Work},
    drivers::Drivers,
    error::{Failure, Result},
    fault::{FaultPoint, marks},
    history::{self, SealKey, Tally},
    holder::Holder,
    home::Home,
    journal,
    mark::{MarkKeeper, read_mark},
    notice::Notice,
    open::{self, SqliteStoreOptions},
    wal::Log,
};

/// Numbers of drivers, leases and journals that are skipped after a loss: those that were lost
/// may be in use.
const SKIPPED: u32 = 1_000_000;

/// How many times longer a process is waited for that is stopped.
const PATIENCE: u32 = 6;

pub(crate) struct Session {
    home: Home,
    options: SqliteStoreOptions,
    connection: Connection,
    log: Log,
    drivers: Arc<Drivers>,
    notice: Arc<Notice>,
    memory: Memory,
    /// Position and hash of the last event that this process has made durable.
    last_durable: Option<(i64, Digest)>,
    /// How long the last commit took to become durable.
    last_flush: Duration,
    /// How many there were.
    flushes: Arc<AtomicU64>,
    mark: MarkKeeper,
    /// Said once, not with every try.
    mark_failed: bool,
    /// What the store lacks of what was acknowledged; nothing is written before it is restored or
    /// the loss is accepted.
    shortfall: Option<String>,
    /// The stopped process that this one waits for, and since when.
    stalled_by: Option<(Holder, Instant)>,
    /// The disk failed in the middle of a commit; nothing is written before a fresh look.
    suspect: bool,
}

impl Session {
    pub(crate) fn new(
        home: Home,
        options: SqliteStoreOptions,
        mut connection: Connection,
        drivers: Arc<Drivers>,
        notice: Arc<Notice>,
        flushes: Arc<AtomicU64>,
    ) -> Result<Self> {
        let log = Log::watch(&mut connection, home.wal())?;
        let mark = MarkKeeper::new(home.clone(), SealKey::new(options.seal_key.as_ref()));
        let shortfall = mark.shortfall(&connection)?;
        if let Some(shortfall) = &shortfall {
            tracing::error!("{}", refusal(shortfall));
        }
        Ok(Self {
            mark,
            mark_failed: false,
            shortfall,
            home,
            options,
            connection,
            log,
            drivers,
            notice,
            memory: Memory::default(),
            last_durable: None,
            last_flush: Duration::ZERO,
            flushes,
            stalled_by: None,
            suspect: false,
        })
    }

    /// Writes everything in one transaction and makes it durable. A piece whose conditions
    /// fail gets its own answer; an error means that nothing was acknowledged.
    pub(crate) fn write(&mut self, works: &[&Work]) -> Result<Vec<Outcome>> {
        let written = self.attempt(works);
        written.map_err(|failure| self.give_up(failure))
    }

    /// Runs a transaction of its own: maintenance and the lease.
    pub(crate) fn alone<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let done = self.begin().and_then(|()| {
            // Whatever it does to journals, the memory of them starts over afterwards.
            self.memory.forget();
            let value = work(&self.connection)?;
            self.commit()?;
            Ok(value)
        });
        done.map_err(|failure| self.give_up(failure))
    }

    /// The same for a transaction that removes events. They are counted as pruned, so the mark
    /// must cover them first.
    pub(crate) fn removing<T>(
        &mut self,
        work: impl FnOnce(&Connection, &SealKey) -> Result<T>,
    ) -> Result<T> {
        let done = self.begin().and_then(|()| {
            self.memory.forget();
            self.mark.advance_or_wait(&self.connection)?;
            let value = work(&self.connection, self.mark.key())?;
            self.commit()?;
            Ok(value)
        });
        done.map_err(|failure| self.give_up(failure))
    }

    /// What the store lacks of what was acknowledged.
    pub(crate) fn shortfall(&mut self) -> Result<Option<String>> {
        self.shortfall = self.mark.shortfall(&self.connection)?;
        Ok(self.shortfall.clone())
    }

    /// Goes on from what is there, and records in the same transaction that the rest is lost.
    /// Numbers that were given out before are not given out again.
    pub(crate) fn accept_loss(&mut self, record: &Work) -> Result<Outcome> {
        let accepted = self.try_accept(record);
        let outcome = accepted.map_err(|failure| self.give_up(failure))?;
        if outcome.is_ok() {
            self.mark.begin(&self.connection)?;
            self.shortfall()?;
        }
        Ok(outcome)
    }

    fn try_accept(&mut self, record: &Work) -> Result<Outcome> {
        // What is lost can be done without; a file that contradicts itself cannot be built on.
        let sound: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if sound != "ok" {
            return Err(Failure::damaged(format!(
                "windlass.db is damaged itself ({sound}); restore a backup"
            )));
        }
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        if let Ok(mark) = read_mark(&self.home, self.mark.key())? {
            self.connection.execute(
                "UPDATE floors SET position = max(position, ?1) WHERE id = 1",
                [mark.position],
            )?;
        }
        self.connection.execute_batch(&format!(
            "UPDATE floors SET lease = lease + {SKIPPED}, \
             journal = max(journal, (SELECT ifnull(max(id), 0) FROM journals)) + {SKIPPED} WHERE id = 1; \
             UPDATE lease SET epoch = epoch + {SKIPPED} WHERE id = 1; \
             DELETE FROM journal_heads;"
        ))?;
        history::set_pruned(&self.connection, self.mark.key(), Tally::default())?;
        self.memory.forget();
        self.memory.refresh(&self.connection)?;
        let outcome = Appender::new(&self.connection, &self.drivers, &mut self.memory, None)?
            .write(record)?;
        if outcome.is_err() {
            self.connection.execute_batch("ROLLBACK")?;
            self.memory.forget();
            return Ok(outcome);
        }
        self.commit()?;
        self.last_durable = self.memory.last_written;
        Ok(outcome)
    }

    /// The connection outside any transaction, for statements that make their own.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Looks after the log once the answers are out.
    pub(crate) fn after_commit(&mut self) {
        if let Err(error) = self.log.after_commit(&self.connection) {
            tracing::warn!(%error, "the write-ahead log could not be maintained; trying again");
        }
        self.keep_mark_if_due();
    }

    pub(crate) fn keep_mark_if_due(&mut self) {
        if self.mark.is_due() {
            self.keep_mark();
        }
    }

    /// Whether events wait for the mark to cover them.
    pub(crate) fn is_mark_behind(&self) -> bool {
        self.mark.is_behind()
    }

    /// Lets the mark cover what was committed.
    pub(crate) fn keep_mark(&mut self) {
        let failed = self
            .mark
            .advance(&self.connection)
            .map_err(StoreError::from)
            .err();
        if let Some(error) = failed.as_ref().filter(|_| !self.mark_failed) {
            tracing::warn!(%error, "windlass.mark could not be written; trying again");
        }
        self.mark_failed = failed.is_some();
    }

    pub(crate) fn last_flush(&self) -> Duration {
        self.last_flush
    }

    pub(crate) fn has_idle_work(&self) -> bool {
        self.log.has_idle_work()
    }

    pub(crate) fn idle(&mut self) {
        if let Err(error) = self.log.checkpoint(&self.connection) {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database");
        }
    }

    fn attempt(&mut self, works: &[&Work]) -> Result<Vec<Outcome>> {
        self.begin()?;
        let first = self.memory.next_position();
        let mut appender = Appender::new(
            &self.connection,
            &self.drivers,
            &mut self.memory,
            self.options.faults.as_deref(),
        )?;
        let mut outcomes = Vec::with_capacity(works.len());
        for work in works {
            outcomes.push(appender.write(work)?);
        }
        drop(appender);
        if outcomes.iter().all(Result::is_err) {
            self.connection.prepare_cached("ROLLBACK")?.execute([])?;
            return Ok(outcomes);
        }
        self.fault(FaultPoint::AfterWrite, &outcomes)?;
        self.commit()?;
        if let Some((position, hash)) = self.memory.last_written
            && self.last_durable != Some((position, hash))
        {
            self.last_durable = Some((position, hash));
            let turned = works.iter().any(|work| work.is_turn());
            self.notice
                .committed(first.unsigned_abs(), position.unsigned_abs(), turned);
            self.notice.grown(
                outcomes
                    .iter()
                    .flatten()
                    .flat_map(|committed| &committed.events)
                    .map(|event| (&event.run_id, event.seq)),
            );
        }
        self.fault(FaultPoint::AfterCommit, &outcomes)?;
        Ok(outcomes)
    }

    fn begin(&mut self) -> Result<()> {
        if self.suspect {
            self.look_again()?;
        }
        // Looked at again: another process may have accepted the loss.
        if self.shortfall.is_some()
            && let Some(shortfall) = self.shortfall()?
        {
            return Err(Failure::damaged(refusal(&shortfall)));
        }
        self.take_turn()?;
        self.memory.refresh(&self.connection)
    }

    /// Waits for the one lock that writers have. One that is stopped while it holds the lock may
    /// be continued soon: it is waited for longer and named, once for all that wait behind it.
    fn take_turn(&mut self) -> Result<()> {
        let mut was_free = false;
        loop {
            let begun = self
                .connection
                .prepare_cached("BEGIN IMMEDIATE")
                .and_then(|mut begin| begin.execute([]));
            let failure = match begun {
                Ok(_) => {
                    self.stalled_by = None;
                    return Ok(());
                }
                Err(error) => Failure::from(error),
            };
            if !failure.is_busy() {
                return Err(failure);
            }
            let holder = match Holder::of_store(&self.home) {
                Some(holder) => holder,
                None if was_free => return Err(failure),
                // It was given back just now, or cannot be known.
                None => {
                    was_free = true;
                    continue;
                }
            };
            let known = self
                .stalled_by
                .as_ref()
                .filter(|(known, _)| *known == holder);
            let waited = known.map(|(_, since)| since.elapsed());
            let is_too_long = |waited| waited >= self.options.busy_timeout * PATIENCE;
            if !holder.is_stopped() || waited.is_some_and(is_too_long) {
                return Err(holder.into_error().into());
            }
            if waited.is_none() {
                tracing::warn!("{holder}; waiting for it");
                self.stalled_by = Some((holder, Instant::now()));
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        let started = Instant::now();
        let committed = self
            .connection
            .prepare_cached("COMMIT")
            .and_then(|mut commit| commit.execute([]));
        self.last_flush = started.elapsed();
        // A flush that failed once may report success the next time without having flushed.
        self.suspect = committed.is_err();
        committed?;
        self.flushes.fetch_add(1, Ordering::Relaxed);
        self.mark.note_commit();
        Ok(())
    }

    /// Leaves the transaction and everything that was remembered because of it.
    fn give_up(&mut self, failure: Failure) -> Failure {
        self.memory.forget();
        self.memory.last_written = self.last_durable;
        if !self.connection.is_autocommit() && self.connection.execute_batch("ROLLBACK").is_err() {
            self.suspect = true;
        }
        match &failure {
            Failure::Sql(error) if is_failed_write(error) => {
                if self.log.is_out_of_room(&self.connection) {
                    return StoreError::Full.into();
                }
                self.suspect = true;
            }
            Failure::Store(StoreError::Io(_)) => self.suspect = true,
            _ => {}
        }
        failure
    }

    /// After the disk failed: a fresh connection must show what was acknowledged.
    fn look_again(&mut self) -> Result<()> {
        let mut connection = open::connect_writer(&self.home, &self.options)?;
        if let Some((position, hash)) = self.last_durable {
            journal::verify_tail(&connection, position, hash)?;
        }
        self.log = Log::watch(&mut connection, self.home.wal())?;
        self.connection = connection;
        self.memory.forget();
        self.suspect = false;
        Ok(())
    }

    fn fault(&self, point: FaultPoint, outcomes: &[Outcome]) -> Result<()> {
        let Some(faults) = &self.options.faults else {
            return Ok(());
        };
        let events = outcomes
            .iter()
            .flatten()
            .flat_map(|committed| &committed.events);
        Ok(faults.at(point, &marks(events))?)
    }
}

/// What a store that lacks something says to those who would write.
fn refusal(shortfall: &str) -> String {
    format!(
        "{shortfall}; nothing is written or driven until a backup is restored or the loss is \
         accepted (windlass store accept-loss)"
    )
}

fn is_failed_write(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| {
        matches!(
            error.extended_code,
            ffi::SQLITE_IOERR_WRITE
                | ffi::SQLITE_IOERR_FSYNC
                | ffi::SQLITE_IOERR_TRUNCATE
                | ffi::SQLITE_IOERR
        )
    })
}
