//! Artifacts: named, typed bytes a run leaves behind, addressed by their SHA-256.

use serde::{Deserialize, Serialize};

use crate::{Digest, Timestamp};

/// Who may be shown an artifact's content.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Those who may see the run; content as it was stored.
    #[default]
    Private,
    /// May leave the process; refused where it holds the value of a known secret.
    Public,
}

/// An artifact about to be stored.
#[derive(Clone, Debug)]
pub struct NewArtifact {
    /// The name within the run, e.g. `report.json`.
    pub name: String,
    /// The media type.
    pub content_type: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Who may be shown it.
    pub visibility: Visibility,
    /// When the content may be dropped; never, when absent.
    pub expires_at: Option<Timestamp>,
}

impl NewArtifact {
    /// A private text artifact that is kept.
    pub fn text(name: impl Into<String>, content_type: &str, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            content_type: content_type.to_owned(),
            bytes: text.into().into_bytes(),
            visibility: Visibility::Private,
            expires_at: None,
        }
    }
}

/// A stored artifact, as the journal names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ArtifactRef {
    /// The name within the run.
    pub name: String,
    /// The media type.
    pub content_type: String,
    /// The SHA-256 of the content.
    pub sha256: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// Who may be shown it.
    pub visibility: Visibility,
    /// When the content may be dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}
