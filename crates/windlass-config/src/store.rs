//! `[store]`: what is kept, for how long, and where.

use std::{num::NonZeroU64, path::PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::whole;

/// Settings of the store. `windlass store prune` applies the age; zero keeps them forever.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [store] table")]
pub struct StoreSettings {
    /// Days a finished run and its journal are kept.
    pub keep_runs_days: u32,
    /// A file that `windlass serve` appends anchors of the history to; best on another machine's disk
    /// or append-only.
    pub anchor_file: Option<PathBuf>,
    /// Whether anchors go to the system log.
    pub anchor_syslog: bool,
    /// An address that anchors are posted to, signed as webhooks are.
    pub anchor_url: Option<String>,
    /// The time between two anchors.
    pub anchor_interval_seconds: NonZeroU64,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self {
            keep_runs_days: 0,
            anchor_file: None,
            anchor_syslog: false,
            anchor_url: None,
            anchor_interval_seconds: whole(60),
        }
    }
}
