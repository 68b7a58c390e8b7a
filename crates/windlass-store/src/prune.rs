//! Removing what is no longer wanted: old ended runs, the beginning of the store's own
//! journals, contents nobody names. In small transactions, so that commits get their turn.

mod system_journals;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, UNIX_EPOCH},
};

use fs_err as fs;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter, types::Value as Column};
use windlass_ports::{
    StoreError,
    store::{Expiry, KeptFor, PruneReport, Retention},
};
use windlass_types::{RunState, Timestamp};

use crate::{
    blob,
    error::Result,
    history::{self, SealKey},
    home::Home,
    index::{artifacts, deliveries, runs, tokens},
    journal::Journal,
    maintenance::off_thread,
    open::SqliteStore,
    read::Readers,
    session::Session,
    writer::Writer,
};

/// Runs per transaction: few, so that it is small on a full disk and short on a busy store.
const RUNS: usize = 20;
/// Events of the store's own journals per transaction.
const EVENTS: usize = 2000;
/// Free pages given back per transaction, and those left for the next events.
const PAGES: u32 = 500;
const SPARE_PAGES: u32 = 64;
/// A content is stored before the event that names it; it is left alone for so long.
const CONTENT_GRACE: Duration = Duration::from_secs(60 * 60);
/// Confirm tokens have expired long before; until then their mark outlives their run.
const TOKEN_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// What a prune goes by.
#[derive(Clone, Copy)]
struct Horizon {
    /// What ended or happened by then is old.
    cutoff: Timestamp,
    now: Timestamp,
    /// Set where no person asked: runs with effects that remain stay, and those that ended after
    /// this moment and can be rolled back.
    rollback: Option<Timestamp>,
}

pub(crate) async fn prune(
    store: &SqliteStore,
    keep: Duration,
    now: Timestamp,
    dry_run: bool,
) -> Result<PruneReport, StoreError> {
    let horizon = Horizon {
        cutoff: now.before(keep),
        now,
        rollback: None,
    };
    let old = store
        .readers
        .read(move |connection| old_runs(connection, horizon, &Which::All))
        .await?;
    if dry_run {
        let home = store.home.clone();
        return store
            .readers
            .read(move |connection| preview(&home, connection, horizon, &old))
            .await;
    }
    let writer = store.writer()?;
    let mut report = PruneReport::default();
    let before = writer
        .alone(|session| database_bytes(session.connection()))
        .await?;
    remove_in_chunks(writer, horizon, &old, &mut report).await?;
    trim(writer, horizon, &mut report).await?;
    remove_contents(store, writer, horizon, &mut report).await?;
    let after = writer
        .alone(|session| database_bytes(session.connection()))
        .await?;
    report.bytes += before.saturating_sub(after);
    Ok(report)
}

/// Removes the beginning of the store's own journals, and marks of tokens nobody can use.
async fn trim(
    writer: &Writer,
    horizon: Horizon,
    report: &mut PruneReport,
) -> Result<(), StoreError> {
    loop {
        let removed = writer
            .alone(move |session| {
                let removed = session
                    .removing(|connection, key| system_journals::trim(connection, key, horizon))?;
                session.after_commit();
                Ok(removed)
            })
            .await?;
        if removed == 0 {
            break;
        }
        report.events += removed;
    }
    in_transaction(writer, move |connection| {
        let used_by = horizon.cutoff.min(horizon.now.before(TOKEN_GRACE));
        tokens::forget(connection, used_by)
    })
    .await
    .map(drop)
}

/// Which runs.
enum Which {
    All,
    OfKind(String),
    NotOf(Vec<String>),
}

/// Removes what is older than it is kept.
pub(crate) async fn expire(
    store: &SqliteStore,
    retention: Retention,
    now: Timestamp,
) -> Result<Expiry, StoreError> {
    let mut expiry = Expiry::default();
    let horizon = |keep| Horizon {
        cutoff: now.before(keep),
        now,
        rollback: Some(now.before(retention.rollback)),
    };
    let names = retention.kinds.iter().map(|kept| kept.kind.clone());
    let others = Which::NotOf(names.collect());
    for KeptFor { kind, keep } in &retention.kinds {
        let which = Which::OfKind(kind.clone());
        expire_runs(store, horizon(*keep), which, &mut expiry.removed).await?;
        let kind = kind.clone();
        let oldest = store
            .readers
            .read(move |connection| oldest_end(connection, &kind))
            .await?;
        let due = oldest.map(|ended| ended.after(*keep));
        expiry.next = expiry.next.into_iter().chain(due).min();
    }
    if let Some(keep) = retention.runs {
        expire_runs(store, horizon(keep), others, &mut expiry.removed).await?;
    }
    if let Some(keep) = retention.audit {
        let horizon = horizon(keep);
        // Looked at first: a round that finds nothing writes nothing.
        let is_due = store
            .readers
            .read(move |connection| system_journals::has_old_entries(connection, horizon))
            .await?;
        if is_due {
            trim(store.writer()?, horizon, &mut expiry.removed).await?;
        }
    }
    Ok(expiry)
}

async fn expire_runs(
    store: &SqliteStore,
    horizon: Horizon,
    which: Which,
    removed: &mut PruneReport,
) -> Result<(), StoreError> {
    let old = store
        .readers
        .read(move |connection| old_runs(connection, horizon, &which))
        .await?;
    if !old.is_empty() {
        let writer = store.writer()?;
        remove_in_chunks(writer, horizon, &old, removed).await?;
        remove_contents(store, writer, horizon, removed).await?;
    }
    Ok(())
}

async fn remove_in_chunks(
    writer: &Writer,
    horizon: Horizon,
    old: &[i64],
    report: &mut PruneReport,
) -> Result<(), StoreError> {
    for chunk in old.chunks(RUNS) {
        let chunk = chunk.to_vec();
        let (runs, events) = writer
            .alone(move |session| {
                let removed = session
                    .removing(|connection, key| remove_runs(connection, key, horizon, &chunk))?;
                // The log must not grow with what is removed.
                session.after_commit();
                Ok(removed)
            })
            .await?;
        report.runs += runs;
        report.events += events;
    }
    Ok(())
}

/// Removes contents that nothing names any more and gives the room back.
async fn remove_contents(
    store: &SqliteStore,
    writer: &Writer,
    horizon: Horizon,
    report: &mut PruneReport,
) -> Result<(), StoreError> {
    report.blobs +=
        in_transaction(writer, move |connection| remove_rows(connection, horizon)).await?;
    let (home, readers) = (store.home.clone(), store.readers.clone());
    let (files, file_bytes) = off_thread(move || remove_files(&home, &readers, horizon)).await?;
    report.blobs += files;
    report.bytes += file_bytes;
    while writer.alone(give_back_pages).await? {}
    Ok(())
}

async fn in_transaction<T: Send + 'static>(
    writer: &Writer,
    work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    writer
        .alone(|session| {
            let done = session.alone(work)?;
            session.after_commit();
            Ok(done)
        })
        .await
}

fn database_bytes(connection: &Connection) -> Result<u64> {
    let pages: u64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let size: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    Ok(pages * size)
}

/// Runs that ended before the cutoff, owe nobody a delivery, and whose parent, if it is
/// still here, goes with them.
fn old_runs(connection: &Connection, horizon: Horizon, which: &Which) -> Result<Vec<i64>> {
    let kinds: &[String] = match which {
        Which::All => &[],
        Which::OfKind(kind) => std::slice::from_ref(kind),
        Which::NotOf(kinds) => kinds,
    };
    let chosen = match which {
        Which::OfKind(_) => "runs.kind = ?2".to_owned(),
        _ => {
            let places: Vec<String> = (0..kinds.len()).map(|n| format!("?{}", n + 2)).collect();
            format!("runs.kind NOT IN ({})", places.join(", "))
        }
    };
    let sql = format!(
        "SELECT runs.journal, journals.run_id, runs.parent FROM runs JOIN journals ON journals.id = runs.journal \
         WHERE runs.state IN ({}) AND {chosen} AND (SELECT time FROM events WHERE events.journal = runs.journal \
         ORDER BY seq DESC LIMIT 1) <= ?1 AND NOT EXISTS \
         (SELECT 1 FROM deliveries WHERE deliveries.journal = runs.journal AND {}) ORDER BY runs.journal",
        final_states(),
        deliveries::GOES_OUT
    );
    let mut values = vec![Column::from(horizon.cutoff.as_millis())];
    values.extend(kinds.iter().cloned().map(Column::from));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut old: BTreeMap<String, (i64, Option<String>)> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let journal = row.get(0)?;
        if !is_wanted(connection, journal, horizon)? {
            old.insert(row.get(1)?, (journal, row.get(2)?));
        }
    }
    loop {
        let mut staying = Vec::new();
        for (run_id, (_, parent)) in &old {
            if let Some(parent) = parent
                && !old.contains_key(parent)
                && has_journal(connection, parent)?
            {
                staying.push(run_id.clone());
            }
        }
        if staying.is_empty() {
            break;
        }
        for run_id in staying {
            old.remove(&run_id);
        }
    }
    Ok(old.into_values().map(|(journal, _)| journal).collect())
}

/// Whether a run that has ended must stay unless a person removes it: effects of it remain, or it
/// can still be rolled back.
fn is_wanted(connection: &Connection, journal: i64, horizon: Horizon) -> Result<bool> {
    let Some(rollback) = horizon.rollback else {
        return Ok(false);
    };
    Ok(connection
        .prepare_cached(
            "SELECT ifnull(json_array_length(live, '$.residue'), 0) > 0 OR (state = 'completed' \
             AND (SELECT time FROM events WHERE events.journal = runs.journal ORDER BY seq DESC LIMIT 1) > ?2 \
             AND EXISTS (SELECT 1 FROM events WHERE events.journal = runs.journal \
             AND type = 'step.completed' AND json_extract(payload, '$.undoable'))) \
             FROM runs WHERE journal = ?1",
        )?
        .query_row(params![journal, rollback.as_millis()], |row| row.get(0))
        .optional()?
        .unwrap_or(false))
}

/// When the run of a kind that ended first did so.
fn oldest_end(connection: &Connection, kind: &str) -> Result<Option<Timestamp>> {
    let sql = format!(
        "SELECT min((SELECT time FROM events WHERE events.journal = runs.journal ORDER BY seq DESC LIMIT 1)) \
         FROM runs WHERE runs.kind = ?1 AND runs.state IN ({})",
        final_states()
    );
    let ended: Option<i64> = connection.query_row(&sql, [kind], |row| row.get(0))?;
    Ok(ended.map(Timestamp::from_millis))
}

fn final_states() -> String {
    let names: Vec<String> = RunState::ALL
        .into_iter()
        .filter(|state| state.is_final())
        .map(|state| format!("'{}'", state.as_str()))
        .collect();
    names.join(", ")
}

fn has_journal(connection: &Connection, run_id: &str) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM journals WHERE run_id = ?1)")?
        .query_row([run_id], |row| row.get(0))?)
}

/// What would be removed.
fn preview(
    home: &Home,
    connection: &Connection,
    horizon: Horizon,
    old: &[i64],
) -> Result<PruneReport> {
    let mut report = PruneReport {
        runs: old.len() as u64,
        ..PruneReport::default()
    };
    let mut size = connection
        .prepare("SELECT count(*), ifnull(sum(length(payload) + length(type)), 0) FROM events WHERE journal = ?1")?;
    for journal in old {
        let (events, bytes): (u64, u64) =
            size.query_row([journal], |row| Ok((row.get(0)?, row.get(1)?)))?;
        report.events += events;
        report.bytes += bytes;
    }
    let gone: BTreeSet<i64> = old.iter().copied().collect();
    for journal in system_journals::all(connection)? {
        report.events +=
            system_journals::removable_prefix(connection, &journal, horizon, &gone, usize::MAX)?.1;
    }
    let wanted = artifacts::wanted_contents(connection, horizon.now, &gone)?;
    for (_, digest, length) in aged_rows(connection, horizon)? {
        if !wanted.contains(&digest) {
            report.blobs += 1;
            report.bytes += length;
        }
    }
    for file in aged_files(home, horizon)?
        .into_iter()
        .filter(|file| !wanted.contains(&file.digest))
    {
        report.blobs += 1;
        report.bytes += fs::metadata(&file.path)?.len();
    }
    Ok(report)
}

fn remove_runs(
    connection: &Connection,
    key: &SealKey,
    horizon: Horizon,
    old: &[i64],
) -> Result<(u64, u64)> {
    raise_floors(connection)?;
    let (mut runs, mut events) = (0, 0);
    for &id in old {
        // Looked at before the lock: it may have been asked to roll back or to deliver since.
        match may_go(connection, horizon, id).map_err(StoreError::from) {
            Ok(true) => {}
            Ok(false) => continue,
            // It stays for those who look into it, and the others go.
            Err(StoreError::Damaged(finding)) => {
                tracing::warn!(finding, "a damaged run is not removed");
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        let removed = history::of_journal(connection, key, id, i64::MAX)?;
        history::add_pruned(connection, key, removed)?;
        for table in ["artifacts", "deliveries", "runs"] {
            connection
                .prepare_cached(&format!("DELETE FROM {table} WHERE journal = ?1"))?
                .execute([id])?;
        }
        events += connection
            .prepare_cached("DELETE FROM events WHERE journal = ?1")?
            .execute([id])? as u64;
        for statement in [
            "DELETE FROM journals WHERE id = ?1",
            "DELETE FROM journal_heads WHERE journal = ?1",
        ] {
            connection.prepare_cached(statement)?.execute([id])?;
        }
        runs += 1;
    }
    Ok((runs, events))
}

fn may_go(connection: &Connection, horizon: Horizon, id: i64) -> Result<bool> {
    let journal = Journal::get(connection, id)?;
    let Some(last) = journal.last_event(connection)? else {
        return Ok(false);
    };
    let ended = runs::state(connection, &journal, last.seq)?.is_some_and(RunState::is_final);
    Ok(ended
        && last.time <= horizon.cutoff
        && !deliveries::is_owed(connection, id)?
        && !is_wanted(connection, id, horizon)?)
}

/// Numbers that were given out stay given out.
fn raise_floors(connection: &Connection) -> Result<()> {
    connection.execute(
        "UPDATE floors SET position = max(position, (SELECT ifnull(max(position), 0) FROM events)), \
         journal = max(journal, (SELECT ifnull(max(id), 0) FROM journals)) WHERE id = 1",
        [],
    )?;
    Ok(())
}

type AgedRow = (i64, windlass_types::Digest, u64);

/// Contents kept as rows that are past their grace: number, digest, length.
fn aged_rows(connection: &Connection, horizon: Horizon) -> Result<Vec<AgedRow>> {
    let mut statement =
        connection.prepare("SELECT id, sha256, length(bytes) FROM blobs WHERE stored_at <= ?1")?;
    let before = horizon.now.before(CONTENT_GRACE).as_millis();
    let rows = statement.query_map([before], |row| {
        Ok((
            row.get(0)?,
            windlass_types::Digest::from_bytes(row.get(1)?),
            row.get(2)?,
        ))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn remove_rows(connection: &Connection, horizon: Horizon) -> Result<u64> {
    let wanted = artifacts::wanted_contents(connection, horizon.now, &BTreeSet::new())?;
    let mut removed = 0;
    for (id, digest, _) in aged_rows(connection, horizon)? {
        if !wanted.contains(&digest) {
            connection
                .prepare_cached("DELETE FROM blobs WHERE id = ?1")?
                .execute([id])?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn aged_files(home: &Home, horizon: Horizon) -> Result<Vec<blob::ContentFile>> {
    let before = horizon.now.before(CONTENT_GRACE);
    let mut aged = Vec::new();
    for file in blob::files(home)? {
        let age = fs::metadata(&file.path)?
            .modified()?
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        if Timestamp::EPOCH.after(age) <= before {
            aged.push(file);
        }
    }
    Ok(aged)
}

fn remove_files(home: &Home, readers: &Readers, horizon: Horizon) -> Result<(u64, u64)> {
    // Alone: nobody finds a file here and relies on it while it is being removed.
    let lock = home.open_lock(&home.blob_lock())?;
    lock.lock()?;
    let wanted = artifacts::wanted_contents(&readers.connect()?, horizon.now, &BTreeSet::new())?;
    blob::remove_unfinished(home)?;
    let (mut removed, mut bytes) = (0, 0);
    for file in aged_files(home, horizon)?
        .into_iter()
        .filter(|file| !wanted.contains(&file.digest))
    {
        bytes += blob::remove_file(&file)?;
        removed += 1;
    }
    Ok((removed, bytes))
}

/// Gives some free pages back to the file system; false when few are left.
fn give_back_pages(session: &mut Session) -> Result<bool> {
    let connection = session.connection();
    let free: u32 = connection.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
    if free <= SPARE_PAGES {
        session.idle();
        return Ok(false);
    }
    let count = (free - SPARE_PAGES).min(PAGES);
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({count})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    drop(rows);
    drop(statement);
    session.after_commit();
    Ok(true)
}
