//! Operations on runs: what every other capability's work is watched and steered with.
//!
//! Thin on purpose: the engine does the work, this crate gives it names, schemas and words.
//! Taking a completed run back is a run itself (`rollback.rs`), so it is planned, confirmed,
//! approved and recorded like every other change.

mod artifacts;
mod export;
mod http;
mod list;
mod rollback;
mod show;
mod steer;
mod verify;
mod watch;

use std::sync::Arc;

use windlass_engine::{
    Domain, Engine, WeakEngine,
    contract::http::HttpPaths,
    operation::{Operation, change_operations},
    run::RunKind,
};

/// The toolset.
pub(crate) const TOOLSET: &str = "runs";

/// The runs domain.
pub fn domain() -> Box<dyn Domain> {
    Box::new(Runs)
}

struct Runs;

impl Domain for Runs {
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(rollback::RollBack::new(engine.clone()))]
    }

    fn toolset(&self) -> Option<&'static str> {
        Some(TOOLSET)
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        let mut operations = vec![
            list::operation(engine),
            show::operation(engine),
            watch::operation(engine),
            verify::operation(engine),
            artifacts::list(engine),
            artifacts::get(engine),
            export::export(engine),
            export::import(engine),
        ];
        operations.extend(steer::operations(engine));
        operations.extend(change_operations(
            engine,
            rollback::PlanRollback::new(engine.clone()),
        ));
        operations
    }

    fn http_paths(&self) -> HttpPaths {
        http::PATHS
    }
}
