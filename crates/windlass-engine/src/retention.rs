//! Runs that are kept for a time only: removed by the driver once that time is over.
//!
//! How long is said by the kind of run, what goes with it by the store; nothing is decided here.
//! Kinds that say nothing are pruned on request, and never here.

use std::time::Duration;

use tokio::sync::watch;
use windlass_types::Timestamp;

use crate::Engine;

/// The shortest time between two looks: runs that ended together go together, and one that
/// still owes a delivery is asked after again.
const ROUND: Duration = Duration::from_secs(60);

/// Removes what is due until told to stop.
pub(crate) async fn expire(engine: Engine, stop: watch::Sender<bool>) {
    let kept = engine.kinds().kept();
    let Some(shortest) = kept.iter().map(|kept| kept.keep).min() else {
        return;
    };
    let mut stop = stop.subscribe();
    let rounds = async {
        loop {
            let now = engine.now();
            let next = match engine.maintenance.expire(kept.clone(), now).await {
                Ok(expiry) => {
                    if expiry.removed.runs > 0 {
                        tracing::info!(runs = expiry.removed.runs, "expired runs are removed");
                    }
                    next_look(now, expiry.next, shortest)
                }
                Err(error) => {
                    tracing::warn!(%error, "expired runs cannot be removed; trying again");
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

/// When something may be due: what ends from now on is not before the shortest time is over.
fn next_look(now: Timestamp, due: Option<Timestamp>, shortest: Duration) -> Timestamp {
    let latest = now.after(shortest);
    due.map_or(latest, |due| due.min(latest))
        .max(now.after(ROUND))
}
