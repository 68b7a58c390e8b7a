//! Snapshots: what an apply did, and what was managed afterwards.

use std::{
    cmp::Ordering,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use windlass_types::{Digest, Problem};

use crate::{FileMode, Target, fault};

/// The record of one event that changed targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What happened. The oldest snapshots do not say; they are deploys.
    #[serde(default)]
    pub kind: SnapshotKind,
    /// Nanoseconds since the epoch, decimal.
    pub id: String,
    /// When, RFC 3339.
    pub created_at: String,
    /// The targets it was about, by name.
    pub targets: Vec<Target>,
    /// Every file managed afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managed_files: Vec<SnapshotFile>,
    /// What was written and removed, manifests included.
    pub changes: Vec<SnapshotChange>,
    /// For a rollback, the snapshot it went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolled_back_to: Option<String>,
    /// The digest of the lockfile then, if there was one.
    #[serde(default)]
    pub lockfile_sha256: Option<Digest>,
    /// The directory of the pre-images; for our own snapshots the blob store.
    pub backup_root: PathBuf,
    /// The configuration repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<PathBuf>,
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The roots it was about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<SnapshotRoot>,
    /// All manifests in force afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub manifests: Vec<SnapshotFile>,
    /// The run that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// What happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotKind {
    /// Modules were deployed.
    #[default]
    Deploy,
    /// Operator assets were installed.
    Bootstrap,
    /// An earlier state was brought back.
    Rollback,
    /// An event was undone.
    Undo,
    /// Everything managed was removed.
    Uninstall,
    /// Missing files were recreated.
    Restore,
}

impl SnapshotKind {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Bootstrap => "bootstrap",
            Self::Rollback => "rollback",
            Self::Undo => "undo",
            Self::Uninstall => "uninstall",
            Self::Restore => "restore",
        }
    }
}

/// A file as it was afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotFile {
    /// The target.
    pub target: Target,
    /// The absolute path.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// The mode; only written down for executable files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<FileMode>,
}

/// A write or removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotChange {
    /// The target.
    pub target: Target,
    /// What was done.
    pub op: SnapshotOp,
    /// The absolute path.
    pub path: PathBuf,
    /// Where the bytes from before are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup_path: Option<PathBuf>,
    /// Their digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_sha256: Option<Digest>,
    /// The digest of what was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_sha256: Option<Digest>,
    /// The mode before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_mode: Option<FileMode>,
    /// The mode after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_mode: Option<FileMode>,
    /// Whether a file that pack did not own was replaced: such originals are kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotOp {
    /// Written where nothing was.
    Create,
    /// Written over something.
    Update,
    /// Removed.
    Delete,
    /// Written back by a rollback.
    RollbackRestore,
    /// Removed by a rollback.
    RollbackDelete,
}

/// A root of a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SnapshotRoot {
    /// The target.
    pub target: Target,
    /// The directory, absolute.
    pub root: PathBuf,
}

/// Why a snapshot cannot be used. One bad snapshot is skipped with a warning.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The file is not a snapshot.
    #[error("it is not a snapshot: {0}")]
    Invalid(#[from] serde_json::Error),
    /// The id inside is not one.
    #[error("its id {0:?} is not a number")]
    Id(String),
    /// A path inside could lead anywhere.
    #[error("its path {0:?} is not an absolute path without `..`")]
    Path(PathBuf),
}

impl Snapshot {
    /// Reads a snapshot, ours or agentpack's.
    pub fn parse(text: &str) -> Result<Self, SnapshotError> {
        let snapshot: Self = serde_json::from_str(text)?;
        if !is_snapshot_id(&snapshot.id) {
            return Err(SnapshotError::Id(snapshot.id));
        }
        if let Some(path) = snapshot.paths().find(|path| !is_plain(path)) {
            return Err(SnapshotError::Path(path.to_owned()));
        }
        Ok(snapshot)
    }

    /// Every path that an event based on this snapshot may write to.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let files = self.managed_files.iter().chain(&self.manifests);
        let roots = self.roots.iter().map(|root| root.root.as_path());
        files
            .map(|file| file.path.as_path())
            .chain(self.changes.iter().map(|change| change.path.as_path()))
            .chain(roots)
    }

    /// The bytes of the file, compact: the list of managed files is the bulk of it. Fails on a
    /// path that is not UTF-8, which the format cannot hold.
    pub fn render(&self) -> Result<String, Problem> {
        let mut text = serde_json::to_string(self).map_err(|error| {
            fault::invalid_path(format!("snapshot {} cannot be written: {error}", self.id))
        })?;
        text.push('\n');
        Ok(text)
    }
}

/// Whether a path says where it leads: old snapshots name their roots by nothing else.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && !path.as_os_str().as_encoded_bytes().contains(&0)
        && path
            .components()
            .all(|part| !matches!(part, Component::ParentDir))
}

/// Whether a text can be a snapshot's id; ids become file names.
pub fn is_snapshot_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 39 && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// The order of snapshot ids: that of the numbers.
pub fn compare_ids(left: &str, right: &str) -> Ordering {
    let digits = |id: &str| id.trim_start_matches('0').len();
    digits(left).cmp(&digits(right)).then_with(|| {
        left.trim_start_matches('0')
            .cmp(right.trim_start_matches('0'))
    })
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
