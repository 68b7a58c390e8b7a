//! `put_artifact`: content first, then the event that names it.

use windlass_ports::BlobError;
use windlass_types::{ArtifactRef, NewArtifact, Problem, Visibility, journal::ArtifactStored};

use super::super::{journal_context::JournalContext, lock};
use crate::run::RunError;

const LONGEST_NAME: usize = 255;

pub(in super::super) async fn put(
    context: &JournalContext,
    artifact: NewArtifact,
) -> Result<ArtifactRef, RunError> {
    let key = context.key(&format!("artifact:{}", artifact.name));
    if let Some(stored) = lock(&context.memo).artifacts.get(&key) {
        return Ok(stored.clone());
    }
    context.guard()?;
    let artifact = store(context, artifact).await?;
    let stored = ArtifactStored {
        key,
        artifact: artifact.clone(),
    };
    context
        .journal(vec![stored.into()], context.own_span())
        .await?;
    Ok(artifact)
}

/// Keeps the content; nothing names it yet.
pub(in super::super) async fn store(
    context: &JournalContext,
    artifact: NewArtifact,
) -> Result<ArtifactRef, RunError> {
    if artifact.name.is_empty()
        || artifact.name.len() > LONGEST_NAME
        || artifact.name.contains(['\0', '\n'])
    {
        return Err(Problem::invalid(
            "name",
            "artifact name",
            "an artifact's name has 1 to 255 printable bytes",
        )
        .into());
    }
    // Content is stored as it is or not at all: changed content would not be what was made.
    let is_public = artifact.visibility == Visibility::Public;
    if is_public && context.engine.redactor.knows_part_of(&artifact.bytes) {
        let message = format!(
            "the artifact {:?} holds the value of a secret, and a public artifact must not",
            artifact.name
        );
        return Err(Problem::invalid("visibility", "no_secret", message)
            .next("store it as a private artifact, or leave the secret out of it")
            .into());
    }
    let size = artifact.bytes.len() as u64;
    let sha256 = put_blob(context, artifact.bytes).await?;
    Ok(ArtifactRef {
        name: artifact.name,
        content_type: artifact.content_type,
        sha256,
        size,
        visibility: artifact.visibility,
        expires_at: artifact.expires_at,
    })
}

/// Like journal writes, content writes wait for a full disk to have space again.
async fn put_blob(
    context: &JournalContext,
    bytes: Vec<u8>,
) -> Result<windlass_types::Digest, RunError> {
    loop {
        match context.engine.blobs.put(bytes.clone()).await {
            Ok(digest) => return Ok(digest),
            Err(error @ (BlobError::Full | BlobError::Io(_))) => {
                tracing::warn!(run_id = %context.run_id, %error, "content cannot be written; trying again");
            }
            Err(error) => return Err(Problem::internal("content store", error).into()),
        }
        context.pause().await?;
    }
}
