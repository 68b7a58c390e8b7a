//! Runs: what lists filter by, and the part of a run's record that changes.
//!
//! The fixed part of a record is the journal's first event and its age is the last event;
//! neither is repeated here, so a step that merely happens touches no row of this table.

use rusqlite::{
    Connection, OptionalExtension, Row, params, params_from_iter, types::Value as Column,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use windlass_ports::{RunFilter, RunPage};
use windlass_types::{
    Body, Digest, Event, Principal, Problem, RunId, RunRecord, RunState, Surface, Timestamp,
    TraceId, WaitingOn,
    journal::{OnHeld, RunCreated},
};

use crate::{
    error::{Failure, Result},
    journal::Journal,
    row::{clamp, from_json, to_json},
    seal,
};

const TABLE: &str = "runs";
const SELECT: &str =
    "SELECT journal, kind, state, principal, parent, idempotency_key, live, sum FROM runs";

/// The part of a run's record that events after the first change.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RunLiveV1 {
    /// The last event that was folded in; a journal that ends before it has lost events.
    folded_seq: u64,
    attempts: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waiting_on: Vec<(String, WaitingOn)>,
    #[serde(default)]
    cancel_requested: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    gate_answered: bool,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    output: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    residue: Vec<String>,
    /// What it holds while it is unfinished; the same in every row of a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    holds: Vec<String>,
}

/// A run may return `null`, which is not the same as not having returned.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

struct RunRow {
    journal: i64,
    kind: String,
    state: RunState,
    principal: String,
    parent: Option<String>,
    idempotency_key: Option<String>,
    live: RunLiveV1,
}

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
        idempotency_key: created.idempotency_key.clone(),
        live: RunLiveV1 {
            folded_seq: 1,
            attempts: 0,
            waiting_on: Vec::new(),
            cancel_requested: false,
            gate_answered: false,
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
        let row = RunRow::from_row(row)?;
        last = u64::try_from(row.journal).ok();
        let journal = Journal::get(connection, row.journal)?;
        page.runs.push(row.into_record(connection, &journal)?);
    }
    Ok(page)
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

impl RunRow {
    fn find(connection: &Connection, journal: i64) -> Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT journal, kind, state, principal, parent, idempotency_key, live, sum FROM runs WHERE journal = ?1",
            )?
            .query_row([journal], |row| Ok(Self::from_row(row)))
            .optional()?
            .transpose()
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        let journal: i64 = row.get(0)?;
        let (state, live): (String, String) = (row.get(2)?, row.get(6)?);
        let key = journal.to_string();
        let parsed = Self {
            journal,
            kind: row.get(1)?,
            state: RunState::by_name(&state).ok_or_else(|| {
                Failure::damaged(format!("run number {key} has the unknown state {state:?}"))
            })?,
            principal: row.get(3)?,
            parent: row.get(4)?,
            idempotency_key: row.get(5)?,
            live: from_json(TABLE, &key, &live)?,
        };
        seal::check(TABLE, &key, row.get(7)?, parsed.sum(&live))?;
        Ok(parsed)
    }

    fn check_end(&self, journal: &Journal, last_seq: u64) -> Result<()> {
        if last_seq >= self.live.folded_seq {
            return Ok(());
        }
        let (run_id, folded) = (&journal.run_id, self.live.folded_seq);
        Err(Failure::damaged(format!(
            "journal {run_id} ends at event {last_seq}, but had event {folded}"
        )))
    }

    fn sum(&self, live: &str) -> i64 {
        seal::seal(
            TABLE,
            &[
                &self.journal.to_be_bytes(),
                self.kind.as_bytes(),
                self.state.as_str().as_bytes(),
                self.principal.as_bytes(),
                &seal::optional(self.parent.as_deref()),
                &seal::optional(self.idempotency_key.as_deref()),
                live.as_bytes(),
            ],
        )
    }

    /// A record whose live part is this row's and whose fixed part is blank: what the fold
    /// of one event needs, without reading the input of the run again.
    fn shell(&self, run_id: &RunId) -> RunRecord {
        let created = RunCreated {
            kind: String::new(),
            principal: Principal::system(),
            surface: Surface::Engine,
            parent: None,
            trace_id: TraceId::default(),
            idempotency_key: None,
            config_hash: Digest::ZERO,
            input: Value::Null,
            plan_digest: None,
            confirm_token: None,
            approval: None,
            subject: None,
            title: String::new(),
            holds: Vec::new(),
            on_held: OnHeld::default(),
        };
        let mut record =
            RunRecord::created(run_id.clone(), created, windlass_types::Timestamp::EPOCH);
        self.overlay(&mut record);
        record
    }

    fn overlay(&self, record: &mut RunRecord) {
        let live = &self.live;
        record.state = self.state;
        record.attempts = live.attempts;
        record.waiting_on.clone_from(&live.waiting_on);
        record.cancel_requested = live.cancel_requested;
        record.gate_answered = live.gate_answered;
        record.output.clone_from(&live.output);
        record.problem.clone_from(&live.problem);
        record.residue.clone_from(&live.residue);
        record.holds.clone_from(&live.holds);
    }

    fn into_record(self, connection: &Connection, journal: &Journal) -> Result<RunRecord> {
        let (first, created) = first_event(connection, journal)?;
        let last = journal.last_event(connection)?.ok_or_else(|| {
            Failure::damaged(format!("the events of {} are missing", journal.run_id))
        })?;
        self.check_end(journal, last.seq)?;
        let mut record = RunRecord::created(journal.run_id.clone(), created, first.time);
        self.overlay(&mut record);
        record.last_seq = last.seq;
        record.updated_at = last.time;
        Ok(record)
    }
}

fn live_part(record: &RunRecord) -> RunLiveV1 {
    RunLiveV1 {
        folded_seq: record.last_seq,
        attempts: record.attempts,
        waiting_on: record.waiting_on.clone(),
        cancel_requested: record.cancel_requested,
        gate_answered: record.gate_answered,
        output: record.output.clone(),
        problem: record.problem.clone(),
        residue: record.residue.clone(),
        holds: record.holds.clone(),
    }
}
