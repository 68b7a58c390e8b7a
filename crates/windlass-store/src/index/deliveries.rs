//! Webhook deliveries and their attempts.
//!
//! A delivery that came with an imported run is dead from the start: the home it came from
//! has delivered it or given up. It can still be asked for again by hand.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter, types::Value};
use serde::{Deserialize, Serialize};
use windlass_ports::{AttemptRecord, DeliveryFilter, DeliveryRecord, DeliveryState};
use windlass_types::{
    DeliveryId, RunId, Timestamp,
    journal::{DeliveryAttempted, DeliveryRequeued, DeliveryVerdict, WebhookDelivery},
};

use crate::{
    error::{Failure, Result},
    journal::Journal,
    row::{clamp, from_json, parse_id, to_json},
    seal,
};

const TABLE: &str = "deliveries";
const ATTEMPTS: &str = "attempts";

/// Pending, and its receiver accepts deliveries or a replay was requested. The table names a
/// receiver as `endpoints::place` does.
pub(crate) const GOES_OUT: &str = "deliveries.state = 'pending' AND (deliveries.forced = 1 OR NOT EXISTS \
     (SELECT 1 FROM disabled_endpoints WHERE disabled_endpoints.url IN (deliveries.url, \
     ifnull(json_extract(deliveries.record, '$.secret_name'), '') || ' ' || deliveries.url)))";

#[derive(Serialize, Deserialize)]
struct DeliveryV1 {
    run_id: RunId,
    event: String,
    body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_name: Option<String>,
    attempts: u32,
    created_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct AttemptV1 {
    time: Timestamp,
    attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

struct DeliveryRow {
    id: String,
    journal: i64,
    url: String,
    state: DeliveryState,
    due_at: i64,
    forced: bool,
    record: DeliveryV1,
}

const SELECT: &str = "SELECT id, journal, url, state, due_at, forced, record, sum FROM deliveries";

pub(crate) fn enqueue(
    connection: &Connection,
    journal: &Journal,
    at: Timestamp,
    delivery: &WebhookDelivery,
    imported: bool,
) -> Result<()> {
    let row = DeliveryRow {
        id: delivery.id.as_str().to_owned(),
        journal: journal.id,
        url: delivery.url.clone(),
        state: if imported {
            DeliveryState::Dead
        } else {
            DeliveryState::Pending
        },
        due_at: at.as_millis(),
        forced: false,
        record: DeliveryV1 {
            run_id: journal.run_id.clone(),
            event: delivery.event.clone(),
            body: delivery.body.clone(),
            secret_name: delivery.secret_name.clone(),
            attempts: 0,
            created_at: at,
        },
    };
    // The first to use an id keeps it: a second run (an imported one, say) cannot take it over.
    row.write(
        connection,
        "INSERT INTO deliveries (id, journal, url, state, due_at, forced, record, sum) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
    )
}

pub(crate) fn attempt(
    connection: &Connection,
    position: i64,
    at: Timestamp,
    attempted: &DeliveryAttempted,
) -> Result<()> {
    let Some(mut row) = DeliveryRow::find(connection, &attempted.delivery_id)? else {
        return Ok(());
    };
    row.record.attempts = row.record.attempts.saturating_add(1);
    match attempted.verdict {
        DeliveryVerdict::Delivered => row.state = DeliveryState::Delivered,
        DeliveryVerdict::Retry { due_at } => {
            row.state = DeliveryState::Pending;
            row.due_at = due_at.as_millis();
        }
        DeliveryVerdict::Dead => row.state = DeliveryState::Dead,
    }
    row.update(connection)?;
    let record = to_json(&AttemptV1 {
        time: at,
        attempt: attempted.attempt,
        status: attempted.status,
        error: attempted.error.clone(),
        duration_ms: attempted.duration_ms,
        address: attempted.address.clone(),
        answer: attempted.answer.clone(),
    })?;
    let sum = attempt_sum(&row.id, position, &record);
    connection
        .prepare_cached(
            "INSERT INTO attempts (delivery, position, record, sum) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![row.id, position, record, sum])?;
    Ok(())
}

/// Starts another round.
pub(crate) fn requeue(connection: &Connection, requeued: &DeliveryRequeued) -> Result<()> {
    let Some(mut row) = DeliveryRow::find(connection, &requeued.delivery_id)? else {
        return Ok(());
    };
    row.state = DeliveryState::Pending;
    row.due_at = requeued.due_at.as_millis();
    row.forced = true;
    row.record.attempts = 0;
    row.update(connection)
}

/// Whether the delivery is here and its run is not among those that go.
pub(crate) fn is_kept(
    connection: &Connection,
    delivery: &DeliveryId,
    gone: &BTreeSet<i64>,
) -> Result<bool> {
    Ok(DeliveryRow::find(connection, delivery)?.is_some_and(|row| !gone.contains(&row.journal)))
}

/// Deliveries that match, oldest due first.
pub(crate) fn list(
    connection: &Connection,
    filter: &DeliveryFilter,
) -> Result<Vec<DeliveryRecord>> {
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    if let Some(state) = filter.state {
        values.push(Value::from(state.as_str().to_owned()));
        conditions.push(format!("state = ?{}", values.len()));
    }
    if let Some(run_id) = &filter.run_id {
        let Some(journal) = Journal::find(connection, run_id)? else {
            return Ok(Vec::new());
        };
        values.push(Value::from(journal.id));
        conditions.push(format!("journal = ?{}", values.len()));
    }
    if let Some(due_by) = filter.due_by {
        values.push(Value::from(due_by.as_millis()));
        conditions.push(format!("due_at <= ?{} AND {GOES_OUT}", values.len()));
    }
    values.push(Value::from(clamp(filter.limit)));
    let filtered = if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    };
    let sql = format!(
        "{SELECT}{filtered} ORDER BY due_at, id LIMIT ?{}",
        values.len()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut deliveries = Vec::new();
    while let Some(row) = rows.next()? {
        deliveries.push(DeliveryRow::from_row(row)?.into_record()?);
    }
    Ok(deliveries)
}

/// Whether a journal's run has a pending delivery.
pub(crate) fn is_owed(connection: &Connection, journal: i64) -> Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.journal = ?1 AND {GOES_OUT})"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row([journal], |row| row.get(0))?)
}

/// When the next pending delivery to a living receiver is due.
pub(crate) fn next_due(connection: &Connection) -> Result<Option<Timestamp>> {
    let sql = format!("SELECT due_at FROM deliveries WHERE {GOES_OUT} ORDER BY due_at LIMIT 1");
    let due: Option<i64> = connection
        .prepare_cached(&sql)?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(due.map(Timestamp::from_millis))
}

/// The attempts of a delivery, oldest first.
pub(crate) fn attempts(
    connection: &Connection,
    delivery: &DeliveryId,
) -> Result<Vec<AttemptRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT position, record, sum FROM attempts WHERE delivery = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([delivery.as_str()])?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next()? {
        let (position, record, sum): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        seal::check(
            ATTEMPTS,
            delivery.as_str(),
            sum,
            attempt_sum(delivery.as_str(), position, &record),
        )?;
        let attempt: AttemptV1 = from_json(ATTEMPTS, delivery.as_str(), &record)?;
        attempts.push(AttemptRecord {
            time: attempt.time,
            attempt: attempt.attempt,
            status: attempt.status,
            error: attempt.error,
            duration_ms: attempt.duration_ms,
            address: attempt.address,
            answer: attempt.answer,
        });
    }
    Ok(attempts)
}

fn attempt_sum(delivery: &str, position: i64, record: &str) -> i64 {
    seal::seal(
        ATTEMPTS,
        &[
            delivery.as_bytes(),
            &position.to_be_bytes(),
            record.as_bytes(),
        ],
    )
}

impl DeliveryRow {
    fn find(connection: &Connection, delivery: &DeliveryId) -> Result<Option<Self>> {
        let sql = format!("{SELECT} WHERE id = ?1");
        connection
            .prepare_cached(&sql)?
            .query_row([delivery.as_str()], |row| Ok(Self::from_row(row)))
            .optional()?
            .transpose()
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        let (id, state, record): (String, String, String) = (row.get(0)?, row.get(3)?, row.get(6)?);
        let state = [
            DeliveryState::Pending,
            DeliveryState::Delivered,
            DeliveryState::Dead,
        ]
        .into_iter()
        .find(|candidate| candidate.as_str() == state)
        .ok_or_else(|| {
            Failure::damaged(format!("delivery {id} has the unknown state {state:?}"))
        })?;
        let delivery = Self {
            journal: row.get(1)?,
            url: row.get(2)?,
            state,
            due_at: row.get(4)?,
            forced: row.get(5)?,
            record: from_json(TABLE, &id, &record)?,
            id,
        };
        seal::check(TABLE, &delivery.id, row.get(7)?, delivery.sum(&record))?;
        Ok(delivery)
    }

    fn sum(&self, record: &str) -> i64 {
        seal::seal(
            TABLE,
            &[
                self.id.as_bytes(),
                &self.journal.to_be_bytes(),
                self.url.as_bytes(),
                self.state.as_str().as_bytes(),
                &self.due_at.to_be_bytes(),
                &[u8::from(self.forced)],
                record.as_bytes(),
            ],
        )
    }

    fn update(&self, connection: &Connection) -> Result<()> {
        self.write(
            connection,
            "UPDATE deliveries SET journal = ?2, url = ?3, state = ?4, due_at = ?5, forced = ?6, record = ?7, \
             sum = ?8 WHERE id = ?1",
        )
    }

    fn write(&self, connection: &Connection, sql: &str) -> Result<()> {
        let record = to_json(&self.record)?;
        connection.prepare_cached(sql)?.execute(params![
            self.id,
            self.journal,
            self.url,
            self.state.as_str(),
            self.due_at,
            self.forced,
            record,
            self.sum(&record)
        ])?;
        Ok(())
    }

    fn into_record(self) -> Result<DeliveryRecord> {
        Ok(DeliveryRecord {
            id: parse_id(&self.id)?,
            run_id: self.record.run_id,
            url: self.url,
            event: self.record.event,
            body: self.record.body,
            secret_name: self.record.secret_name,
            state: self.state,
            attempts: self.record.attempts,
            due_at: Timestamp::from_millis(self.due_at),
            created_at: self.record.created_at,
        })
    }
}
