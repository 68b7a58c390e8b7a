//! Product pipelines: contract 001 as a domain.
//!
//! Puts the parts together: what a phase makes (`make`, by rules or by a model), the job that
//! makes phases one after the other (`run`), what its journal says (`view`), and one operation
//! per tool of the contract (`ops`). What a spec says, how a product is designed and which files
//! that gives is decided in the `windlass-pipeline-*` crates; nothing here knows a surface.

mod address;
mod contract;
mod fault;
mod given;
mod http;
mod input;
mod make;
mod ops;
mod outside;
mod run;
mod view;

use std::sync::Arc;

use windlass_engine::{
    Domain, Engine, WeakEngine, contract::http::HttpPaths, operation::Operation, run::RunKind,
};

pub use address::{ArtifactAddress, SignedUntil, admits_path};
pub use contract::PipelineContract;
pub use outside::{GeneratorChoice, ModelChoice, PipelineOutside, Timeouts};
pub use run::{CALL_KIND, KIND};

/// The pipeline domain.
pub fn domain(outside: PipelineOutside) -> Box<dyn Domain> {
    Box::new(PipelineDomain(Arc::new(outside)))
}

struct PipelineDomain(Arc<PipelineOutside>);

impl Domain for PipelineDomain {
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        run::PipelineRun::both(&self.0, engine)
            .into_iter()
            .map(|kind| Arc::new(kind) as Arc<dyn RunKind>)
            .collect()
    }

    fn toolset(&self) -> Option<&'static str> {
        Some("pipeline")
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        ops::operations(&self.0, engine)
    }

    fn http_paths(&self) -> HttpPaths {
        http::PATHS
    }
}
