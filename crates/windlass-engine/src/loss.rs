//! A store that lost what it had acknowledged: going on from what is there is a decision, and
//! it is on record.

use windlass_ports::{Commit, Expect, StoreError};
use windlass_types::{
    Principal, Problem, RunId, Timestamp,
    event::SpanIds,
    journal::{LossAccepted, STORE_JOURNAL},
};

use crate::{Engine, engine::commit_problem};

/// Losses looked at; nobody has accepted so many.
const PAGE: usize = 1000;

impl Engine {
    /// Goes on without what the store lacks; returns what that is, or nothing where it lacks
    /// nothing.
    pub async fn accept_loss(&self, principal: &Principal) -> Result<Option<String>, Problem> {
        let Some(shortfall) = self.maintenance.shortfall().await? else {
            return Ok(None);
        };
        let loss = LossAccepted {
            shortfall: shortfall.clone(),
            principal: principal.clone(),
        };
        let write = self
            .journal_write(
                &journal()?,
                Expect::Any,
                vec![loss.into()],
                SpanIds::default(),
            )
            .map_err(commit_problem)?;
        let record = Commit {
            writes: vec![write],
            lease: None,
        };
        self.maintenance
            .accept_loss(record)
            .await
            .map_err(commit_problem)?;
        Ok(Some(shortfall))
    }

    /// When a loss was last accepted. A confirm token from before may have been used by a run that
    /// is gone.
    pub(crate) async fn last_loss(&self) -> Result<Option<Timestamp>, Problem> {
        let events = self.store.events(&journal()?, 0, PAGE).await;
        let events = events.map_err(|error: StoreError| Problem::from(error))?;
        Ok(events
            .iter()
            .filter(|event| event.event_type == "store.loss_accepted")
            .map(|event| event.time)
            .max())
    }
}

fn journal() -> Result<RunId, Problem> {
    STORE_JOURNAL
        .parse()
        .map_err(|error| Problem::internal("journal of the store", error))
}
