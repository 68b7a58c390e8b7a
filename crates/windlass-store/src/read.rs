//! Reading: a few connections, each question one consistent snapshot, off the async threads.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use windlass_ports::{FeedEntry, FeedPage, StoreError};
use windlass_types::{Event, RunId};

use crate::{
    error::Result,
    home::Home,
    index::runs,
    journal::{Journal, event_from_row, verified},
    open::{self, SqliteStoreOptions},
};

/// The pool. Connections are opened when first needed.
#[derive(Clone)]
pub(crate) struct Readers(Arc<Inner>);

struct Inner {
    home: Home,
    options: SqliteStoreOptions,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Readers {
    pub(crate) fn new(home: Home, options: SqliteStoreOptions) -> Self {
        let permits = Semaphore::new(options.readers.max(1));
        Self(Arc::new(Inner {
            home,
            options,
            idle: Mutex::default(),
            permits,
        }))
    }

    /// Asks a question. Everything it reads comes from one moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let closed = |_| StoreError::Io("the store's readers have stopped".to_owned());
        let _permit = self.0.permits.acquire().await.map_err(closed)?;
        let readers = self.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let mut connection = readers.take()?;
            let transaction = connection.transaction()?;
            let answer = question(&transaction)?;
            transaction.commit()?;
            // Not reached after a failure: a connection that met one is not used again.
            readers.put_back(connection);
            Ok(answer)
        });
        match answer.await {
            Ok(answer) => answer.map_err(|failure: crate::error::Failure| {
                failure.naming_holder(&self.0.home).into()
            }),
            Err(error) => Err(StoreError::Io(format!(
                "a read of the store was interrupted: {error}"
            ))),
        }
    }

    /// A connection of its own, for work that lasts.
    pub(crate) fn connect(&self) -> Result<Connection> {
        open::connect_reader(&self.0.home, &self.0.options)
    }

    fn take(&self) -> Result<Connection> {
        let idle = self.idle().pop();
        idle.map_or_else(|| self.connect(), Ok)
    }

    pub(crate) fn put_back(&self, connection: Connection) {
        self.idle().push(connection);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events of one journal, checked.
pub(crate) fn events(
    connection: &Connection,
    run_id: &RunId,
    after_seq: u64,
    limit: usize,
) -> Result<Vec<Event>> {
    let Some(journal) = Journal::find(connection, run_id)? else {
        return Ok(Vec::new());
    };
    let events = journal.events_after(connection, after_seq, limit)?;
    if events.len() < limit {
        // The page reaches the end; a lost end has no successor to miss it.
        let end = events
            .last()
            .map_or(after_seq.max(journal.anchor.seq), |event| event.seq);
        runs::state(connection, &journal, end)?;
    }
    Ok(events)
}

/// Events of all journals, each checked against its hash.
pub(crate) fn feed(
    connection: &Connection,
    after: u64,
    types: &[&str],
    limit: usize,
) -> Result<FeedPage> {
    if limit == 0 {
        return Ok(FeedPage {
            entries: Vec::new(),
            position: after,
        });
    }
    let end = position(connection)?;
    let wanted = if types.is_empty() {
        String::new()
    } else {
        let names: Vec<String> = types
            .iter()
            .map(|name| format!("'{}'", name.replace('\'', "''")))
            .collect();
        format!(" AND type IN ({})", names.join(", "))
    };
    let sql = format!(
        "SELECT position, journal, seq, time, type, span_id, parent_span_id, prev_hash, hash, payload \
         FROM events WHERE position > ?1{wanted} ORDER BY position LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let after_position = i64::try_from(after).unwrap_or(i64::MAX);
    let mut rows = statement.query((after_position, crate::row::clamp(limit)))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let journal = Journal::get(connection, row.get(1)?)?;
        let event = verified(event_from_row(row, 2, &journal.run_id)?)?;
        entries.push(FeedEntry {
            position: row.get(0)?,
            event,
        });
    }
    let position = match entries.last() {
        Some(last) if entries.len() == limit => last.position,
        _ => end.max(after),
    };
    Ok(FeedPage { entries, position })
}

/// The runs whose journals have grown after a position, and up to which place.
pub(crate) fn ends_after(connection: &Connection, after: u64) -> Result<Vec<(RunId, u64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT journal, max(seq) FROM events WHERE position > ?1 GROUP BY journal",
    )?;
    let mut rows = statement.query([i64::try_from(after).unwrap_or(i64::MAX)])?;
    let mut ends = Vec::new();
    while let Some(row) = rows.next()? {
        ends.push((Journal::get(connection, row.get(0)?)?.run_id, row.get(1)?));
    }
    Ok(ends)
}

/// The place of the newest event of all.
pub(crate) fn position(connection: &Connection) -> Result<u64> {
    Ok(connection
        .prepare_cached(
            "SELECT max(position, (SELECT ifnull(max(position), 0) FROM events)) FROM floors WHERE id = 1",
        )?
        .query_row([], |row| row.get(0))?)
}
