//! `[pipeline]`: which generator makes outputs, how long things may take, how long they are kept.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::whole;

/// Which generator makes outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PipelineGenerator {
    /// Rules only: no model, no network, the same spec produces the same bytes.
    #[default]
    Offline,
    /// The model of `[pipeline.model]`; a failure when it does not answer.
    Llm,
    /// The model, and rules when it does not answer; the output says which.
    Auto,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineModel {
    /// Where it is served, e.g. `https://api.openai.com/v1`. `[models]` says what may be called.
    pub api_base_url: String,
    /// Its name there.
    pub model: String,
    /// The variable with the key.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// How long one answer may take, in seconds.
    #[serde(default = "two_minutes")]
    pub request_timeout_s: NonZeroU64,
    /// How freely it chooses.
    #[serde(default)]
    pub temperature: f64,
    /// The longest answer, in tokens.
    #[serde(default)]
    pub max_tokens: Option<u64>,
}

/// How long things may take, in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PipelineTimeouts {
    /// One phase by rules.
    pub offline_s: NonZeroU64,
    /// Strategy by a model.
    pub strategy_s: NonZeroU64,
    /// Architecture by a model.
    pub architecture_s: NonZeroU64,
    /// UX by a model.
    pub ux_s: NonZeroU64,
    /// Code by a model.
    pub code_s: NonZeroU64,
    /// The whole job.
    pub job_s: NonZeroU64,
}

impl Default for PipelineTimeouts {
    fn default() -> Self {
        Self {
            offline_s: whole(30),
            strategy_s: whole(60),
            architecture_s: whole(120),
            ux_s: whole(120),
            code_s: whole(300),
            job_s: whole(900),
        }
    }
}

/// Settings of product pipelines.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [pipeline] table")]
pub struct PipelineSettings {
    /// Which generator makes outputs.
    pub generator: PipelineGenerator,
    /// The model, for generators that ask one.
    pub model: Option<PipelineModel>,
    /// How long things may take.
    pub timeouts: PipelineTimeouts,
    /// How many days a job and its artifacts are kept after its end.
    pub retention_days: NonZeroU64,
}

impl Default for PipelineSettings {
    fn default() -> Self {
        Self {
            generator: PipelineGenerator::default(),
            model: None,
            timeouts: PipelineTimeouts::default(),
            retention_days: whole(7),
        }
    }
}

const fn two_minutes() -> NonZeroU64 {
    whole(120)
}
