//! `[store]`: what is kept, for how long, and where.

use schemars::JsonSchema;
use serde::Deserialize;

/// Settings of the store. `windlass store prune` applies the age; zero keeps them forever.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [store] table")]
pub struct StoreSettings {
    /// Days a finished run and its journal are kept.
    pub keep_runs_days: u32,
}
