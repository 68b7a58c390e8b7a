//! Jobs: runs of which a key's tier allows so many at once and so many in an hour.
//!
//! The room is looked at in the commit that creates the run, so that no number of callers, in
//! any number of processes, gets more than there is.

use std::time::Duration;

use windlass_ports::{Counted, Quota, RunFilter};
use windlass_types::{KeyId, Principal, PrincipalKind, Problem, RunId, RunState, Timestamp, code};

use super::Tier;
use crate::{
    Engine,
    run::{NewRun, NotCreated},
};

const HOUR: Duration = Duration::from_secs(3600);
/// How long a job is taken to last when none has ended yet.
const USUAL: Duration = Duration::from_secs(10);

/// How a refusal names the jobs of a domain, as its contract and the settings do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobLimit {
    /// Several of them.
    pub plural: &'static str,
    /// The setting that limits how many may begin in an hour.
    pub per_hour: &'static str,
}

impl Engine {
    /// Creates a run as `create_run` does, if the caller's tier leaves room for one more of its
    /// kind. A call that is repeated with its idempotency key finds its run whether there is room
    /// or not. Callers without a key are not limited.
    pub(crate) async fn create_job(&self, new: NewRun, limit: JobLimit) -> Result<RunId, Problem> {
        let Some(tier) = self.tier_of(&new.context.principal).await? else {
            return self.create_run(new).await.map_err(NotCreated::into_problem);
        };
        let at_once = tier.concurrent_jobs.map(|limit| Quota {
            counted: Counted::Unfinished,
            limit,
        });
        let hourly = tier.jobs_per_hour.map(|limit| Quota {
            counted: Counted::CreatedAfter(self.now().before(HOUR)),
            limit,
        });
        let quotas = at_once.into_iter().chain(hourly).collect();
        let (kind, principal) = (new.kind.clone(), new.context.principal.id());
        match self.create_within(new, quotas).await {
            Ok(run_id) => Ok(run_id),
            Err(NotCreated::Failed(problem)) => Err(problem),
            Err(NotCreated::OverQuota { quota, oldest }) => Err(match quota.counted {
                Counted::CreatedAfter(_) => {
                    let message = format!("more than {} {} in an hour", quota.limit, limit.plural);
                    let wait = oldest.after(HOUR).since(self.now());
                    refuse(limit.per_hour, quota, wait, message)
                }
                Counted::Unfinished => {
                    let message = format!("more than {} jobs at once", quota.limit);
                    let wait = self.time_left(&kind, &principal, oldest).await?;
                    refuse("concurrent_jobs", quota, wait, message)
                }
            }),
        }
    }

    /// Creates a job without asking the gate: for tests of the tiers. The tidy check refuses it
    /// everywhere else.
    #[doc(hidden)]
    pub async fn create_job_ungated(&self, new: NewRun, limit: JobLimit) -> Result<RunId, Problem> {
        self.create_job(new, limit).await
    }

    /// The tier of a key's holder; absent for callers who are not limited.
    async fn tier_of(&self, principal: &Principal) -> Result<Option<Tier>, Problem> {
        if principal.kind != PrincipalKind::Key {
            return Ok(None);
        }
        let key_id: Option<KeyId> = principal.name.parse().ok();
        let keys = self.store.api_keys().await?;
        let key = keys.iter().find(|key| Some(&key.key_id) == key_id.as_ref());
        let name = key.map_or("", |key| key.tier.as_str());
        Ok(Some(self.tiers.of(name)))
    }

    /// How long the oldest job is likely to go on, by how long its kind took lately.
    async fn time_left(
        &self,
        kind: &str,
        principal: &str,
        oldest: Timestamp,
    ) -> Result<Duration, Problem> {
        let filter = RunFilter {
            kind: Some(kind.to_owned()),
            principal: Some(principal.to_owned()),
            states: vec![RunState::Completed],
            limit: 20,
            ..RunFilter::default()
        };
        let ended = self.store.runs(filter).await?.runs;
        let mut lasted: Vec<Duration> = ended
            .iter()
            .map(|run| run.updated_at.since(run.created_at))
            .collect();
        lasted.sort_unstable();
        let usual = lasted.get(lasted.len() / 2).copied().unwrap_or(USUAL);
        Ok(usual.saturating_sub(self.now().since(oldest)))
    }
}

fn refuse(limit: &str, quota: Quota, wait: Duration, message: String) -> Problem {
    let seconds = wait.as_millis().div_ceil(1000).max(1) as u64;
    Problem::new(&code::RATE_LIMITED, message)
        .with("limit", limit)
        .with("allowed", quota.limit)
        .with("retry_after_seconds", seconds)
}
