//! Operations on the installation itself: keys, webhooks, policy, store, audit, trust, health.
//!
//! All of them need the scope `admin`. Removing old runs is a change like any other: planned,
//! confirmed and applied by a run (`prune.rs`).

mod audit;
mod doctor;
mod keys;
mod policy;
mod prune;
mod store;
mod trust;
mod webhook_secrets;
mod webhooks;

use std::sync::Arc;

use windlass_engine::{
    Domain, Engine, WeakEngine,
    contract::http::HttpPaths,
    operation::{Operation, change_operations},
    run::RunKind,
};
use windlass_ports::Trust;

/// The toolset, and the scope of its operations.
pub(crate) const TOOLSET: &str = "admin";

pub use keys::{KeyDefaults, Tiers};

/// The admin domain.
pub fn domain(keys: KeyDefaults, trust: Arc<dyn Trust>) -> Box<dyn Domain> {
    Box::new(Admin { keys, trust })
}

struct Admin {
    keys: KeyDefaults,
    trust: Arc<dyn Trust>,
}

impl Domain for Admin {
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(prune::Prune::new(engine.clone()))]
    }

    fn toolset(&self) -> Option<&'static str> {
        Some(TOOLSET)
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        let mut operations = keys::operations(engine, &self.keys);
        operations.extend(webhooks::operations(engine));
        operations.extend(webhook_secrets::operations(engine));
        operations.extend(trust::operations(engine, &self.trust));
        operations.extend([
            policy::operation(engine),
            store::check(engine),
            store::backup(engine),
            store::accept_loss(engine),
            doctor::operation(engine, &self.trust),
            audit::operation(engine),
        ]);
        operations.extend(change_operations(
            engine,
            prune::PlanPrune::new(engine.clone()),
        ));
        operations
    }

    fn toolsets_on_request(&self) -> &'static [&'static str] {
        &[TOOLSET]
    }

    fn http_paths(&self) -> HttpPaths {
        keys::PATHS
    }
}
