//! Removing what is no longer wanted: old ended runs, the beginning of the store's own
//! journals, contents nobody names. In small transactions, so that commits get their turn.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, UNIX_EPOCH},
};

use fs_err as fs;
use rusqlite::{Connection, params};
use windlass_ports::{
    StoreError,
    store::{Expiry, KeptFor, PruneReport},
};
use windlass_types::{Body, Event, RunState, Timestamp, event::ChainHead};

use crate::{
    blob,
    error::{Failure, Result},
    history::{self, SealKey},
    home::Home,
    index::{artifacts, deliveries, endpoints, keys, runs, tokens},
    journal::Journal,
    maintenance::off_thread,
    open::SqliteStore,
    read::Readers,
    session::Session,
    writer::Writer,
};

/// Runs per transaction.
const RUNS: usize = 50;
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
    };
    let old = store
        .readers
        .read(move |connection| old_runs(connection, horizon, None))
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
    loop {
        let removed = writer
            .alone(move |session| {
                session.removing(|connection, key| trim_system_journals(connection, key, horizon))
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
    .await?;
    remove_contents(store, writer, horizon, &mut report).await?;
    let after = writer
        .alone(|session| database_bytes(session.connection()))
        .await?;
    report.bytes += before.saturating_sub(after);
    Ok(report)
}

/// Removes ended runs of kinds that are kept for a time only.
pub(crate) async fn expire(
    store: &SqliteStore,
    kept: Vec<KeptFor>,
    now: Timestamp,
) -> Result<Expiry, StoreError> {
    let mut expiry = Expiry::default();
    for KeptFor { kind, keep } in kept {
        let horizon = Horizon {
            cutoff: now.before(keep),
            now,
        };
        let sought = kind.clone();
        let old = store
            .readers
            .read(move |connection| old_runs(connection, horizon, Some(&sought)))
            .await?;
        if !old.is_empty() {
            let writer = store.writer()?;
            remove_in_chunks(writer, horizon, &old, &mut expiry.removed).await?;
            remove_contents(store, writer, horizon, &mut expiry.removed).await?;
        }
        let oldest = store
            .readers
            .read(move |connection| oldest_end(connection, &kind))
            .await?;
        let due = oldest.map(|ended| ended.after(keep));
        expiry.next = expiry.next.into_iter().chain(due).min();
    }
    Ok(expiry)
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
                session.removing(|connection, key| remove_runs(connection, key, horizon, &chunk))
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
    writer.alone(|session| session.alone(work)).await
}

fn database_bytes(connection: &Connection) -> Result<u64> {
    let pages: u64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let size: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    Ok(pages * size)
}

/// Runs that ended before the cutoff, owe nobody a delivery, and whose parent, if it is
/// still here, goes with them; of one kind, or of all.
fn old_runs(connection: &Connection, horizon: Horizon, kind: Option<&str>) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT runs.journal, journals.run_id, runs.parent FROM runs JOIN journals ON journals.id = runs.journal \
         WHERE runs.state IN ({}) AND {} AND (SELECT time FROM events WHERE events.journal = runs.journal \
         ORDER BY seq DESC LIMIT 1) <= ?1 AND NOT EXISTS \
         (SELECT 1 FROM deliveries WHERE deliveries.journal = runs.journal AND {}) ORDER BY runs.journal",
        final_states(),
        // Without a kind the second parameter is NULL, and every run is meant.
        if kind.is_some() {
            "runs.kind = ?2"
        } else {
            "?2 IS NULL"
        },
        deliveries::GOES_OUT
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params![horizon.cutoff.as_millis(), kind])?;
    let mut old: BTreeMap<String, (i64, Option<String>)> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        old.insert(row.get(1)?, (row.get(0)?, row.get(2)?));
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
    for journal in system_journals(connection)? {
        report.events += removable_prefix(connection, &journal, horizon, &gone, usize::MAX)?.1;
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
        let journal = Journal::get(connection, id)?;
        // Looked at before the lock: it may have been asked to roll back or to deliver since.
        let Some(last) = journal.last_event(connection)? else {
            continue;
        };
        let ended = runs::state(connection, &journal, last.seq)?.is_some_and(RunState::is_final);
        if !ended || last.time > horizon.cutoff || deliveries::is_owed(connection, id)? {
            continue;
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
        connection
            .prepare_cached("DELETE FROM journals WHERE id = ?1")?
            .execute([id])?;
        runs += 1;
    }
    Ok((runs, events))
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

fn system_journals(connection: &Connection) -> Result<Vec<Journal>> {
    let mut statement = connection
        .prepare("SELECT id FROM journals WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.journal = journals.id)")?;
    let ids: Vec<i64> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    ids.into_iter()
        .map(|id| Journal::get(connection, id))
        .collect()
}

fn trim_system_journals(connection: &Connection, key: &SealKey, horizon: Horizon) -> Result<u64> {
    raise_floors(connection)?;
    for mut journal in system_journals(connection)? {
        let (anchor, count) =
            removable_prefix(connection, &journal, horizon, &BTreeSet::new(), EVENTS)?;
        if count > 0 {
            let through = i64::try_from(anchor.seq).unwrap_or(i64::MAX);
            let removed = history::of_journal(connection, key, journal.id, through)?;
            history::add_pruned(connection, key, removed)?;
            journal.set_anchor(connection, anchor)?;
            connection.execute(
                "DELETE FROM events WHERE journal = ?1 AND seq <= ?2",
                params![journal.id, anchor.seq],
            )?;
            return Ok(count);
        }
    }
    Ok(0)
}

/// How much of the journal's beginning is old and holds nothing up any more: the chain can
/// only be cut at its beginning, and only where the next event's predecessor is remembered.
fn removable_prefix(
    connection: &Connection,
    journal: &Journal,
    horizon: Horizon,
    gone: &BTreeSet<i64>,
    limit: usize,
) -> Result<(ChainHead, u64)> {
    let mut anchor = journal.anchor;
    let mut count = 0;
    while count < limit as u64 {
        let page = journal.events_after(connection, anchor.seq, EVENTS)?;
        if page.is_empty() {
            break;
        }
        for event in page {
            let body = Body::decode(&event.event_type, &event.payload).map_err(|error| {
                Failure::damaged(format!("event {} of {}: {error}", event.seq, event.run_id))
            })?;
            let is_needed = match body {
                Some(body) => is_held(connection, journal, &event, &body, gone)?,
                None => false,
            };
            if event.time > horizon.cutoff || is_needed {
                return Ok((anchor, count));
            }
            anchor = ChainHead {
                seq: event.seq,
                hash: event.hash,
            };
            count += 1;
        }
    }
    Ok((anchor, count))
}

/// Whether something derived still rests on the event.
fn is_held(
    connection: &Connection,
    journal: &Journal,
    event: &Event,
    body: &Body,
    gone: &BTreeSet<i64>,
) -> Result<bool> {
    match body {
        Body::KeyCreated(_)
        | Body::KeyRevoked(_)
        | Body::WebhookSecretSet(_)
        | Body::WebhookSecretSettled(_)
        | Body::LossAccepted(_) => Ok(true),
        Body::RunImported(imported) => has_journal(connection, imported.run_id.as_str()),
        Body::KeyUsed(used) => keys::last_used(connection, &used.key_id, event.time),
        Body::EndpointDisabled(_) => endpoints::rests_on(connection, journal.id, event.seq),
        Body::DeliveryAttempted(attempted) => {
            deliveries::is_kept(connection, &attempted.delivery_id, gone)
        }
        Body::DeliveryRequeued(requeued) => {
            deliveries::is_kept(connection, &requeued.delivery_id, gone)
        }
        _ => Ok(false),
    }
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
    Ok(true)
}
