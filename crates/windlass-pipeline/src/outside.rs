//! What pipelines are given from outside: models, limits, where artifacts can be fetched.

use std::{sync::Arc, time::Duration};

use windlass_pipeline_design::model::Phase;
use windlass_ports::{LanguageModel, ModelAddress};
use windlass_types::Secret;

/// Which generator makes outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeneratorChoice {
    /// Rules only; the same spec gives the same bytes.
    #[default]
    Offline,
    /// A model, and a failure when it does not answer.
    Llm,
    /// A model, and rules when it does not answer.
    Auto,
}

/// A model that may be asked.
#[derive(Clone)]
pub struct ModelChoice {
    /// Where it is.
    pub address: ModelAddress,
    /// How freely it chooses.
    pub temperature: f64,
    /// The longest answer.
    pub max_tokens: Option<u64>,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// One phase by rules.
    pub offline_phase: Duration,
    /// Each phase by a model: strategy, architecture, UX, code.
    pub llm_phases: [Duration; 4],
    /// The whole job.
    pub job: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            offline_phase: Duration::from_secs(30),
            llm_phases: [60, 120, 120, 300].map(Duration::from_secs),
            job: Duration::from_secs(900),
        }
    }
}

impl Timeouts {
    pub(crate) const fn phase(&self, phase: Phase, by_model: bool) -> Duration {
        if by_model {
            self.llm_phases[phase as usize]
        } else {
            self.offline_phase
        }
    }
}

/// Everything a pipeline needs that is not in the store.
#[derive(Clone)]
pub struct PipelineOutside {
    /// Which generator.
    pub generator: GeneratorChoice,
    /// The model, for those that ask one.
    pub model: Option<ModelChoice>,
    /// Where models are asked.
    pub models: Arc<dyn LanguageModel>,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// How long artifacts are kept after a job has ended.
    pub retention: Duration,
    /// Where this server can be reached, without a final `/`; asked when a job ends, since a
    /// server may learn its address only when it begins to listen.
    pub public_base: Arc<dyn Fn() -> String + Send + Sync>,
    /// What artifact addresses are signed with.
    pub signing_key: Arc<Secret<Vec<u8>>>,
}

impl PipelineOutside {
    /// Whether a model is asked.
    pub(crate) fn by_model(&self) -> bool {
        self.generator != GeneratorChoice::Offline && self.model.is_some()
    }

    /// The generator's name in answers.
    pub(crate) fn generator_name(&self) -> &'static str {
        if self.by_model() { "llm" } else { "offline" }
    }
}
