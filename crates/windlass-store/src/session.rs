//! The writer's side of the database: the connection that writes, what it remembers of the
//! journals, and how a batch of writes becomes one transaction.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ffi, params};
use windlass_ports::{CommitError, Committed, Expect, StoreError};
use windlass_types::{Body, Digest, Event, RunId, RunState, event::ChainHead};

use crate::{
    commit::{Claims, PreparedCommit, Standing, check_epoch, check_standing},
    error::{Failure, Result},
    fault::{EventMark, FaultPoint},
    home::Home,
    import::PreparedImport,
    index::{self, Place},
    journal::{self, Journal},
    notice::Notice,
    open::{self, SqliteStoreOptions},
    wal::Log,
};

/// Journals remembered between batches; forgotten all at once when there are more.
const REMEMBERED_JOURNALS: usize = 16 * 1024;

/// Something to be written, with others, in one transaction.
pub(crate) enum Work {
    Commit(PreparedCommit),
    Import(PreparedImport),
    Content { digest: Digest, bytes: Vec<u8> },
}

impl Work {
    /// About how much will be written.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Commit(commit) => commit.bytes,
            Self::Import(import) => import.bytes,
            Self::Content { bytes, .. } => bytes.len(),
        }
    }
}

/// The answer to a piece of work, given once its batch is durable.
pub(crate) type Outcome = Result<Committed, CommitError>;

struct Head {
    journal: Journal,
    chain: ChainHead,
    state: Option<RunState>,
    /// Its row is still to be written.
    is_new: bool,
}

/// The numbers to give out next.
struct Counters {
    position: i64,
    journal: i64,
}

pub(crate) struct Session {
    home: Home,
    options: SqliteStoreOptions,
    connection: Connection,
    log: Log,
    notice: Arc<Notice>,
    heads: HashMap<RunId, Head>,
    counters: Counters,
    /// SQLite's mark of the last change by others that the memory above includes.
    data_version: Option<i64>,
    /// Position and hash of the last event written here.
    last_written: Option<(i64, Digest)>,
    /// The same, once it was durable.
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
            heads: HashMap::new(),
            counters: Counters {
                position: 0,
                journal: 0,
            },
            data_version: None,
            last_written: None,
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
            self.forget();
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
            tracing::warn!(%error, "the write-ahead log could not be tended; it is tried again");
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
        let mut outcomes = Vec::with_capacity(works.len());
        for work in works {
            outcomes.push(match work {
                Work::Commit(commit) => self.write_commit(commit)?,
                Work::Import(import) => self.write_import(import)?,
                Work::Content { digest, bytes } => self.write_content(*digest, bytes)?,
            });
        }
        if outcomes.iter().all(Result::is_err) {
            self.connection.prepare_cached("ROLLBACK")?.execute([])?;
            return Ok(outcomes);
        }
        self.fault(FaultPoint::AfterWrite, &outcomes)?;
        self.commit()?;
        if self.last_durable != self.last_written {
            self.last_durable = self.last_written;
            self.notice.committed(
                self.last_durable
                    .map_or(0, |(position, _)| position.unsigned_abs()),
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
        let version: i64 = self
            .connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if self.data_version != Some(version) || self.heads.len() > REMEMBERED_JOURNALS {
            self.heads.clear();
            self.counters = self.connection.query_row(
                "SELECT max(position, (SELECT ifnull(max(position), 0) FROM events)) + 1, \
                 max(journal, (SELECT ifnull(max(id), 0) FROM journals)) + 1 FROM floors WHERE id = 1",
                [],
                |row| Ok(Counters { position: row.get(0)?, journal: row.get(1)? }),
            )?;
            self.data_version = Some(version);
        }
        Ok(())
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
        self.forget();
        self.last_written = self.last_durable;
        if !self.connection.is_autocommit() && self.connection.execute_batch("ROLLBACK").is_err() {
            self.suspect = true;
        }
        if matches!(&failure, Failure::Sql(error) if is_failed_write(error)) {
            if self.log.is_out_of_room(&self.connection) {
                return StoreError::Full.into();
            }
            self.suspect = true;
        }
        if matches!(failure, Failure::Store(StoreError::Io(_))) {
            self.suspect = true;
        }
        failure
    }

    fn forget(&mut self) {
        self.heads.clear();
        self.data_version = None;
    }

    /// After the disk failed: a fresh connection must show what was acknowledged.
    fn look_again(&mut self) -> Result<()> {
        let mut connection = open::connect_writer(&self.home, &self.options)?;
        if let Some((position, hash)) = self.last_durable {
            journal::verify_tail(&connection, position, hash)?;
        }
        self.log = Log::watch(&mut connection, self.home.wal())?;
        self.connection = connection;
        self.forget();
        self.suspect = false;
        Ok(())
    }

    fn write_commit(&mut self, commit: &PreparedCommit) -> Result<Outcome> {
        if let Err(error) = self.check(commit) {
            return self.individual(error);
        }
        let mut events =
            Vec::with_capacity(commit.writes.iter().map(|write| write.events.len()).sum());
        for write in commit
            .writes
            .iter()
            .filter(|write| !write.events.is_empty())
        {
            let head = self.head_or_new(&write.run_id, 0)?;
            for new in &write.events {
                let event = Event::chain(
                    write.run_id.clone(),
                    head.chain.seq + 1,
                    head.chain.hash,
                    new.clone(),
                );
                head.chain = ChainHead {
                    seq: event.seq,
                    hash: event.hash,
                };
                events.push(event);
            }
        }
        self.fault_before_write(&events)?;
        let mut at = 0;
        for write in commit
            .writes
            .iter()
            .filter(|write| !write.events.is_empty())
        {
            let end = at + write.events.len();
            self.store_events(&write.run_id, &events[at..end], &write.bodies)?;
            at = end;
        }
        Ok(Ok(Committed { events }))
    }

    fn write_import(&mut self, import: &PreparedImport) -> Result<Outcome> {
        let (run_id, bodies) = (&import.run_id, &import.bodies);
        let checked = self
            .standing(run_id)
            .map_err(|failure| CommitError::Store(failure.into()))
            .and_then(|standing| check_standing(run_id, &Expect::New, bodies, standing))
            .and_then(|()| Claims::default().claim(&self.connection, run_id, bodies));
        if let Err(error) = checked {
            return self.individual(error);
        }
        self.fault_before_write(&import.events)?;
        if let Some(last) = import.events.last() {
            self.head_or_new(run_id, last.seq)?.chain = ChainHead {
                seq: last.seq,
                hash: last.hash,
            };
        }
        self.store_events(run_id, &import.events, bodies)?;
        Ok(Ok(Committed {
            events: import.events.clone(),
        }))
    }

    fn write_content(&self, digest: Digest, bytes: &[u8]) -> Result<Outcome> {
        // Stored before: its age begins anew, so that prune leaves it to its new user.
        self.connection
            .prepare_cached(
                "INSERT INTO blobs (sha256, stored_at, bytes) VALUES (?1, unixepoch() * 1000, ?2) \
                 ON CONFLICT (sha256) DO UPDATE SET stored_at = excluded.stored_at, bytes = excluded.bytes",
            )?
            .execute(params![digest.as_bytes(), bytes])?;
        Ok(Ok(Committed::default()))
    }

    /// The answer to one piece of work whose check failed, unless the transaction is gone:
    /// then the failure is everybody's.
    fn individual(&self, error: CommitError) -> Result<Outcome> {
        match error {
            CommitError::Store(error) if self.connection.is_autocommit() => Err(error.into()),
            error => Ok(Err(error)),
        }
    }

    fn check(&mut self, commit: &PreparedCommit) -> Result<(), CommitError> {
        check_epoch(&self.connection, commit.epoch)?;
        let mut claims = Claims::default();
        for (at, write) in commit.writes.iter().enumerate() {
            let mut standing = self
                .standing(&write.run_id)
                .map_err(|failure| CommitError::Store(failure.into()))?;
            // Made by an earlier write of this same commit.
            if standing == Standing::Absent
                && commit.writes[..at]
                    .iter()
                    .any(|other| other.run_id == write.run_id)
            {
                standing = Standing::System;
            }
            check_standing(&write.run_id, &write.expect, &write.bodies, standing)?;
            claims.claim(&self.connection, &write.run_id, &write.bodies)?;
        }
        Ok(())
    }

    fn standing(&mut self, run_id: &RunId) -> Result<Standing> {
        Ok(match self.head(run_id)? {
            None => Standing::Absent,
            Some(Head { state: None, .. }) => Standing::System,
            Some(Head {
                state: Some(state), ..
            }) => Standing::Run(*state),
        })
    }

    fn head(&mut self, run_id: &RunId) -> Result<Option<&mut Head>> {
        if !self.heads.contains_key(run_id) {
            let Some(journal) = Journal::find(&self.connection, run_id)? else {
                return Ok(None);
            };
            let chain = journal.head(&self.connection)?;
            let state = index::runs::state(&self.connection, &journal, chain.seq)?;
            self.heads.insert(
                run_id.clone(),
                Head {
                    journal,
                    chain,
                    state,
                    is_new: false,
                },
            );
        }
        Ok(self.heads.get_mut(run_id))
    }

    fn head_or_new(&mut self, run_id: &RunId, imported_seq: u64) -> Result<&mut Head> {
        if self.head(run_id)?.is_none() {
            let journal = Journal {
                id: self.counters.journal,
                run_id: run_id.clone(),
                anchor: ChainHead::default(),
                imported_seq,
            };
            self.counters.journal += 1;
            let head = Head {
                journal,
                chain: ChainHead::default(),
                state: None,
                is_new: true,
            };
            self.heads.insert(run_id.clone(), head);
        }
        self.heads
            .get_mut(run_id)
            .ok_or_else(|| Failure::damaged(format!("journal {run_id} was forgotten")))
    }

    fn store_events(
        &mut self,
        run_id: &RunId,
        events: &[Event],
        bodies: &[Option<Body>],
    ) -> Result<()> {
        let Self {
            connection,
            heads,
            counters,
            last_written,
            ..
        } = self;
        let Some(head) = heads.get_mut(run_id) else {
            return Err(Failure::damaged(format!("journal {run_id} was forgotten")));
        };
        if std::mem::take(&mut head.is_new) {
            head.journal.insert(connection)?;
        }
        let mut insert = journal::insert_statement(connection)?;
        for (event, body) in events.iter().zip(bodies) {
            let position = counters.position;
            journal::insert_event(&mut insert, position, head.journal.id, event)?;
            if let Some(body) = body {
                let place = Place {
                    journal: &head.journal,
                    position,
                };
                head.state = index::derive(connection, &place, event, body)?.or(head.state);
            }
            counters.position += 1;
            *last_written = Some((position, event.hash));
        }
        Ok(())
    }

    fn fault_before_write(&self, events: &[Event]) -> Result<()> {
        match &self.options.faults {
            Some(faults) => Ok(faults.at(FaultPoint::BeforeWrite, &marks(events))?),
            None => Ok(()),
        }
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

fn marks<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<EventMark> {
    let mark = |event: &Event| EventMark {
        run_id: event.run_id.clone(),
        seq: event.seq,
        event_type: event.event_type.clone(),
    };
    events.into_iter().map(mark).collect()
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
