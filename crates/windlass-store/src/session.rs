//! The connection that writes: how a batch becomes one transaction, and what happens when
//! the disk does not take it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ffi};
use windlass_ports::StoreError;
use windlass_types::Digest;

use crate::{
    append::{Appender, Memory, Outcome, Work},
    error::{Failure, Result},
    fault::{FaultPoint, marks},
    home::Home,
    journal,
    notice::Notice,
    open::{self, SqliteStoreOptions},
    wal::Log,
};

pub(crate) struct Session {
    home: Home,
    options: SqliteStoreOptions,
    connection: Connection,
    log: Log,
    notice: Arc<Notice>,
    memory: Memory,
    /// Position and hash of the last event that this process has made durable.
    last_durable: Option<(i64, Digest)>,
    /// How long the last commit took to become durable.
    last_flush: Duration,
    /// The disk failed in the middle of a commit; nothing is written before a fresh look.
    suspect: bool,
}

impl Session {
    pub(crate) fn new(
        home: Home,
        options: SqliteStoreOptions,
        mut connection: Connection,
        notice: Arc<Notice>,
    ) -> Result<Self> {
        let log = Log::watch(&mut connection, home.wal())?;
        Ok(Self {
            home,
            options,
            connection,
            log,
            notice,
            memory: Memory::default(),
            last_durable: None,
            last_flush: Duration::ZERO,
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

    /// The connection outside any transaction, for statements that make their own.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Looks after the log once the answers are out.
    pub(crate) fn after_commit(&mut self) {
        if let Err(error) = self.log.after_commit(&self.connection) {
            tracing::warn!(%error, "the write-ahead log could not be maintained; trying again");
        }
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
            &self.home,
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
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        self.memory.refresh(&self.connection)
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
