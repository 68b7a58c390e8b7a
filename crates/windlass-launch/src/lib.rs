//! Site launches: contract 004 as a domain.
//!
//! Puts the parts together: the run that takes a product and a site to a pull request (`run`),
//! what a journal says about such a run (`view`), and one operation per tool of the contract
//! (`ops`). What is read, planned, written, judged and fixed is decided in the
//! `windlass-launch-*` crates; nothing here knows a surface.

mod arguments;
mod contract;
mod event;
mod fault;
mod http;
mod ops;
mod outside;
mod precondition;
mod run;
mod telemetry;
mod uuid;
mod view;

use std::sync::Arc;

use windlass_engine::{
    Domain, Engine, WeakEngine, contract::http::HttpPaths, operation::Operation, run::RunKind,
};

pub use contract::LaunchContract;
pub use outside::{LaunchOutside, TokenError, Tokens};
pub use run::KIND;
pub use view::{LaunchEvent, LaunchView, events_of, snapshot, view};

/// The launch domain.
pub fn domain(outside: LaunchOutside) -> Box<dyn Domain> {
    Box::new(LaunchDomain(Arc::new(outside)))
}

struct LaunchDomain(Arc<LaunchOutside>);

impl Domain for LaunchDomain {
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(run::LaunchRun::new(
            Arc::clone(&self.0),
            engine.clone(),
        ))]
    }

    fn toolset(&self) -> Option<&'static str> {
        Some("launch")
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        ops::operations(&self.0, engine)
    }

    fn http_paths(&self) -> HttpPaths {
        http::PATHS
    }
}
