//! Reading a run's artifacts back, after checking that they are what was stored.

use windlass_ports::BlobError;
use windlass_types::{ArtifactRef, Principal, Problem, RunId, code};

use crate::Engine;

/// An artifact with its content.
#[derive(Clone, Debug)]
pub struct ArtifactContent {
    /// What it is.
    pub artifact: ArtifactRef,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Engine {
    /// The artifacts of a run the principal may see.
    pub async fn artifacts(
        &self,
        principal: &Principal,
        run_id: &RunId,
    ) -> Result<Vec<ArtifactRef>, Problem> {
        self.visible_run(principal, run_id).await?;
        Ok(self.store.artifacts(run_id).await?)
    }

    /// One artifact with its content.
    pub async fn artifact(
        &self,
        principal: &Principal,
        run_id: &RunId,
        name: &str,
    ) -> Result<ArtifactContent, Problem> {
        let artifacts = self.artifacts(principal, run_id).await?;
        let artifact = artifacts
            .into_iter()
            .find(|artifact| artifact.name == name)
            .ok_or_else(|| {
                Problem::new(
                    &code::ARTIFACT_NOT_FOUND,
                    format!("run {run_id} has no artifact {name:?}"),
                )
                .with("run_id", run_id.as_str())
                .next(format!("windlass runs artifacts {run_id}"))
            })?;
        let bytes = self
            .blobs
            .get(artifact.sha256)
            .await
            .map_err(blob_problem)?;
        Ok(ArtifactContent { artifact, bytes })
    }
}

/// The public face of a content store failure.
pub(crate) fn blob_problem(error: BlobError) -> Problem {
    let code = match error {
        BlobError::Missing(_) => &code::ARTIFACT_NOT_FOUND,
        BlobError::Altered(_) => &code::STORE_DAMAGED,
        BlobError::Full => &code::STORE_FULL,
        BlobError::Io(_) => &code::STORE_UNAVAILABLE,
    };
    Problem::new(code, error.to_string())
}
