//! Runs that have to be driven although no driver executes them: those not started yet, those
//! with a new signal, and those that wait for a timer.

use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};
use windlass_types::{Body, RunId, RunRecord, RunState, Timestamp, run::Due};

use super::{holds, runs};
use crate::{
    error::{Failure, Result},
    journal::Journal,
    seal,
};

const TABLE: &str = "run_due";

/// Notes why the run is due, right after `body` was folded into its record.
pub(crate) fn note(
    connection: &Connection,
    journal: &Journal,
    record: &RunRecord,
    body: &Body,
) -> Result<()> {
    // A run that waits for a name begins when it has it, or to be cancelled.
    let blocked = record.state == RunState::Queued
        && !record.cancel_requested
        && holds::is_waiting(connection, journal)?;
    let mut due = record.due_after(body);
    if blocked {
        due.at = None;
    }
    if due == Due::default() {
        return forget(connection, journal);
    }
    set(connection, journal.id, due)
}

/// The run is not due any more.
pub(super) fn forget(connection: &Connection, journal: &Journal) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM run_due WHERE journal = ?1")?
        .execute([journal.id])?;
    Ok(())
}

/// The run of that number is due.
pub(super) fn set(connection: &Connection, journal: i64, due: Due) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO run_due (journal, due_at, signalled, sum) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            journal,
            due.at.map(Timestamp::as_millis),
            due.is_signalled,
            sum(journal, due)
        ])?;
    Ok(())
}

/// Why the run is due.
pub(crate) fn of(connection: &Connection, journal: &Journal) -> Result<Due> {
    let found = connection
        .prepare_cached("SELECT journal, due_at, signalled, sum FROM run_due WHERE journal = ?1")?
        .query_row([journal.id], |row| Ok(read(row)))
        .optional()?
        .transpose()?;
    Ok(found.map(|(_, due)| due).unwrap_or_default())
}

/// Runs that become due after one moment and by another, earliest first.
pub(crate) fn between(
    connection: &Connection,
    after: Option<Timestamp>,
    by: Timestamp,
) -> Result<Vec<RunId>> {
    let after = after.map_or(i64::MIN, Timestamp::as_millis);
    ids(
        connection,
        "SELECT journal, due_at, signalled, sum FROM run_due WHERE due_at > ?1 AND due_at <= ?2 \
         ORDER BY due_at, journal",
        &[after, by.as_millis()],
    )
}

/// Runs with a new signal, oldest first.
pub(crate) fn signalled(connection: &Connection) -> Result<Vec<RunId>> {
    ids(
        connection,
        "SELECT journal, due_at, signalled, sum FROM run_due WHERE signalled = 1 ORDER BY journal",
        &[],
    )
}

/// When the next run after a moment is due.
pub(crate) fn next(connection: &Connection, after: Timestamp) -> Result<Option<Timestamp>> {
    let found = connection
        .prepare_cached(
            "SELECT journal, due_at, signalled, sum FROM run_due WHERE due_at > ?1 \
             ORDER BY due_at LIMIT 1",
        )?
        .query_row([after.as_millis()], |row| Ok(read(row)))
        .optional()?
        .transpose()?;
    Ok(found.and_then(|(_, due)| due.at))
}

fn ids(connection: &Connection, sql: &str, values: &[i64]) -> Result<Vec<RunId>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        let (journal, _) = read(row)?;
        runs.push(Journal::get(connection, journal)?.run_id);
    }
    Ok(runs)
}

fn read(row: &Row<'_>) -> Result<(i64, Due)> {
    let journal: i64 = row.get(0)?;
    let due = Due {
        at: row.get::<_, Option<i64>>(1)?.map(Timestamp::from_millis),
        is_signalled: row.get(2)?,
    };
    seal::check(TABLE, &journal.to_string(), row.get(3)?, sum(journal, due))?;
    Ok((journal, due))
}

/// Derives the whole table from a store whose runs are derived.
pub(crate) fn fill(connection: &Connection) -> Result<()> {
    for run_id in runs::unfinished(connection)? {
        let Some(journal) = Journal::find(connection, &run_id)? else {
            continue;
        };
        let Some(record) = runs::load(connection, &run_id)? else {
            continue;
        };
        let mut seq = record.last_seq;
        while let Some(event) = journal.event_at(connection, seq)? {
            let body = Body::decode(&event.event_type, &event.payload).map_err(|error| {
                Failure::damaged(format!("event {seq} of {run_id} cannot be read: {error}"))
            })?;
            let is_created = seq == 1;
            if let Some(body) = body.filter(|body| is_created || runs::is_folded(body)) {
                note(connection, &journal, &record, &body)?;
                break;
            }
            seq -= 1;
        }
    }
    Ok(())
}

fn sum(journal: i64, due: Due) -> i64 {
    let at = due.at.map(|at| at.as_millis().to_string());
    seal::seal(
        TABLE,
        &[
            &journal.to_be_bytes(),
            &seal::optional(at.as_deref()),
            &[u8::from(due.is_signalled)],
        ],
    )
}
