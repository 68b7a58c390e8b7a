//! AWS stacks from one config: contract 000 as a domain.
//!
//! Puts the parts together: a project's config is packaged and compiled (`prepare`), the runs
//! deploy, delete and roll back what came of it (`run`), questions and local development answer at
//! once (`ops`, `dev`). What a config says, which template it gives, what CloudFormation does with
//! it and what may be asked is decided in the `windlass-stack-*` crates; nothing here knows a
//! surface.

mod contract;
mod desk;
mod dev;
mod fault;
mod handover;
mod invoke;
mod known;
mod lookup;
mod ops;
mod outside;
mod package;
mod place;
mod prepare;
mod project;
mod region;
mod run;
mod scripts;
mod sync;
mod telling;
mod values;

use std::sync::Arc;

use windlass_engine::operation::Operation;
use windlass_engine::run::RunKind;
use windlass_engine::{Domain, Engine, WeakEngine};

pub use contract::StackContract;
pub use dev::{
    DevHook, DevManagerParts, DevOutside, HookParts, RunHook, hook_runner, run_dev_manager,
};
pub use outside::{Found, StackOutside};
pub use values::{HeldValue, SecretArgument, SecretValues};

/// The stack domain.
pub fn domain(outside: StackOutside) -> Box<dyn Domain> {
    Box::new(StackDomain(Arc::new(outside)))
}

struct StackDomain(Arc<StackOutside>);

impl Domain for StackDomain {
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        run::kinds(&self.0, engine)
    }

    fn toolset(&self) -> Option<&'static str> {
        Some("stack")
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        ops::operations(&self.0, engine)
    }
}
