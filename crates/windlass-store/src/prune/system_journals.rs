//! The store's own journals: how much of their beginning may go.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};
use windlass_types::{Body, Event, event::ChainHead};

use super::{EVENTS, Horizon, has_journal, raise_floors};
use crate::{
    error::{Failure, Result},
    history::{self, SealKey},
    index::{deliveries, endpoints, keys},
    journal::Journal,
};

pub(super) fn all(connection: &Connection) -> Result<Vec<Journal>> {
    let mut statement = connection
        .prepare("SELECT id FROM journals WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.journal = journals.id)")?;
    let ids: Vec<i64> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    ids.into_iter()
        .map(|id| Journal::get(connection, id))
        .collect()
}

pub(super) fn trim(connection: &Connection, key: &SealKey, horizon: Horizon) -> Result<u64> {
    raise_floors(connection)?;
    for mut journal in all(connection)? {
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

pub(super) fn has_old_entries(connection: &Connection, horizon: Horizon) -> Result<bool> {
    for journal in all(connection)? {
        if removable_prefix(connection, &journal, horizon, &BTreeSet::new(), 1)?.1 > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How much of the journal's beginning is old and holds nothing up any more: the chain can
/// only be cut at its beginning, and only where the next event's predecessor is remembered.
pub(super) fn removable_prefix(
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
        Body::RunDamaged(damaged) => has_journal(connection, damaged.run_id.as_str()),
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
