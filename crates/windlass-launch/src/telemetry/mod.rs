//! The local telemetry interface: runs, those of launches and those reported by others, as one
//! list. A view on the event store; nothing here is kept anywhere else.
//!
//! `run` is what a run looks like and `read` how a reported one is checked; `reports` folds what
//! was reported, `own` what the journal of a launch says, `launches` keeps those folds; `ops` are
//! the operations; `deliver` sends runs to a service elsewhere. Not for MCP clients: the contract names its tools.

pub(crate) mod deliver;
mod launches;
mod lookup;
mod ops;
pub(crate) mod own;
mod read;
mod reports;
pub(crate) mod run;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_types::Timestamp;

use crate::ops::Desk;

/// What every operation works with.
pub(crate) struct Telemetry {
    desk: Desk,
    reports: reports::Reports,
    launches: launches::Launches,
    /// The distinct values, by who asked, and when they were gathered.
    metadata: Mutex<HashMap<String, (Timestamp, Value)>>,
}

/// Everything that can be asked.
pub(crate) fn operations(desk: &Desk) -> Vec<Arc<dyn Operation>> {
    let telemetry = Arc::new(Telemetry {
        desk: desk.clone(),
        reports: reports::Reports::default(),
        launches: launches::Launches::default(),
        metadata: Mutex::default(),
    });
    ops::operations(&telemetry)
}
