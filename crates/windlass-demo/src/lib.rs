//! The demo: a small change to a scratch directory that uses everything the engine offers.
//!
//! Plan → confirm → apply over files (create, update, delete, each with an undo), a timer, an
//! approval, a child run, an artifact and a webhook. The tour shows it, the fault tests kill it
//! at every event. It is also the worked example for a new domain: `plan.rs` decides, `apply.rs`
//! is the run, `scratch.rs` is the only file that touches the disk.

mod apply;
mod note;
mod plan;
mod scratch;

use std::sync::Arc;

use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{Operation, change_operations},
    run::RunKind,
};

pub use plan::{DemoInput, DemoPlan, FileChange};

/// The demo domain.
pub fn domain() -> Box<dyn Domain> {
    Box::new(Demo)
}

struct Demo;

impl Domain for Demo {
    fn kinds(&self, _engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(apply::ApplyDemo), Arc::new(note::WriteNote)]
    }

    fn toolset(&self) -> Option<&'static str> {
        Some("demo")
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        change_operations(engine, plan::PlanDemo)
    }
}
