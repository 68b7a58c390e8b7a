//! Verifying everything: the file, every chain, every index against the journals it is
//! derived from, every content against its digest.

use std::collections::BTreeMap;

use fs_err as fs;
use rusqlite::{Connection, types::ValueRef};
use windlass_ports::{StoreError, store::CheckReport};
use windlass_types::{Body, Digest, RunRecord, Timestamp, journal::STORE_JOURNAL};

use crate::{
    blob,
    error::{Failure, Result},
    heads,
    history::{self, SealKey},
    home::Home,
    index::{DERIVED_TABLES, artifacts, runs},
    journal::Journal,
    mark::{self, Mark},
    migrate, rebuild,
    row::parse_id,
};

const PAGE: usize = 1000;
/// A badly damaged store has more to say than anyone reads.
const MAX_FINDINGS: usize = 200;

/// Checks the store. Damage is a finding; an error means that the check could not be made.
pub(crate) fn check(home: &Home, connection: &Connection, key: &SealKey) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    // Before the snapshot: what the mark covers is then in it.
    let mark = mark::read_mark(home, key)?;
    let shortfall = note(&mut report, mark::shortfall(home, connection, key, mark))?;
    report.findings.extend(shortfall.flatten());
    let snapshot = connection.unchecked_transaction()?;
    let in_file = note(&mut report, check_file(&snapshot))?.unwrap_or_default();
    report.findings.extend(in_file);
    let journals = note(&mut report, Journal::all(&snapshot))?.unwrap_or_default();
    for journal in &journals {
        report.events += note(&mut report, check_journal(&snapshot, journal))?.unwrap_or(0);
        report.journals += 1;
    }
    let stored = note(&mut report, count_events(&snapshot))?.unwrap_or(0);
    if report.findings.is_empty() && stored != report.events {
        let journaled = report.events;
        report.findings.push(format!(
            "{stored} events are stored, but the journals contain {journaled}"
        ));
    }
    if let Ok(mark) = mark {
        let in_history = note(&mut report, check_history(&snapshot, key, &mark))?.flatten();
        report.findings.extend(in_history);
    }
    let in_heads = note(&mut report, heads::findings(&snapshot, key))?.unwrap_or_default();
    report.findings.extend(in_heads);
    report.notes = note(&mut report, accepted_losses(&snapshot))?.unwrap_or_default();
    let in_indexes = note(&mut report, compare_indexes(&snapshot, &journals))?.unwrap_or_default();
    report.findings.extend(in_indexes);
    check_contents(home, &snapshot, &mut report)?;
    report.findings.dedup();
    report.findings.truncate(MAX_FINDINGS);
    Ok(report)
}

/// What is there and what was pruned must add up to what was sealed.
fn check_history(connection: &Connection, key: &SealKey, mark: &Mark) -> Result<Option<String>> {
    let Some(pruned) = history::pruned(connection, key)? else {
        return Ok(None);
    };
    let there = history::stretch(connection, key, -1, mark.position)?.tally;
    let found = there.plus(pruned);
    let sealed = mark.tally;
    Ok(match found.events {
        _ if found == sealed => None,
        events if events < sealed.events => Some(format!(
            "{} events that were sealed are gone, and prune did not remove them",
            sealed.events - events
        )),
        events if events > sealed.events => Some(format!(
            "{} events were inserted after the journal was sealed",
            events - sealed.events
        )),
        _ => Some("events were altered after they were sealed".to_owned()),
    })
}

/// Losses that an operator went on from.
fn accepted_losses(connection: &Connection) -> Result<Vec<String>> {
    let Some(journal) = Journal::find(connection, &parse_id(STORE_JOURNAL)?)? else {
        return Ok(Vec::new());
    };
    let events = journal.events_after(connection, 0, MAX_FINDINGS)?;
    let mut losses = Vec::new();
    for event in events {
        let body = Body::decode(&event.event_type, &event.payload).map_err(|error| {
            Failure::damaged(format!("event {} of {STORE_JOURNAL}: {error}", event.seq))
        })?;
        if let Some(Body::LossAccepted(loss)) = body {
            losses.push(format!(
                "accepted by {} on {}: {}",
                loss.principal, event.time, loss.shortfall
            ));
        }
    }
    Ok(losses)
}

/// Turns damage into a finding.
fn note<T>(report: &mut CheckReport, result: Result<T>) -> Result<Option<T>> {
    match result.map_err(StoreError::from) {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::Damaged(what)) => {
            report.findings.push(what);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn check_file(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check(50)")?;
    let lines: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(lines
        .into_iter()
        .filter(|line| line != "ok")
        .map(|line| format!("windlass.db: {line}"))
        .collect())
}

fn count_events(connection: &Connection) -> Result<u64> {
    Ok(
        connection.query_row("SELECT count(*) FROM events NOT INDEXED", [], |row| {
            row.get(0)
        })?,
    )
}

/// Follows the chain of a journal and folds it; the fold must be what the index says.
fn check_journal(connection: &Connection, journal: &Journal) -> Result<u64> {
    let mut after = journal.anchor.seq;
    let mut folded: Option<RunRecord> = None;
    let mut count = 0;
    loop {
        let page = journal.events_after(connection, after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        count += page.len() as u64;
        for event in page {
            let body = Body::decode(&event.event_type, &event.payload).map_err(|error| {
                Failure::damaged(format!(
                    "event {} of {} cannot be read: {error}",
                    event.seq, event.run_id
                ))
            })?;
            match (&mut folded, body) {
                (None, Some(Body::RunCreated(created))) if event.seq == 1 => {
                    folded = Some(RunRecord::created(event.run_id, created, event.time));
                }
                (Some(record), body) => record.apply(event.seq, event.time, body.as_ref()),
                (None, _) => {}
            }
        }
    }
    if count == 0 && journal.anchor.seq == 0 {
        return Err(Failure::damaged(format!(
            "the events of {} are missing",
            journal.run_id
        )));
    }
    if runs::load(connection, &journal.run_id)? != folded {
        return Err(Failure::damaged(format!(
            "the run row of {} is not what its journal says",
            journal.run_id
        )));
    }
    Ok(count)
}

/// Derives every index again, in a scratch database, and compares.
fn compare_indexes(connection: &Connection, journals: &[Journal]) -> Result<Vec<String>> {
    // An empty name: a private file that SQLite removes, kept in memory while it is small.
    let mut scratch = Connection::open("")?;
    migrate::migrate(&mut scratch, |_| Ok(()))?;
    scratch.execute_batch("BEGIN")?;
    for journal in journals {
        journal.insert(&scratch)?;
    }
    rebuild::derive_all(connection, &scratch)?;
    let mut differences = Vec::new();
    for (table, key) in DERIVED_TABLES {
        let mut derived = rows_of(&scratch, table, key)?;
        for (name, stored) in rows_of(connection, table, key)? {
            match derived.remove(&name) {
                Some(expected) if expected == stored => {}
                // Written by an older version, which says the same.
                Some(_) if *table == runs::TABLE && runs::agree(connection, &scratch, &name)? => {}
                Some(_) => differences.push(format!(
                    "row {name} of {table} is not what the journals say"
                )),
                // The mark of a token outlives its run.
                None if *table == "tokens" => {}
                None => differences.push(format!("row {name} of {table} comes from no journal")),
            }
        }
        differences.extend(
            derived
                .into_keys()
                .map(|name| format!("row {name} of {table} is missing")),
        );
    }
    Ok(differences)
}

/// The rows of a table by their key, as digests.
fn rows_of(connection: &Connection, table: &str, key: &str) -> Result<BTreeMap<String, Digest>> {
    let mut statement =
        connection.prepare(&format!("SELECT concat_ws('/', {key}), * FROM {table}"))?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let mut cells = Vec::with_capacity(columns);
        for column in 1..columns {
            cells.push(match row.get_ref(column)? {
                ValueRef::Null => b"n".to_vec(),
                ValueRef::Integer(number) => [b"i", &number.to_be_bytes()[..]].concat(),
                ValueRef::Real(number) => [b"r", &number.to_be_bytes()[..]].concat(),
                ValueRef::Text(text) => [b"t", text].concat(),
                ValueRef::Blob(bytes) => [b"b", bytes].concat(),
            });
        }
        let cells: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
        found.insert(row.get(0)?, Digest::of_parts(&cells));
    }
    Ok(found)
}

/// Every stored content has its digest, and every artifact its content.
fn check_contents(home: &Home, connection: &Connection, report: &mut CheckReport) -> Result<()> {
    // Contents that have expired may be gone; nobody here knows what time it is, so only
    // those without an end are missed.
    let end_of_time = Timestamp::from_millis(i64::MAX);
    let mut wanted = note(
        report,
        artifacts::wanted_contents(connection, end_of_time, &Default::default()),
    )?
    .unwrap_or_default();
    let inline = note(report, inline_contents(connection))?.unwrap_or_default();
    for (digest, actual) in inline {
        wanted.remove(&digest);
        compare_content(report, digest, actual);
    }
    for file in blob::files(home)? {
        wanted.remove(&file.digest);
        compare_content(report, file.digest, Digest::of(&fs::read(&file.path)?));
    }
    report.findings.extend(
        wanted
            .into_iter()
            .map(|digest| format!("content {digest} of an artifact is missing")),
    );
    Ok(())
}

fn inline_contents(connection: &Connection) -> Result<Vec<(Digest, Digest)>> {
    let mut statement = connection.prepare("SELECT sha256, bytes FROM blobs")?;
    let mut rows = statement.query([])?;
    let mut contents = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        contents.push((Digest::from_bytes(row.get(0)?), Digest::of(bytes)));
    }
    Ok(contents)
}

fn compare_content(report: &mut CheckReport, digest: Digest, actual: Digest) {
    report.blobs += 1;
    if actual != digest {
        report
            .findings
            .push(format!("content {digest} was altered"));
    }
}
