//! Writing the pieces of a batch inside its transaction: conditions, places in the chain,
//! events, indexes. What is learned about journals is remembered for the next batch.

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, params};
use windlass_ports::{CommitError, Committed, Expect};
use windlass_types::{Body, Digest, Event, RunId, RunState, event::ChainHead};

use crate::{
    commit::{Claims, PreparedCommit, Standing, check_reopening, check_standing},
    drivers::Drivers,
    error::{Failure, Result},
    fault::{FaultPoint, StoreFaults, marks},
    import::PreparedImport,
    index::{self, Place},
    journal::{self, Journal},
    lease,
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

impl Work {
    /// Whether anything is derived from it, so that a reader may have to act.
    pub(crate) fn is_turn(&self) -> bool {
        match self {
            Self::Commit(commit) => commit
                .writes
                .iter()
                .any(|write| write.bodies.iter().any(Option::is_some)),
            Self::Import(_) => true,
            Self::Content { .. } => false,
        }
    }
}

/// The answer to a piece of work, given once its batch is durable.
pub(crate) type Outcome = Result<Committed, CommitError>;

/// Where a journal ends.
struct Head {
    journal: Journal,
    chain: ChainHead,
    state: Option<RunState>,
    /// Its row is still to be written.
    is_new: bool,
}

/// What the writer knows without asking; right as long as nobody else has written.
#[derive(Default)]
pub(crate) struct Memory {
    heads: HashMap<RunId, Head>,
    /// The numbers to give out next.
    next_position: i64,
    next_journal: i64,
    /// Position and hash of the last event written.
    pub(crate) last_written: Option<(i64, Digest)>,
    /// SQLite's mark of the last change by others that the above includes.
    data_version: Option<i64>,
}

impl Memory {
    /// The position of the next event that is written.
    pub(crate) const fn next_position(&self) -> i64 {
        self.next_position
    }

    /// Forgets what a transaction that did not happen may have changed.
    pub(crate) fn forget(&mut self) {
        self.heads.clear();
        self.data_version = None;
    }

    /// Starts over when another process has written. Called inside the transaction.
    pub(crate) fn refresh(&mut self, connection: &Connection) -> Result<()> {
        let version: i64 = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if self.data_version == Some(version) && self.heads.len() <= REMEMBERED_JOURNALS {
            return Ok(());
        }
        self.heads.clear();
        (self.next_position, self.next_journal) = connection.query_row(
            "SELECT max(position, (SELECT ifnull(max(position), 0) FROM events)) + 1, \
             max(journal, (SELECT ifnull(max(id), 0) FROM journals)) + 1 FROM floors WHERE id = 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        self.data_version = Some(version);
        Ok(())
    }

    fn head(&mut self, connection: &Connection, run_id: &RunId) -> Result<Option<&mut Head>> {
        if !self.heads.contains_key(run_id) {
            let Some(journal) = Journal::find(connection, run_id)? else {
                return Ok(None);
            };
            let chain = journal.head(connection)?;
            let state = index::runs::state(connection, &journal, chain.seq)?;
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

    fn head_or_new(
        &mut self,
        connection: &Connection,
        run_id: &RunId,
        imported_seq: u64,
    ) -> Result<&mut Head> {
        if self.head(connection, run_id)?.is_none() {
            let anchor = ChainHead::default();
            let journal = Journal {
                id: self.next_journal,
                run_id: run_id.clone(),
                anchor,
                imported_seq,
            };
            self.next_journal += 1;
            let head = Head {
                journal,
                chain: anchor,
                state: None,
                is_new: true,
            };
            self.heads.insert(run_id.clone(), head);
        }
        self.known_head(run_id)
    }

    fn known_head(&mut self, run_id: &RunId) -> Result<&mut Head> {
        self.heads.get_mut(run_id).ok_or_else(|| {
            Failure::damaged(format!(
                "journal {run_id} was forgotten while it was written"
            ))
        })
    }

    /// What a journal is, and where it ends.
    fn standing(
        &mut self,
        connection: &Connection,
        run_id: &RunId,
    ) -> Result<(Standing, Option<&Head>), CommitError> {
        let head = self
            .head(connection, run_id)
            .map_err(|failure| CommitError::Store(failure.into()))?;
        let standing = match head.as_ref().map(|head| head.state) {
            None => Standing::Absent,
            Some(None) => Standing::System,
            Some(Some(state)) => Standing::Run(state),
        };
        Ok((standing, head.map(|head| &*head)))
    }
}

/// Writes the pieces of one batch.
pub(crate) struct Appender<'a> {
    connection: &'a Connection,
    drivers: &'a Drivers,
    memory: &'a mut Memory,
    faults: Option<&'a dyn StoreFaults>,
    insert: CachedStatement<'a>,
}

impl<'a> Appender<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        drivers: &'a Drivers,
        memory: &'a mut Memory,
        faults: Option<&'a dyn StoreFaults>,
    ) -> Result<Self> {
        let insert = journal::insert_statement(connection)?;
        Ok(Self {
            connection,
            drivers,
            memory,
            faults,
            insert,
        })
    }

    /// Writes a piece, or finds that it must not be written. An error means that the whole
    /// transaction is lost.
    pub(crate) fn write(&mut self, work: &Work) -> Result<Outcome> {
        let checked = match work {
            Work::Commit(commit) => self.check_commit(commit),
            Work::Import(import) => self.check_import(import),
            Work::Content { .. } => Ok(()),
        };
        match checked {
            // What SQLite answers by giving up the transaction is everyone's failure.
            Err(CommitError::Store(error)) if self.connection.is_autocommit() => {
                return Err(error.into());
            }
            Err(error) => return Ok(Err(error)),
            Ok(()) => {}
        }
        let (events, epoch) = match work {
            Work::Commit(commit) => {
                let events = self.write_commit(commit)?;
                let lease = commit.lease.as_ref();
                let epoch = lease.map(|lease| lease::apply(self.connection, lease));
                (events, epoch.transpose()?.flatten())
            }
            Work::Import(import) => (self.write_import(import)?, None),
            Work::Content { digest, bytes } => (self.write_content(*digest, bytes)?, None),
        };
        Ok(Ok(Committed { events, epoch }))
    }

    fn check_commit(&mut self, commit: &PreparedCommit) -> Result<(), CommitError> {
        if let Some(lease) = &commit.lease {
            lease::check(self.connection, self.drivers, lease)?;
        }
        let mut claims = Claims::default();
        for (at, write) in commit.writes.iter().enumerate() {
            let (mut standing, head) = self.memory.standing(self.connection, &write.run_id)?;
            let last_seq = head.map_or(0, |head| head.chain.seq);
            let journal = head.map(|head| head.journal.clone());
            // Made by an earlier write of this same commit.
            if standing == Standing::Absent
                && commit.writes[..at]
                    .iter()
                    .any(|other| other.run_id == write.run_id)
            {
                standing = Standing::System;
            }
            check_standing(
                &write.run_id,
                &write.expect,
                &write.bodies,
                standing,
                last_seq,
            )?;
            if let Some(journal) = journal {
                if journal.imported_seq > 0 && !write.events.is_empty() {
                    return Err(CommitError::Imported {
                        run_id: journal.run_id,
                    });
                }
                check_reopening(self.connection, &journal, &write.bodies, standing)?;
            }
            claims.claim(self.connection, &write.run_id, &write.expect, &write.bodies)?;
        }
        Ok(())
    }

    fn check_import(&mut self, import: &PreparedImport) -> Result<(), CommitError> {
        let (standing, _) = self.memory.standing(self.connection, &import.run_id)?;
        check_standing(&import.run_id, &Expect::New, &import.bodies, standing, 0)?;
        Claims::imported().claim(
            self.connection,
            &import.run_id,
            &Expect::New,
            &import.bodies,
        )
    }

    fn write_commit(&mut self, commit: &PreparedCommit) -> Result<Vec<Event>> {
        let mut events =
            Vec::with_capacity(commit.writes.iter().map(|write| write.events.len()).sum());
        for write in commit
            .writes
            .iter()
            .filter(|write| !write.events.is_empty())
        {
            let head = self.memory.head_or_new(self.connection, &write.run_id, 0)?;
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
        Ok(events)
    }

    fn write_import(&mut self, import: &PreparedImport) -> Result<Vec<Event>> {
        self.fault_before_write(&import.events)?;
        if let Some(last) = import.events.last() {
            let head = self
                .memory
                .head_or_new(self.connection, &import.run_id, last.seq)?;
            head.chain = ChainHead {
                seq: last.seq,
                hash: last.hash,
            };
        }
        self.store_events(&import.run_id, &import.events, &import.bodies)?;
        Ok(import.events.clone())
    }

    fn write_content(&self, digest: Digest, bytes: &[u8]) -> Result<Vec<Event>> {
        // Stored before: its age is reset, so that prune leaves it to its new user.
        self.connection
            .prepare_cached(
                "INSERT INTO blobs (sha256, stored_at, bytes) VALUES (?1, unixepoch() * 1000, ?2) \
                 ON CONFLICT (sha256) DO UPDATE SET stored_at = excluded.stored_at, bytes = excluded.bytes",
            )?
            .execute(params![digest.as_bytes(), bytes])?;
        Ok(Vec::new())
    }

    fn store_events(
        &mut self,
        run_id: &RunId,
        events: &[Event],
        bodies: &[Option<Body>],
    ) -> Result<()> {
        let mut position = self.memory.next_position;
        let head = self.memory.known_head(run_id)?;
        if std::mem::take(&mut head.is_new) {
            head.journal.insert(self.connection)?;
        }
        for (event, body) in events.iter().zip(bodies) {
            journal::insert_event(&mut self.insert, position, head.journal.id, event)?;
            if let Some(body) = body {
                let place = Place {
                    journal: &head.journal,
                    position,
                };
                head.state = index::derive(self.connection, &place, event, body)?.or(head.state);
            }
            position += 1;
        }
        if let Some(last) = events.last() {
            self.memory.last_written = Some((position - 1, last.hash));
        }
        self.memory.next_position = position;
        Ok(())
    }

    fn fault_before_write(&self, events: &[Event]) -> Result<()> {
        match self.faults {
            Some(faults) => Ok(faults.at(FaultPoint::BeforeWrite, &marks(events))?),
            None => Ok(()),
        }
    }
}
