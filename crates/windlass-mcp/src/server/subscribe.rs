//! Telling a client that a run it watches has changed.
//!
//! A legacy client subscribes URI by URI and is told on its session's stream; a modern one
//! listens with one request. Both are fed by the same look at the store.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use windlass_engine::Engine;
use windlass_types::{Principal, RunId};

use super::resources::Address;

/// The URIs one client watches.
#[derive(Debug, Default)]
pub struct Watched(Mutex<HashMap<String, Seen>>);

/// A watched run and how much of it was told.
#[derive(Clone, Debug)]
struct Seen {
    run_id: RunId,
    last_seq: u64,
}

impl Watched {
    /// Watches a run from now on. A URI that names no run the caller may see never changes.
    pub async fn add(&self, engine: &Engine, principal: &Principal, uri: &str) {
        let Some(address) = Address::parse(uri) else {
            return;
        };
        if let Ok(record) = engine.visible_run(principal, address.run_id()).await {
            let seen = Seen {
                run_id: record.run_id,
                last_seq: record.last_seq,
            };
            self.lock().insert(uri.to_owned(), seen);
        }
    }

    /// Stops watching.
    pub fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    /// Waits until at least one watched run has changed; gives the URIs that have.
    pub async fn changed(&self, engine: &Engine) -> Vec<String> {
        let mut changes = engine.store.changes();
        loop {
            changes.mark_unchanged();
            let mut changed = self.look(engine).await;
            if !changed.is_empty() {
                changed.sort_unstable();
                return changed;
            }
            if changes.changed().await.is_err() {
                // The store is closed; nothing will ever change again.
                return std::future::pending().await;
            }
        }
    }

    async fn look(&self, engine: &Engine) -> Vec<String> {
        let watched: Vec<_> = self
            .lock()
            .iter()
            .map(|(uri, seen)| (uri.clone(), seen.clone()))
            .collect();
        let mut changed = Vec::new();
        for (uri, seen) in watched {
            let Ok(Some(record)) = engine.store.run(&seen.run_id).await else {
                continue;
            };
            if record.last_seq > seen.last_seq {
                if let Some(seen) = self.lock().get_mut(&uri) {
                    seen.last_seq = record.last_seq;
                }
                changed.push(uri);
            }
        }
        changed
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Seen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
