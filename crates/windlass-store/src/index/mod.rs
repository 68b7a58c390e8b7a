//! What is derived from events, inside the transaction that stores them: one file per table.
//!
//! Called by the writer for new events and by the rebuild for stored ones, so that an index
//! is a function of the journals. Event types that nothing derives from are stored as well.

pub(crate) mod artifacts;
pub(crate) mod deliveries;
pub(crate) mod due;
pub(crate) mod endpoints;
pub(crate) mod holds;
pub(crate) mod keys;
pub(crate) mod runs;
pub(crate) mod tokens;

use rusqlite::Connection;
use windlass_types::{Body, Event, RunState};

use crate::{error::Result, journal::Journal, lease};

/// The tables that can be derived again, each with the columns that name a row.
pub(crate) const DERIVED_TABLES: &[(&str, &str)] = &[
    ("runs", "journal"),
    ("run_due", "journal"),
    ("run_holds", "name, journal"),
    ("tokens", "token"),
    ("artifacts", "journal, seq"),
    ("api_keys", "key_id"),
    ("deliveries", "id"),
    ("attempts", "delivery, position"),
    ("disabled_endpoints", "url"),
];

/// Where an event stands.
pub(crate) struct Place<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) position: i64,
}

impl Place<'_> {
    /// Whether the event came from another home.
    fn is_imported(&self, event: &Event) -> bool {
        event.seq <= self.journal.imported_seq
    }
}

/// Whether anything is derived from such a body. Spelled out, so that a new kind of event
/// cannot be forgotten here.
pub(crate) fn is_indexed(body: &Body) -> bool {
    runs::is_folded(body)
        || match body {
            Body::RunCreated(_)
            | Body::ArtifactStored(_)
            | Body::WebhookEnqueued(_)
            | Body::DeliveryAttempted(_)
            | Body::DeliveryRequeued(_)
            | Body::EndpointDisabled(_)
            | Body::KeyCreated(_)
            | Body::KeyRevoked(_)
            | Body::KeyUsed(_)
            | Body::RunDamaged(_) => true,
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
            | Body::StepStarted(_)
            | Body::StepCompleted(_)
            | Body::StepFailed(_)
            | Body::UndoCompleted(_)
            | Body::UndoFailed(_)
            | Body::TokenIssued(_)
            | Body::WebhookSecretSet(_)
            | Body::WebhookSecretSettled(_)
            | Body::TelemetryReported(_)
            | Body::TelemetryUpdated(_)
            | Body::AuditCall(_)
            | Body::AuditReads(_)
            | Body::AuditGap(_)
            | Body::LossAccepted(_)
            | Body::RunImported(_)
            | Body::Domain(..) => false,
        }
}

/// Derives from one event. Returns the run's state when the event concerns it.
pub(crate) fn derive(
    connection: &Connection,
    place: &Place<'_>,
    event: &Event,
    body: &Body,
) -> Result<Option<RunState>> {
    let imported = place.is_imported(event);
    match body {
        Body::RunCreated(created) => {
            let record = runs::create(connection, place.journal, created, imported)?;
            if let Some(token) = &created.confirm_token {
                tokens::redeem(connection, token, &event.run_id, event.time)?;
            }
            if !imported {
                holds::claim(connection, place.journal, &created.holds)?;
            }
            due::note(connection, place.journal, &record, body)?;
            return Ok(Some(record.state));
        }
        Body::ArtifactStored(stored) => {
            artifacts::store(connection, place.journal, event.seq, &stored.artifact)?
        }
        Body::WebhookEnqueued(enqueued) => {
            deliveries::enqueue(
                connection,
                place.journal,
                event.time,
                &enqueued.delivery,
                imported,
            )?;
        }
        // What another home did to its deliveries, receivers and keys is not done here.
        Body::DeliveryAttempted(_)
        | Body::DeliveryRequeued(_)
        | Body::EndpointDisabled(_)
        | Body::KeyCreated(_)
        | Body::KeyRevoked(_)
        | Body::KeyUsed(_)
        | Body::RunDamaged(_)
            if imported => {}
        Body::DeliveryAttempted(attempted) => {
            deliveries::attempt(connection, place.position, event.time, attempted)?
        }
        Body::DeliveryRequeued(requeued) => deliveries::requeue(connection, requeued)?,
        Body::EndpointDisabled(disabled) => {
            endpoints::disable(connection, disabled, place.position)?
        }
        Body::RunDamaged(damaged) => {
            if let Some(journal) = runs::fail_damaged(connection, damaged)? {
                holds::release(connection, &journal)?;
                lease::end(connection, &damaged.run_id)?;
                due::forget(connection, &journal)?;
            }
        }
        Body::KeyCreated(created) => keys::create(connection, place.journal, event.time, created)?,
        Body::KeyRevoked(revoked) => keys::revoke(connection, place.journal, event.time, revoked)?,
        Body::KeyUsed(used) => keys::note_use(connection, place.journal, event.time, used)?,
        body if runs::is_folded(body) => {
            let Some((before, record)) = runs::fold(connection, place.journal, event, body)? else {
                return Ok(None);
            };
            let state = record.state;
            match (before.is_final(), state.is_final()) {
                (false, true) => holds::release(connection, place.journal)?,
                (true, false) if !imported => {
                    holds::claim(connection, place.journal, &record.holds)?;
                }
                _ => {}
            }
            if state.is_final() || state == RunState::Held {
                lease::end(connection, &event.run_id)?;
            }
            due::note(connection, place.journal, &record, body)?;
            return Ok(Some(state));
        }
        _ => {}
    }
    Ok(None)
}
