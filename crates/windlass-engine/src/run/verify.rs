//! Verifying a journal: the chain from the first event (or the prune anchor) to the last.

use schemars::JsonSchema;
use serde::Serialize;
use windlass_ports::StoreError;
use windlass_types::{Digest, Problem, RunId};

use super::origin::RunOrigin;
use crate::Engine;

/// Journals that are no runs begin so.
const SYSTEM: &str = "sys_";

const PAGE: usize = 1000;

/// What verifying a journal found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifyReport {
    /// The journal.
    pub run_id: RunId,
    /// How many events were checked.
    pub events: u64,
    /// The hash of the last one; equal hashes mean equal histories.
    pub head: Option<Digest>,
    /// Where the run happened and who says so; absent for journals that are no runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<RunOrigin>,
    /// Whether all is well.
    pub intact: bool,
    /// What is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
}

impl Engine {
    /// Checks every event of a journal. The store checks the chain of what it returns, so
    /// reading to the end is verifying.
    pub async fn verify(&self, run_id: &RunId) -> Result<VerifyReport, Problem> {
        let mut report = VerifyReport {
            run_id: run_id.clone(),
            events: 0,
            head: None,
            origin: None,
            intact: true,
            finding: None,
        };
        if !run_id.as_str().starts_with(SYSTEM) {
            report.origin = Some(self.origin(run_id).await?);
        }
        let mut after = 0;
        loop {
            match self.store.events(run_id, after, PAGE).await {
                Ok(events) => {
                    let Some(last) = events.last() else {
                        return Ok(report);
                    };
                    report.events += events.len() as u64;
                    report.head = Some(last.hash);
                    after = last.seq;
                }
                Err(StoreError::Damaged(finding)) => {
                    report.intact = false;
                    report.finding = Some(finding);
                    return Ok(report);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
