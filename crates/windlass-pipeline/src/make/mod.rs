//! What a phase makes: by rules (`offline`), or by a model under the same checks (`model`).

mod model;
mod offline;
mod prune;

use std::sync::Arc;

use serde_json::Value;
use windlass_engine::run::StepContext;
use windlass_pipeline_design::model::{Architecture, Phase, Requirements, UxSpec};
use windlass_types::Problem;

use crate::{
    input::Wanted,
    outside::{GeneratorChoice, PipelineOutside},
};

/// What is known when a phase begins.
#[derive(Clone)]
pub(crate) struct Material {
    pub(crate) wanted: Arc<Wanted>,
    pub(crate) requirements: Option<Requirements>,
    pub(crate) architecture: Option<Architecture>,
    pub(crate) ux_spec: Option<UxSpec>,
}

/// What a phase made.
pub(crate) struct Output {
    /// The tool's output.
    pub(crate) output: Value,
    /// What was asked of a model and answered.
    pub(crate) calls: Option<Value>,
}

/// Makes a phase by rules. Blocks.
pub(crate) fn by_rules(phase: Phase, material: &Material) -> Result<Output, Problem> {
    let output = offline::make(phase, material)?;
    Ok(Output {
        output,
        calls: None,
    })
}

/// Makes a phase by a model; by rules where that is allowed and the model
/// does not answer, or only with what the critique finds wrong.
pub(crate) async fn by_model(
    step: &StepContext<'_>,
    phase: Phase,
    material: Material,
    outside: &PipelineOutside,
) -> Result<Output, Problem> {
    let made = model::make(step, phase, &material, outside).await;
    let usable = made
        .as_ref()
        .is_ok_and(|output| model::stands(&output.output));
    match made {
        _ if !usable && outside.generator == GeneratorChoice::Auto => {
            tokio::task::spawn_blocking(move || by_rules(phase, &material))
                .await
                .unwrap_or_else(|error| Err(Problem::internal("pipeline work", error)))
        }
        made => made,
    }
}
