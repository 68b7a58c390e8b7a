//! A store that fails for now is left alone for a moment and then asked again.
//!
//! A full disk, a busy file, a failing read: work stands still, nothing is lost or done twice.
//! Damage and a newer schema do not pass by waiting and are not waited for. Used by the driver
//! and the outbox, which have nobody to hand a failure to.

use std::time::Duration;

use tokio::sync::watch;
use windlass_ports::StoreError;

use crate::Engine;

const PAUSE: Duration = Duration::from_secs(1);

/// Whether asking again later may help.
pub(crate) const fn is_passing(error: &StoreError) -> bool {
    match error {
        StoreError::Full | StoreError::Busy | StoreError::Io(_) => true,
        StoreError::Damaged(_) | StoreError::Newer { .. } => false,
    }
}

/// Leaves the store alone for a moment; `false` when the driver stops meanwhile.
pub(crate) async fn pause(engine: &Engine, stop: &watch::Sender<bool>) -> bool {
    let mut stop = stop.subscribe();
    tokio::select! {
        () = engine.clock.sleep_until(engine.now().after(PAUSE)) => true,
        _ = stop.wait_for(|stop| *stop) => false,
    }
}
