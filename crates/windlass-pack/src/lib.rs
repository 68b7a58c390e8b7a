//! Agent-configuration packs: contract 003 as a domain.
//!
//! Puts the parts together: one operation per command (`ops`), and the run that applies an event
//! to the target roots (`apply`). What is desired, planned, written and remembered is decided in
//! the `windlass-pack-*` crates; nothing here knows a surface.

mod apply;
mod arguments;
mod codex_home;
mod contract;
mod edit;
mod environment;
mod frozen;
mod ops;
mod workspace;

use std::sync::Arc;

use windlass_engine::{
    Domain, Engine, WeakEngine, contract::mcp::McpIdentity, operation::Operation, run::RunKind,
};
use windlass_ports::Git;

pub use contract::PackContract;
pub use environment::PackEnvironment;

/// The pack domain.
pub fn domain(environment: PackEnvironment, git: Arc<dyn Git>) -> Box<dyn Domain> {
    Box::new(PackDomain(Arc::new(workspace::Pack {
        environment,
        git,
        handoff: apply::Handoff::default(),
    })))
}

struct PackDomain(Arc<workspace::Pack>);

impl Domain for PackDomain {
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(apply::ApplyPack {
            pack: Arc::clone(&self.0),
            engine: engine.clone(),
        })]
    }

    fn toolset(&self) -> Option<&'static str> {
        Some(ops::TOOLSET)
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        ops::operations(&self.0, engine)
    }

    fn mcp_identity(&self) -> Option<(&'static str, McpIdentity)> {
        Some((ops::TOOLSET, contract::MCP_IDENTITY))
    }
}
