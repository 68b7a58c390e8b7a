//! Where a run happened: in this home, or in another whose export was imported.

use schemars::JsonSchema;
use serde::Serialize;
use windlass_ports::Expect;
use windlass_types::{Body, Digest, Problem, RunId, event::SpanIds, journal::RunImported};

use super::signature::{ExportSignature, ExportSigner};
use crate::{
    Engine,
    engine::{commit_problem, imported},
};

/// Where a run happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum RunOrigin {
    /// In this home.
    Here {
        /// The public key that signs what this home exports.
        key: String,
    },
    /// Elsewhere. It is history: nothing is resumed, signalled or undone.
    Imported {
        /// Who signed the export; absent when it is unsigned.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<ExportSignature>,
    },
}

impl Engine {
    /// Where a run happened.
    pub async fn origin(&self, run_id: &RunId) -> Result<RunOrigin, Problem> {
        if !self.store.is_imported(run_id).await? {
            let key = ExportSigner::new(&self.export_key)?.name();
            return Ok(RunOrigin::Here { key });
        }
        // The first record counts: a later import of the same run is refused.
        let events = self.store.events(&journal_of(run_id)?, 0, 1).await?;
        let signature = events.first().and_then(|event| {
            match Body::decode(&event.event_type, &event.payload) {
                Ok(Some(Body::RunImported(imported))) if imported.run_id == *run_id => {
                    Some(ExportSignature {
                        key: imported.signed_by?,
                        value: imported.signature?,
                    })
                }
                _ => None,
            }
        });
        Ok(RunOrigin::Imported { signature })
    }

    /// Refuses what would add to a run that happened elsewhere.
    pub async fn refuse_imported(&self, run_id: &RunId) -> Result<(), Problem> {
        match self.store.is_imported(run_id).await? {
            true => Err(imported(run_id)),
            false => Ok(()),
        }
    }

    /// Records who signed a run that was just imported.
    pub(super) async fn record_import(
        &self,
        run_id: &RunId,
        signature: Option<ExportSignature>,
    ) -> Result<(), Problem> {
        let (signed_by, signature) = signature
            .map(|signature| (signature.key, signature.value))
            .unzip();
        let imported = RunImported {
            run_id: run_id.clone(),
            signed_by,
            signature,
        };
        self.append(
            &journal_of(run_id)?,
            Expect::Any,
            vec![imported.into()],
            SpanIds::default(),
            None,
        )
        .await
        .map(drop)
        .map_err(commit_problem)
    }
}

fn journal_of(run_id: &RunId) -> Result<RunId, Problem> {
    let digest = Digest::of(run_id.as_str().as_bytes()).to_string();
    format!("sys_import_{}", &digest[..32])
        .parse()
        .map_err(|error| Problem::internal("journal of an import", error))
}
