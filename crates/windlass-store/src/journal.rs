//! Journals and events as rows: written once, checked whenever they are read.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};
use windlass_types::{
    Digest, Event, Json, RunId, SpanId, Timestamp,
    event::{ChainHead, verify_chain},
};

use crate::{
    error::{Failure, Result},
    row::{clamp, parse_id},
    seal,
};

const TABLE: &str = "journals";

/// The columns `event_from_row` reads, in its order.
macro_rules! select_events {
    () => {
        "SELECT seq, time, type, span_id, parent_span_id, prev_hash, hash, payload FROM events"
    };
}

/// A journal's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Journal {
    pub(crate) id: i64,
    pub(crate) run_id: RunId,
    /// The last pruned event; the zero head when nothing was pruned.
    pub(crate) anchor: ChainHead,
    /// Events up to here were imported.
    pub(crate) imported_seq: u64,
}

impl Journal {
    fn sum(&self) -> i64 {
        seal::seal(
            TABLE,
            &[
                &self.id.to_be_bytes(),
                self.run_id.as_str().as_bytes(),
                &self.anchor.seq.to_be_bytes(),
                self.anchor.hash.as_bytes(),
                &self.imported_seq.to_be_bytes(),
            ],
        )
    }

    /// The journal of that name.
    pub(crate) fn find(connection: &Connection, run_id: &RunId) -> Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT id, run_id, anchor_seq, anchor_hash, imported_seq, sum FROM journals WHERE run_id = ?1",
            )?
            .query_row([run_id.as_str()], |row| Ok(Self::from_row(row)))
            .optional()?
            .transpose()
    }

    /// The journal of that number, which an index row says exists.
    pub(crate) fn get(connection: &Connection, id: i64) -> Result<Self> {
        connection
            .prepare_cached(
                "SELECT id, run_id, anchor_seq, anchor_hash, imported_seq, sum FROM journals WHERE id = ?1",
            )?
            .query_row([id], |row| Ok(Self::from_row(row)))
            .optional()?
            .unwrap_or_else(|| Err(Failure::damaged(format!("journal number {id} is missing"))))
    }

    /// Every journal, oldest first.
    pub(crate) fn all(connection: &Connection) -> Result<Vec<Self>> {
        let mut statement = connection
            .prepare("SELECT id, run_id, anchor_seq, anchor_hash, imported_seq, sum FROM journals ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut journals = Vec::new();
        while let Some(row) = rows.next()? {
            journals.push(Self::from_row(row)?);
        }
        Ok(journals)
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        let journal = Self {
            id: row.get(0)?,
            run_id: parse_id(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?,
            anchor: ChainHead {
                seq: row.get(2)?,
                hash: Digest::from_bytes(row.get(3)?),
            },
            imported_seq: row.get(4)?,
        };
        seal::check(TABLE, journal.run_id.as_str(), row.get(5)?, journal.sum())?;
        Ok(journal)
    }

    pub(crate) fn insert(&self, connection: &Connection) -> Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO journals (id, run_id, anchor_seq, anchor_hash, imported_seq, sum) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                self.id,
                self.run_id.as_str(),
                self.anchor.seq,
                self.anchor.hash.as_bytes(),
                self.imported_seq,
                self.sum()
            ])?;
        Ok(())
    }

    /// Moves the beginning of the kept part.
    pub(crate) fn set_anchor(&mut self, connection: &Connection, anchor: ChainHead) -> Result<()> {
        self.anchor = anchor;
        connection
            .prepare_cached(
                "UPDATE journals SET anchor_seq = ?2, anchor_hash = ?3, sum = ?4 WHERE id = ?1",
            )?
            .execute(params![
                self.id,
                anchor.seq,
                anchor.hash.as_bytes(),
                self.sum()
            ])?;
        Ok(())
    }

    /// Where the next event goes. The last event is checked, because the chain continues from it.
    pub(crate) fn head(&self, connection: &Connection) -> Result<ChainHead> {
        match self.last_event(connection)? {
            Some(event) => Ok(ChainHead {
                seq: event.seq,
                hash: event.hash,
            }),
            None if self.anchor.seq > 0 => Ok(self.anchor),
            None => Err(Failure::damaged(format!(
                "the events of {} are missing",
                self.run_id
            ))),
        }
    }

    /// The last event, its content checked against its hash.
    pub(crate) fn last_event(&self, connection: &Connection) -> Result<Option<Event>> {
        let mut statement = connection.prepare_cached(concat!(
            select_events!(),
            " WHERE journal = ?1 ORDER BY seq DESC LIMIT 1"
        ))?;
        let event = statement
            .query_row([self.id], |row| Ok(event_from_row(row, 0, &self.run_id)))
            .optional()?;
        checked(event.transpose()?)
    }

    /// The event at a place, its content checked against its hash.
    pub(crate) fn event_at(&self, connection: &Connection, seq: u64) -> Result<Option<Event>> {
        let mut statement = connection.prepare_cached(concat!(
            select_events!(),
            " WHERE journal = ?1 AND seq = ?2"
        ))?;
        let event = statement
            .query_row(params![self.id, seq], |row| {
                Ok(event_from_row(row, 0, &self.run_id))
            })
            .optional()?;
        checked(event.transpose()?)
    }

    /// Up to `limit` events after `after_seq` (or after the anchor, if that is later), each
    /// checked against its hash and against the event before it.
    pub(crate) fn events_after(
        &self,
        connection: &Connection,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let after = after_seq.max(self.anchor.seq);
        let mut statement = connection.prepare_cached(concat!(
            select_events!(),
            " WHERE journal = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
        ))?;
        let mut rows = statement.query(params![self.id, after, clamp(limit)])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            events.push(event_from_row(row, 0, &self.run_id)?);
        }
        if events.is_empty() {
            return Ok(events);
        }
        let before = if after == self.anchor.seq {
            self.anchor
        } else {
            let hash = connection
                .prepare_cached("SELECT hash FROM events WHERE journal = ?1 AND seq = ?2")?
                .query_row(params![self.id, after], |row| row.get(0))
                .optional()?
                .ok_or_else(|| {
                    Failure::damaged(format!("event {after} of {} is missing", self.run_id))
                })?;
            ChainHead {
                seq: after,
                hash: Digest::from_bytes(hash),
            }
        };
        verify_chain(before, &events)
            .map_err(|error| Failure::damaged(format!("journal {}: {error}", self.run_id)))?;
        Ok(events)
    }
}

/// An event from the columns of `select_events!`, the first of which is at `at`. Unchecked.
pub(crate) fn event_from_row(row: &Row<'_>, at: usize, run_id: &RunId) -> Result<Event> {
    let payload = row
        .get_ref(at + 7)?
        .as_str()
        .map_err(rusqlite::Error::from)?;
    Ok(Event {
        run_id: run_id.clone(),
        seq: row.get(at)?,
        time: Timestamp::from_millis(row.get(at + 1)?),
        event_type: row.get(at + 2)?,
        span_id: SpanId::from_bytes(row.get(at + 3)?),
        parent_span_id: row
            .get::<_, Option<[u8; 8]>>(at + 4)?
            .map(SpanId::from_bytes),
        prev_hash: Digest::from_bytes(row.get(at + 5)?),
        hash: Digest::from_bytes(row.get(at + 6)?),
        payload: Json::parse(payload).map_err(|error| {
            Failure::damaged(format!("an event of {run_id} is not JSON: {error}"))
        })?,
    })
}

/// The event, if its content still matches its hash.
pub(crate) fn verified(event: Event) -> Result<Event> {
    if event.compute_hash() == event.hash {
        Ok(event)
    } else {
        Err(Failure::damaged(format!(
            "event {} of {} was altered",
            event.seq, event.run_id
        )))
    }
}

fn checked(event: Option<Event>) -> Result<Option<Event>> {
    event.map(verified).transpose()
}

/// The statement that stores events; prepared once per batch.
pub(crate) fn insert_statement(connection: &Connection) -> Result<CachedStatement<'_>> {
    Ok(connection.prepare_cached(
        "INSERT INTO events (position, journal, seq, time, type, span_id, parent_span_id, prev_hash, hash, payload) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?)
}

/// Stores an event at a position.
pub(crate) fn insert_event(
    statement: &mut CachedStatement<'_>,
    position: i64,
    journal: i64,
    event: &Event,
) -> Result<()> {
    statement.execute(params![
        position,
        journal,
        event.seq,
        event.time.as_millis(),
        event.event_type,
        event.span_id.as_bytes(),
        event.parent_span_id.as_ref().map(SpanId::as_bytes),
        event.prev_hash.as_bytes(),
        event.hash.as_bytes(),
        event.payload.as_str(),
    ])?;
    Ok(())
}

/// Checks that an acknowledged event is still there, and the events around the end.
pub(crate) fn verify_tail(connection: &Connection, position: i64, hash: Digest) -> Result<()> {
    const TAIL: i64 = 64;
    let found: Option<[u8; 32]> = connection
        .query_row(
            "SELECT hash FROM events WHERE position = ?1",
            [position],
            |row| row.get(0),
        )
        .optional()?;
    let pruned_to: i64 =
        connection.query_row("SELECT position FROM floors WHERE id = 1", [], |row| {
            row.get(0)
        })?;
    match found {
        Some(found) if Digest::from_bytes(found) == hash => {}
        None if position <= pruned_to => {}
        _ => {
            return Err(Failure::damaged(format!(
                "the acknowledged event at position {position} is gone"
            )));
        }
    }
    let mut statement = connection.prepare(
        "SELECT journal, seq, time, type, span_id, parent_span_id, prev_hash, hash, payload \
         FROM events ORDER BY position DESC LIMIT ?1",
    )?;
    let mut rows = statement.query([TAIL])?;
    while let Some(row) = rows.next()? {
        let journal = Journal::get(connection, row.get(0)?)?;
        verified(event_from_row(row, 1, &journal.run_id)?)?;
    }
    Ok(())
}
