//! `[store]`: what is kept, for how long, and where.

use schemars::JsonSchema;
use serde::Deserialize;

/// Settings of the store. `windlass store prune` applies the ages; zero keeps for ever.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [store] table")]
pub struct StoreSettings {
    /// Days a finished run and its journal are kept.
    pub keep_runs_days: u32,
    /// Days an artifact's content is kept, unless the artifact says otherwise.
    pub keep_artifacts_days: u32,
    /// Days a delivered or abandoned webhook delivery is kept.
    pub keep_deliveries_days: u32,
    /// Artifacts up to this many bytes lie in the store itself, larger ones in files.
    #[schemars(range(max = 1_048_576))]
    pub inline_artifact_bytes: u32,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            keep_runs_days: 0,
            keep_artifacts_days: 90,
            keep_deliveries_days: 30,
            inline_artifact_bytes: 64 * 1024,
        }
    }
}
