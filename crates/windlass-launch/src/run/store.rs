//! Artifacts: kept by the work that makes them, read back by the work that needs them.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_launch_model::artifact;
use windlass_types::{ArtifactRef, Problem, Visibility};

use super::{Launch, Tools};

impl Tools {
    /// Keeps a JSON artifact. One that does not fit its own schema is a defect, and not kept.
    pub(super) async fn keep_json<T: Serialize>(
        &self,
        name: &str,
        value: &T,
    ) -> Result<ArtifactRef, Problem> {
        let text =
            artifact::artifact_text(value).map_err(|error| Problem::internal("artifact", error))?;
        let json: Value =
            serde_json::from_str(&text).map_err(|error| Problem::internal("artifact", error))?;
        artifact::check(name, &json)
            .map_err(|errors| crate::fault::schema(&errors).with("artifact", name))?;
        self.keep(name, "application/json", text.into_bytes()).await
    }

    /// Keeps a text artifact.
    pub(super) async fn keep_text(
        &self,
        name: &str,
        content_type: &str,
        text: String,
    ) -> Result<ArtifactRef, Problem> {
        self.keep(name, content_type, text.into_bytes()).await
    }

    async fn keep(
        &self,
        name: &str,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<ArtifactRef, Problem> {
        let size = bytes.len() as u64;
        let stored = self.engine.upgrade()?.blobs.put(bytes).await;
        Ok(ArtifactRef {
            name: name.to_owned(),
            content_type: content_type.to_owned(),
            sha256: stored.map_err(|error| Problem::internal("content store", error))?,
            size,
            visibility: Visibility::Private,
            expires_at: None,
        })
    }

    /// Reads an artifact's bytes.
    pub(super) async fn read(&self, artifact: &ArtifactRef) -> Result<Vec<u8>, Problem> {
        let content = self.engine.upgrade()?.blobs.get(artifact.sha256).await;
        content.map_err(|error| {
            Problem::internal("content store", error).with("artifact", artifact.name.as_str())
        })
    }

    /// Reads a JSON artifact.
    pub(super) async fn read_json<T: DeserializeOwned>(
        &self,
        artifact: &ArtifactRef,
    ) -> Result<T, Problem> {
        let bytes = self.read(artifact).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Problem::internal("artifact", format!("{}: {error}", artifact.name)))
    }
}

impl Launch<'_> {
    /// An artifact that an earlier stage has made.
    pub(super) fn artifact(&self, name: &str) -> Result<ArtifactRef, Problem> {
        self.artifacts.get(name).cloned().ok_or_else(|| {
            Problem::internal("launch", format!("the artifact {name} is not there yet"))
        })
    }

    /// The content of a JSON artifact that an earlier stage has made.
    pub(super) async fn load<T: DeserializeOwned>(&self, name: &str) -> Result<T, Problem> {
        self.tools.read_json(&self.artifact(name)?).await
    }
}
