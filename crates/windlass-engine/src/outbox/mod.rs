//! The outbox: webhook deliveries, at least once, with a log of every attempt.
//!
//! A delivery is a row that a run's commit made; the dispatcher, which runs where the driver
//! runs, sends it until the receiver has it, is gone, or the schedule is over. The id stays the
//! same on every attempt, timestamp and signature are fresh.

mod dispatch;
mod judge;
pub(crate) mod secrets;
mod sign;
mod target;
mod vault;

pub(crate) use dispatch::dispatch;
pub use judge::{Judgement, Schedule, judge};
pub use secrets::{MadeSecret, SecretView, SigningSecrets, owner_of};
pub use sign::sign;

use std::{collections::HashMap, time::Duration};

use windlass_ports::{DeliveryFilter, DeliveryRecord, Expect};
use windlass_types::{
    DeliveryId, Principal, Problem, RunId, Secret, code, event::SpanIds, journal::DeliveryRequeued,
};

use crate::{
    Engine,
    engine::{commit_problem, imported},
};

pub(crate) const JOURNAL: &str = "sys_webhooks";

/// How deliveries are signed, timed and spaced.
pub struct OutboxOptions {
    /// Signing secrets of the settings, by name.
    pub secrets: HashMap<String, Secret<String>>,
    /// What the secrets of callers are encrypted with; at least 32 bytes.
    pub sealing_key: Secret<Vec<u8>>,
    /// The secret of deliveries that name none.
    pub default_secret: Secret<String>,
    /// The pauses between attempts.
    pub schedule: Schedule,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How long a secret that was rotated away signs beside the new one.
    pub rotation_overlap: Duration,
}

impl Engine {
    /// Deliveries, oldest due first.
    pub async fn deliveries(&self, filter: DeliveryFilter) -> Result<Vec<DeliveryRecord>, Problem> {
        Ok(self.store.deliveries(filter).await?)
    }

    /// Queues a delivery again, whatever became of it; same id, same body.
    pub async fn replay_delivery(
        &self,
        by: &Principal,
        delivery_id: &DeliveryId,
    ) -> Result<(), Problem> {
        let known = self
            .store
            .deliveries(DeliveryFilter {
                limit: usize::MAX,
                ..DeliveryFilter::default()
            })
            .await?;
        let Some(delivery) = known.iter().find(|delivery| delivery.id == *delivery_id) else {
            return Err(
                Problem::new(&code::NOT_FOUND, format!("no delivery {delivery_id}"))
                    .next("windlass webhooks deliveries"),
            );
        };
        if self.store.is_imported(&delivery.run_id).await? {
            return Err(imported(&delivery.run_id));
        }
        let requeued = DeliveryRequeued {
            delivery_id: delivery_id.clone(),
            principal: by.clone(),
            due_at: self.now(),
        };
        let journal = journal()?;
        self.append(
            &journal,
            Expect::Any,
            vec![requeued.into()],
            SpanIds::default(),
            None,
        )
        .await
        .map_err(commit_problem)?;
        self.own_runs().note(&delivery.run_id);
        Ok(())
    }
}

pub(crate) fn journal() -> Result<RunId, Problem> {
    JOURNAL
        .parse()
        .map_err(|error| Problem::internal("journal name", error))
}
