//! Derives every index again from the events: after a schema change, and to compare.

use rusqlite::{Connection, ErrorCode};
use windlass_types::{Body, Event};

use crate::{
    error::{Failure, Result},
    index::{self, Place},
    journal::{Journal, event_from_row, verified},
};

/// Reads every event of `source` in commit order and derives into `target`, whose derived
/// tables are empty. They may be the same store.
pub(crate) fn derive_all(source: &Connection, target: &Connection) -> Result<u64> {
    let mut statement = source.prepare(
        "SELECT position, journal, seq, time, type, span_id, parent_span_id, prev_hash, hash, payload \
         FROM events ORDER BY position",
    )?;
    let mut rows = statement.query([])?;
    let mut journal: Option<Journal> = None;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let (position, id): (i64, i64) = (row.get(0)?, row.get(1)?);
        let current = match journal.take() {
            Some(known) if known.id == id => known,
            _ => Journal::get(source, id)?,
        };
        let event = verified(event_from_row(row, 2, &current.run_id)?)?;
        let body = Body::decode(&event.event_type, &event.payload).map_err(|error| {
            Failure::damaged(format!(
                "event {} of {} cannot be read: {error}",
                event.seq, event.run_id
            ))
        })?;
        if let Some(body) = body.filter(index::is_indexed) {
            index::derive(
                target,
                &Place {
                    journal: &current,
                    position,
                },
                &event,
                &body,
            )
            .map_err(|failure| contradiction(failure, &event))?;
        }
        journal = Some(current);
        count += 1;
    }
    Ok(count)
}

/// An event that the tables do not take contradicts what was derived before it, e.g. a token that
/// was used already.
fn contradiction(failure: Failure, event: &Event) -> Failure {
    match failure {
        Failure::Sql(error)
            if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
        {
            Failure::damaged(format!(
                "event {} of {} contradicts the history before it: {error}",
                event.seq, event.run_id
            ))
        }
        other => other,
    }
}
