//! What has ended is kept for a time and then removed by the driver, without a person.
//!
//! How long is said by the settings and, for some, by the kind of run; what goes with a run and
//! what must stay is the store's to know.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::watch;
use windlass_ports::{
    StoreError,
    store::{KeptFor, Retention},
};
use windlass_types::{Problem, Timestamp, code};

use crate::{Engine, access::nearest, run::Sweep};

/// The shortest time between two looks: runs that ended together go together, and one that
/// still owes a delivery is asked after again.
const ROUND: Duration = Duration::from_secs(60);
/// The longest.
const SWEEP: Duration = Duration::from_secs(60 * 60);

/// How long what has ended is kept. Without a time it is kept until it is pruned.
#[derive(Clone, Debug, Default)]
pub struct RetentionOptions {
    /// Runs.
    pub runs: Option<Duration>,
    /// Runs of some kinds.
    pub kinds: BTreeMap<String, Duration>,
    /// A run that can be rolled back stays at least so long.
    pub rollback: Duration,
    /// Entries of the audit and of the store's other journals.
    pub audit: Option<Duration>,
}

impl Engine {
    /// Refuses settings for kinds of runs that there are not, or whose time their contract says:
    /// they would keep nothing, and nobody would know.
    pub fn check_retention(&self) -> Result<(), Problem> {
        let fixed = self.kinds().kept();
        for kind in self.retention.kinds.keys() {
            let message = if self.kinds().get(kind).is_none() {
                let known = self.kinds().0.keys().map(String::as_str);
                match nearest(kind, known) {
                    Some(near) => format!("no run is of the kind `{kind}`; did you mean `{near}`?"),
                    None => {
                        let mut known: Vec<&str> =
                            self.kinds().0.keys().map(String::as_str).collect();
                        known.sort_unstable();
                        format!(
                            "no run is of the kind `{kind}`; there are {}",
                            known.join(", ")
                        )
                    }
                }
            } else if fixed.iter().any(|kept| kept.kind == *kind) {
                format!("how long runs of the kind `{kind}` are kept has a setting of its own")
            } else {
                continue;
            };
            return Err(Problem::new(
                &code::CONFIG_INVALID,
                format!("config.toml: [store] keep_kinds_days: {message}"),
            )
            .with("kind", kind.as_str()));
        }
        Ok(())
    }

    /// Has every kind of run remove what it left outside the store and nobody needs any more.
    pub async fn sweep(&self) {
        // A store that lost something does not know which runs there were.
        if !matches!(self.maintenance.shortfall().await, Ok(None)) {
            return;
        }
        let sweep = Sweep {
            store: Arc::clone(&self.store),
            now: self.now(),
        };
        let mut kinds: Vec<_> = self.kinds().0.iter().collect();
        kinds.sort_by_key(|(name, _)| *name);
        for (name, kind) in kinds {
            if let Err(problem) = kind.sweep(&sweep).await {
                tracing::warn!(kind = name, %problem, "what runs left could not be removed");
            }
        }
    }

    /// What the settings say, and the kinds that say something themselves: those first, because
    /// what they promise is in a contract.
    fn retention_of_all(&self) -> Retention {
        let options = &self.retention;
        let mut kinds = self.kinds().kept();
        for (kind, keep) in &options.kinds {
            if !kinds.iter().any(|kept| kept.kind == *kind) {
                let (kind, keep) = (kind.clone(), *keep);
                kinds.push(KeptFor { kind, keep });
            }
        }
        Retention {
            kinds,
            runs: options.runs,
            rollback: options.rollback,
            audit: options.audit,
        }
    }
}

/// Removes what is due until told to stop.
pub(crate) async fn expire(engine: Engine, stop: watch::Sender<bool>) {
    let retention = engine.retention_of_all();
    if retention.kinds.is_empty() && retention.runs.is_none() && retention.audit.is_none() {
        return;
    }
    let mut stop = stop.subscribe();
    let rounds = async {
        let mut is_first = true;
        loop {
            let now = engine.now();
            let next = match engine.maintenance.expire(retention.clone(), now).await {
                Ok(expiry) => {
                    if expiry.removed.runs > 0 {
                        tracing::info!(runs = expiry.removed.runs, "expired runs are removed");
                    }
                    engine.sweep().await;
                    // It looks at every journal, which must not slow a start down.
                    if !std::mem::take(&mut is_first)
                        && let Err(error) = engine.maintenance.seal_heads().await
                    {
                        tracing::warn!(%error, "the ends of journals could not be sealed");
                    }
                    if let Err(error) = engine.maintenance.keep_reserve().await {
                        tracing::warn!(%error, "no space can be kept aside for a full disk");
                    }
                    next_look(now, expiry.next)
                }
                Err(error) => {
                    tracing::warn!(%error, "expired runs cannot be removed; trying again");
                    if matches!(error, StoreError::Full)
                        && let Err(error) = engine.maintenance.release_reserve().await
                    {
                        tracing::warn!(%error, "no room could be made on the full disk");
                    }
                    now.after(ROUND)
                }
            };
            engine.clock.sleep_until(next).await;
        }
    };
    tokio::select! {
        () = rounds => {}
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

/// When something may be due.
fn next_look(now: Timestamp, due: Option<Timestamp>) -> Timestamp {
    let latest = now.after(SWEEP);
    due.map_or(latest, |due| due.min(latest))
        .max(now.after(ROUND))
}
