//! `patch_bundle.json`: what is done to the site, in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a patch works.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PatchKind {
    /// A new file.
    CreateFile,
    /// Lines replaced.
    UpdateFileRange,
    /// What stands at an anchor replaced.
    UpdateByAnchor,
    /// Keys of the front matter set.
    UpdateFrontmatterKeys,
    /// A file removed.
    DeleteFile,
}

/// One change of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// `patch_` and a number of three digits, counted within the run.
    pub patch_id: String,
    /// How it works.
    #[serde(rename = "type")]
    pub kind: PatchKind,
    /// The file, relative to the site.
    pub path: String,
    /// The heading or marker it works at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// The first line replaced, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// The last line replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// The keys set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub frontmatter_updates: BTreeMap<String, Value>,
    /// The new text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_content: Option<String>,
    /// The digest of the file before, 64 hex characters; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_before_hash: Option<String>,
    /// The digest of what the patch brings.
    pub content_hash: String,
}

/// All patches of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchBundle {
    /// The version of this format.
    pub schema_version: String,
    /// The patches, in order.
    pub patches: Vec<Patch>,
}

/// Why a patch does not fit the site.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConflictReason {
    /// The heading or marker is not there.
    AnchorMissing,
    /// The lines are not there.
    RangeOutOfBounds,
    /// The key of the front matter is not there.
    KeyMissing,
    /// The file is not what it was.
    HashMismatch,
    /// The path may not be written.
    PathNotAllowed,
    /// A new file's name is taken by other content.
    FileExists,
    /// The file is no text.
    Binary,
    /// The file is text of another encoding.
    NotUtf8,
    /// The file is larger than a page may be.
    TooLarge,
    /// Patches wait for each other.
    CircularDependency,
}

/// One patch that does not fit.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct PatchConflict {
    /// The patch.
    pub patch_id: String,
    /// The file, relative to the site.
    pub path: String,
    /// Why it does not fit.
    pub conflict_reason: ConflictReason,
    /// What the patch was made for.
    pub expected_state: String,
    /// What is there.
    pub actual_state: String,
}

/// `patch_conflicts.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchConflicts {
    /// The version of this format.
    pub schema_version: String,
    /// The conflicts, by patch.
    pub conflicts: Vec<PatchConflict>,
}
