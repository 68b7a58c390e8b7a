//! What runs hold exclusively: one unfinished run per name, and behind it those that wait.
//!
//! A run has all of its names or none of them. Names are given in the order of creation: a run
//! waits as long as an older one holds a name of its or waits for one.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_types::{
    RunId, RunState,
    run::{DUE_NEW, Due},
};

use super::{due, runs};
use crate::{error::Result, journal::Journal, seal};

const TABLE: &str = "run_holds";

/// The names a new or reopened run holds from now on, or waits for.
pub(crate) fn claim(connection: &Connection, journal: &Journal, names: &[String]) -> Result<()> {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let mut holding = true;
    for name in &names {
        holding &= taken_by(connection, name, journal.id)?.is_none();
    }
    for name in names {
        insert(connection, name, journal.id, holding)?;
    }
    Ok(())
}

/// The run is over: its names are free, and those that waited for them may have them.
pub(crate) fn release(connection: &Connection, journal: &Journal) -> Result<()> {
    let names = names_of(connection, journal.id)?;
    if names.is_empty() {
        return Ok(());
    }
    connection
        .prepare_cached("DELETE FROM run_holds WHERE journal = ?1")?
        .execute([journal.id])?;
    let mut waiting = Vec::new();
    for name in &names {
        let mut statement = connection
            .prepare_cached("SELECT journal FROM run_holds WHERE name = ?1 AND holding = 0")?;
        let found = statement.query_map([name], |row| row.get::<_, i64>(0))?;
        waiting.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    waiting.sort_unstable();
    waiting.dedup();
    for candidate in waiting {
        let names = names_of(connection, candidate)?;
        let mut free = true;
        for name in &names {
            free &= taken_by(connection, name, candidate)?.is_none();
        }
        if free {
            let granted = Due {
                at: Some(DUE_NEW),
                is_signalled: false,
            };
            for name in &names {
                insert(connection, name, candidate, true)?;
            }
            due::set(connection, candidate, granted)?;
        }
    }
    Ok(())
}

/// Whether the run waits for a name.
pub(super) fn is_waiting(connection: &Connection, journal: &Journal) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM run_holds WHERE journal = ?1 AND holding = 0)",
        )?
        .query_row([journal.id], |row| row.get(0))?)
}

/// A run other than `journal` that stands in its way for one of the names: the holder, or one
/// that waits.
pub(crate) fn obstacle(
    connection: &Connection,
    names: &[String],
    journal: Option<i64>,
) -> Result<Option<(String, RunId, RunState)>> {
    for name in names {
        if let Some(other) = taken_by(connection, name, journal.unwrap_or(i64::MAX))? {
            let other = Journal::get(connection, other)?;
            let record = runs::load(connection, &other.run_id)?;
            let state = record.map_or(RunState::Queued, |record| record.state);
            return Ok(Some((name.clone(), other.run_id, state)));
        }
    }
    Ok(None)
}

/// The run that holds a name, or else the oldest that waits for it and is older than `journal`.
fn taken_by(connection: &Connection, name: &str, journal: i64) -> Result<Option<i64>> {
    let found: Option<(i64, i64, i64)> = connection
        .prepare_cached(
            "SELECT journal, holding, sum FROM run_holds WHERE name = ?1 AND journal <> ?2 \
             AND (holding = 1 OR journal < ?2) ORDER BY holding DESC, journal LIMIT 1",
        )?
        .query_row(params![name, journal], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((other, holding, stored)) = found else {
        return Ok(None);
    };
    seal::check(TABLE, name, stored, sum(name, other, holding))?;
    Ok(Some(other))
}

fn names_of(connection: &Connection, journal: i64) -> Result<Vec<String>> {
    let mut statement =
        connection.prepare_cached("SELECT name FROM run_holds WHERE journal = ?1 ORDER BY name")?;
    let names = statement.query_map([journal], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

fn insert(connection: &Connection, name: &str, journal: i64, holding: bool) -> Result<()> {
    let holding = i64::from(holding);
    connection
        .prepare_cached(
            "INSERT INTO run_holds (name, journal, holding, sum) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (name, journal) DO UPDATE SET holding = excluded.holding, sum = excluded.sum",
        )?
        .execute(params![name, journal, holding, sum(name, journal, holding)])?;
    Ok(())
}

fn sum(name: &str, journal: i64, holding: i64) -> i64 {
    seal::seal(
        TABLE,
        &[
            name.as_bytes(),
            &journal.to_be_bytes(),
            &holding.to_be_bytes(),
        ],
    )
}
