//! Runs: what lists filter by, and the part of a run's record that changes.
//!
//! The fixed part of a record is the journal's first event and its age is the last event;
//! neither is repeated here, so a step that merely happens touches no row of this table.

mod row;

use rusqlite::{Connection, OptionalExtension, params, params_from_iter, types::Value as Column};
use windlass_ports::{RunFilter, RunPage, StoreError};
use windlass_types::{
    Body, Digest, Event, RunId, RunRecord, RunState, Timestamp, code,
    event::ChainHead,
    journal::{RunCreated, RunDamaged},
};

use crate::{
    error::{Failure, Result},
    journal::Journal,
    row::{clamp, to_json},
};

use row::{RunLiveV1, RunRow, gate_of_several, live_part};

pub(crate) const TABLE: &str = "runs";
const SELECT: &str =
    "SELECT journal, kind, state, principal, parent, idempotency_key, live, sum FROM runs";

/// Whether the event changes a run's record beyond its age.
pub(crate) const fn is_folded(body: &Body) -> bool {
    matches!(
        body,
        Body::RunStarted(_)
            | Body::RunUnwinding(_)
            | Body::RunCompleted(_)
            | Body::RunFailed(_)
            | Body::RunCancelled(_)
            | Body::RunRolledBack(_)
            | Body::RunHeld(_)
            | Body::TimerStarted(_)
            | Body::TimerFired(_)
            | Body::WaitStarted(_)
            | Body::WaitCompleted(_)
            | Body::ChildStarted(_)
            | Body::ChildCompleted(_)
            | Body::SignalReceived(_)
    )
}

/// The row right after `run.created`, and the record it stands for, whose fixed part is blank.
pub(crate) fn create(
    connection: &Connection,
    journal: &Journal,
    created: &RunCreated,
    imported: bool,
) -> Result<RunRecord> {
    let row = RunRow {
        journal: journal.id,
        kind: created.kind.clone(),
        state: RunState::Queued,
        principal: created.principal.id(),
        parent: created
            .parent
            .as_ref()
            .map(|parent| parent.run_id.as_str().to_owned()),
        // The call it belongs to was made elsewhere.
        idempotency_key: created.idempotency_key.clone().filter(|_| !imported),
        live: RunLiveV1 {
            folded_seq: 1,
            attempts: 0,
            waiting_on: Vec::new(),
            cancel_requested: false,
            gate_answered: false,
            gate_approved_by: Vec::new(),
            gate_approvers: gate_of_several(created.approval.as_ref()),
            output: None,
            problem: None,
            residue: Vec::new(),
            holds: created.holds.clone(),
        },
    };
    let live = to_json(&row.live)?;
    connection
        .prepare_cached(
            "INSERT INTO runs (journal, kind, state, principal, parent, idempotency_key, live, sum) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            row.journal,
            row.kind,
            row.state.as_str(),
            row.principal,
            row.parent,
            row.idempotency_key,
            live,
            row.sum(&live)
        ])?;
    Ok(row.shell(&journal.run_id))
}

/// Takes the idempotency keys from runs that were imported before they were without.
pub(crate) fn release_imported_keys(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare(
        "SELECT runs.journal FROM runs JOIN journals ON journals.id = runs.journal \
         WHERE journals.imported_seq > 0 AND runs.idempotency_key IS NOT NULL",
    )?;
    let imported: Vec<i64> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in imported {
        let Some(mut row) = RunRow::find(connection, id)? else {
            continue;
        };
        row.idempotency_key = None;
        let live = to_json(&row.live)?;
        connection
            .prepare_cached(
                "UPDATE runs SET idempotency_key = NULL, live = ?2, sum = ?3 WHERE journal = ?1",
            )?
            .execute(params![id, live, row.sum(&live)])?;
    }
    Ok(())
}

/// Folds one more event in. The state before, and the record after, whose fixed part is blank;
/// `None` when the journal is not a run's.
pub(crate) fn fold(
    connection: &Connection,
    journal: &Journal,
    event: &Event,
    body: &Body,
) -> Result<Option<(RunState, RunRecord)>> {
    let Some(mut row) = RunRow::find(connection, journal.id)? else {
        return Ok(None);
    };
    let mut record = row.shell(&journal.run_id);
    record.apply(event.seq, event.time, Some(body));
    let (state_before, state) = (row.state, record.state);
    row.state = state;
    row.live = live_part(&record);
    let live = to_json(&row.live)?;
    let sum = row.sum(&live);
    // Naming the state only when it changes leaves the index over it alone.
    if state == state_before {
        connection
            .prepare_cached("UPDATE runs SET live = ?2, sum = ?3 WHERE journal = ?1")?
            .execute(params![row.journal, live, sum])?;
    } else {
        connection
            .prepare_cached("UPDATE runs SET live = ?2, sum = ?3, state = ?4 WHERE journal = ?1")?
            .execute(params![row.journal, live, sum, state.as_str()])?;
    }
    Ok(Some((state_before, record)))
}

/// Ends an unfinished run whose journal cannot be read any more. Only its row says so: nothing can
/// be built on the journal. Returns the journal if the run was unfinished.
pub(crate) fn fail_damaged(
    connection: &Connection,
    damaged: &RunDamaged,
) -> Result<Option<Journal>> {
    let id: Option<i64> = connection
        .prepare_cached("SELECT id FROM journals WHERE run_id = ?1")?
        .query_row([damaged.run_id.as_str()], |row| row.get(0))
        .optional()?;
    let Some(id) = id else {
        return Ok(None);
    };
    let Some(mut row) = RunRow::unchecked(connection, id)? else {
        return Ok(None);
    };
    let folded_seq = row.live.folded_seq;
    let mut record = row.shell(&damaged.run_id);
    if record.state.is_final() {
        return Ok(None);
    }
    record.fail_damaged(&damaged.finding);
    row.state = record.state;
    row.live = RunLiveV1 {
        folded_seq,
        ..live_part(&record)
    };
    let live = to_json(&row.live)?;
    connection
        .prepare_cached("UPDATE runs SET live = ?2, sum = ?3, state = ?4 WHERE journal = ?1")?
        .execute(params![id, live, row.sum(&live), row.state.as_str()])?;
    // Its own row may be damaged, too.
    Ok(Some(Journal {
        id,
        run_id: damaged.run_id.clone(),
        anchor: ChainHead::default(),
        imported_seq: 0,
    }))
}

/// The names the run holds while it is unfinished.
pub(crate) fn names_held(connection: &Connection, journal: &Journal) -> Result<Vec<String>> {
    let row = RunRow::find(connection, journal.id)?;
    Ok(row.map(|row| row.live.holds).unwrap_or_default())
}

pub(crate) fn exists(connection: &Connection, journal: &Journal) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM runs WHERE journal = ?1)")?
        .query_row([journal.id], |row| row.get(0))?)
}

/// Where the journal's run stands; `None` when the journal is not a run's. `last_seq` is
/// where the journal ends, which must not be before something the run's state rests on.
pub(crate) fn state(
    connection: &Connection,
    journal: &Journal,
    last_seq: u64,
) -> Result<Option<RunState>> {
    let Some(row) = RunRow::find(connection, journal.id)? else {
        return Ok(None);
    };
    row.check_end(journal, last_seq)?;
    Ok(Some(row.state))
}

/// The same without a look at where the journal ends.
pub(crate) fn state_of(connection: &Connection, journal: &Journal) -> Result<Option<RunState>> {
    Ok(RunRow::find(connection, journal.id)?.map(|row| row.state))
}

/// The run that holds an idempotency key, and what the key is bound to.
pub(crate) fn holder_of_key(
    connection: &Connection,
    principal: &str,
    kind: &str,
    key: &str,
) -> Result<Option<(RunId, Digest)>> {
    let journal: Option<i64> = connection
        .prepare_cached(
            "SELECT journal FROM runs WHERE principal = ?1 AND kind = ?2 AND idempotency_key = ?3",
        )?
        .query_row([principal, kind, key], |row| row.get(0))
        .optional()?;
    let Some(journal) = journal else {
        return Ok(None);
    };
    let journal = Journal::get(connection, journal)?;
    let (_, created) = first_event(connection, &journal)?;
    Ok(Some((journal.run_id, created.config_hash)))
}

/// How many runs of a kind a principal has, those unfinished or those created after a time,
/// and when the oldest of them was created.
pub(crate) fn count(
    connection: &Connection,
    principal: &str,
    kind: &str,
    after: Option<Timestamp>,
) -> Result<(u64, Option<Timestamp>)> {
    let condition = match after {
        Some(_) => "events.time > ?3".to_owned(),
        None => format!("?3 IS NULL AND runs.state IN ({})", going_on()),
    };
    let sql = format!(
        "SELECT count(*), min(events.time) FROM runs JOIN events ON events.journal = runs.journal \
         AND events.seq = 1 WHERE runs.kind = ?1 AND runs.principal = ?2 AND {condition}"
    );
    let (count, oldest): (u64, Option<i64>) = connection.prepare_cached(&sql)?.query_row(
        params![kind, principal, after.map(Timestamp::as_millis)],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok((count, oldest.map(Timestamp::from_millis)))
}

/// The states of runs that continue by themselves, as a SQL list.
fn going_on() -> String {
    let names: Vec<String> = RunState::ALL
        .into_iter()
        .filter(|state| !state.is_final() && *state != RunState::Held)
        .map(|state| format!("'{}'", state.as_str()))
        .collect();
    names.join(", ")
}

/// A run's record.
pub(crate) fn load(connection: &Connection, run_id: &RunId) -> Result<Option<RunRecord>> {
    let Some(journal) = Journal::find(connection, run_id)? else {
        return Ok(None);
    };
    RunRow::find(connection, journal.id)?
        .map(|row| row.into_record(connection, &journal))
        .transpose()
}

/// The same, and what is left to say about a run that has failed because it is damaged.
pub(crate) fn load_damaged(connection: &Connection, run_id: &RunId) -> Result<Option<RunRecord>> {
    let finding = match load(connection, run_id).map_err(StoreError::from) {
        Err(StoreError::Damaged(finding)) => finding,
        loaded => return Ok(loaded?),
    };
    let Some(journal) = Journal::find(connection, run_id)? else {
        return Ok(None);
    };
    let failed = RunRow::find(connection, journal.id)?.filter(|row| {
        let problem = row.live.problem.as_ref();
        problem.is_some_and(|problem| problem.code() == &code::STORE_DAMAGED)
    });
    match failed {
        Some(row) => Ok(Some(row.into_damaged(run_id, &finding))),
        None => Err(Failure::damaged(finding)),
    }
}

/// A page of records, newest first.
pub(crate) fn page(connection: &Connection, filter: &RunFilter) -> Result<RunPage> {
    let mut conditions = Vec::new();
    let mut values: Vec<Column> = Vec::new();
    if let Some(kind) = &filter.kind {
        values.push(Column::from(kind.clone()));
        conditions.push(format!("kind = ?{}", values.len()));
    }
    if let Some(principal) = &filter.principal {
        let or_waiting = match filter.or_waiting {
            true => " OR state IN ('queued', 'waiting')",
            false => "",
        };
        values.push(Column::from(principal.clone()));
        let number = values.len();
        conditions.push(format!("(principal = ?{number}{or_waiting})"));
    }
    if let Some(parent) = &filter.parent {
        values.push(Column::from(parent.as_str().to_owned()));
        conditions.push(format!("parent = ?{}", values.len()));
    }
    if !filter.states.is_empty() {
        let names: Vec<String> = filter
            .states
            .iter()
            .map(|state| format!("'{}'", state.as_str()))
            .collect();
        conditions.push(format!("state IN ({})", names.join(", ")));
    }
    if let Some(before) = filter.before {
        values.push(Column::from(i64::try_from(before).unwrap_or(i64::MAX)));
        conditions.push(format!("journal < ?{}", values.len()));
    }
    // One more than asked for, to know whether there is a next page.
    values.push(Column::from(clamp(filter.limit).saturating_add(1)));
    let filtered = if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    };
    let sql = format!(
        "{SELECT}{filtered} ORDER BY journal DESC LIMIT ?{}",
        values.len()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut page = RunPage::default();
    let mut last = None;
    while let Some(row) = rows.next()? {
        if page.runs.len() == filter.limit {
            page.next = last;
            break;
        }
        let id: i64 = row.get(0)?;
        last = u64::try_from(id).ok();
        let record = RunRow::from_row(row).and_then(|row| {
            let journal = Journal::get(connection, id)?;
            row.into_record(connection, &journal)
        });
        match record.map_err(StoreError::from) {
            Ok(record) => page.runs.push(record),
            // One damaged run does not hide the others.
            Err(StoreError::Damaged(finding)) => {
                page.runs.extend(damaged_record(connection, id, &finding)?);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(page)
}

/// What is left to say about a run whose row or journal is damaged; nothing if not even its name
/// is known.
fn damaged_record(connection: &Connection, id: i64, finding: &str) -> Result<Option<RunRecord>> {
    let name: Option<String> = connection
        .prepare_cached("SELECT run_id FROM journals WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(run_id) = name.and_then(|name| name.parse().ok()) else {
        return Ok(None);
    };
    let row = RunRow::unchecked(connection, id)?;
    Ok(row.map(|row| row.into_damaged(&run_id, finding)))
}

/// Whether two stores have rows of a run that say the same, however they are written.
pub(crate) fn agree(one: &Connection, other: &Connection, journal: &str) -> Result<bool> {
    let Ok(journal) = journal.parse() else {
        return Ok(false);
    };
    let (one, other) = (RunRow::find(one, journal), RunRow::find(other, journal));
    // A row that cannot be read agrees with none.
    Ok(matches!((one, other), (Ok(Some(one)), Ok(Some(other))) if one == other))
}

/// How many runs continue by themselves.
pub(crate) fn count_unfinished(connection: &Connection) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM runs WHERE state IN ({})", going_on());
    Ok(connection
        .prepare_cached(&sql)?
        .query_row([], |row| row.get(0))?)
}

/// Runs that continue by themselves, oldest first.
pub(crate) fn unfinished(connection: &Connection) -> Result<Vec<RunId>> {
    ids_in(connection, &going_on())
}

/// Those of them that have begun.
pub(crate) fn begun(connection: &Connection) -> Result<Vec<RunId>> {
    ids_in(connection, "'running', 'waiting', 'unwinding'")
}

fn ids_in(connection: &Connection, states: &str) -> Result<Vec<RunId>> {
    let sql = format!("SELECT journal FROM runs WHERE state IN ({states}) ORDER BY journal");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        runs.push(Journal::get(connection, row.get(0)?)?.run_id);
    }
    Ok(runs)
}

fn first_event(connection: &Connection, journal: &Journal) -> Result<(Event, RunCreated)> {
    let event = journal.event_at(connection, 1)?.ok_or_else(|| {
        Failure::damaged(format!("the first event of {} is missing", journal.run_id))
    })?;
    let created = event.payload.to().map_err(|error| {
        Failure::damaged(format!("the first event of {}: {error}", journal.run_id))
    })?;
    Ok((event, created))
}
