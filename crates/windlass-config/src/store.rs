//! `[store]`: what is kept, for how long, and where.

use std::{collections::BTreeMap, num::NonZeroU64, path::PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::whole;

/// Settings of the store. `windlass serve` removes what is older; zero days keep it forever. Runs
/// that have not ended, that left effects behind or that owe a webhook stay.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [store] table")]
pub struct StoreSettings {
    /// Days a finished run and its journal are kept.
    pub keep_runs_days: u32,
    /// The same for runs of one kind, by its name. Product pipelines have `pipeline.retention_days`.
    pub keep_kinds_days: BTreeMap<String, u32>,
    /// Days that a run which can be rolled back is kept at least.
    pub keep_rollback_days: u32,
    /// Days that entries of the audit log are kept.
    pub keep_audit_days: u32,
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
            keep_runs_days: 90,
            keep_kinds_days: BTreeMap::new(),
            keep_rollback_days: 30,
            keep_audit_days: 365,
            anchor_file: None,
            anchor_syslog: false,
            anchor_url: None,
            anchor_interval_seconds: whole(60),
        }
    }
}
