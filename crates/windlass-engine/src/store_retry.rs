//! A store that fails for now is left alone for a moment and then asked again.
//!
//! A full disk, a busy file, a failing read: work stands still, nothing is lost or done twice.
//! Damage and a newer schema do not pass by waiting and are not waited for. Used by the driver
//! and the outbox, which have nobody to hand a failure to.

use std::time::Duration;

use tokio::sync::watch;
use windlass_ports::StoreError;
use windlass_types::retry::Backoff;

use crate::Engine;

const PAUSE: Duration = Duration::from_secs(1);
/// For work that asks again and again.
const BACKOFF: Backoff = Backoff {
    first: PAUSE,
    longest: Duration::from_secs(30),
};

/// Whether asking again later may help.
pub(crate) const fn is_passing(error: &StoreError) -> bool {
    match error {
        StoreError::Full | StoreError::Busy | StoreError::HeldBy(_) | StoreError::Io(_) => true,
        StoreError::Damaged(_) | StoreError::Newer { .. } => false,
    }
}

/// Leaves the store alone for a moment; `false` when the driver stops meanwhile.
pub(crate) async fn pause(engine: &Engine, stop: &watch::Sender<bool>) -> bool {
    pause_longer(engine, stop, 1).await
}

/// The same after the store has failed so many times in a row.
pub(crate) async fn pause_longer(engine: &Engine, stop: &watch::Sender<bool>, tries: u32) -> bool {
    let mut stop = stop.subscribe();
    tokio::select! {
        () = engine.clock.sleep_until(engine.now().after(BACKOFF.pause(tries))) => true,
        _ = stop.wait_for(|stop| *stop) => false,
    }
}
