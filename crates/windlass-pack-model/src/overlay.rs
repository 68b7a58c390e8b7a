//! Overlay metadata: the files in an overlay's `.agentpack/` directory.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_types::{Digest, Problem};

use crate::{FileRecord, Layer, RelPath, fault, json, lockfile::is_commit, module_id};

/// The directory of an overlay's metadata.
pub const METADATA_DIR: &str = ".agentpack";

/// The version of `baseline.json` that is written.
pub const BASELINE_VERSION: u32 = 2;

/// `baseline.json`: the upstream an overlay was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The version of the format; 2 is written, 1 had no `upstream`.
    pub version: u32,
    /// When, RFC 3339.
    pub created_at: String,
    /// The module hash of that upstream.
    pub upstream_sha256: Digest,
    /// Its files, by path.
    pub file_manifest: Vec<FileRecord>,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
}

/// Where an overlay's upstream came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Upstream {
    /// A commit.
    Git {
        /// The address.
        url: String,
        /// The commit.
        commit: String,
        /// The directory inside; empty for the root.
        #[serde(default)]
        subdir: String,
    },
    /// A path in the configuration repository.
    LocalPath {
        /// The path below the repository.
        repo_rel_path: String,
        /// The repository's commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo_git_rev: Option<String>,
        /// Whether it had changes that were not committed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo_dirty: Option<bool>,
    },
}

/// `overlay.json`: what kind of overlay it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlayConfig {
    /// The kind.
    #[serde(default)]
    pub overlay_kind: OverlayKind,
    /// Files of the layers below that are taken away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delete: Vec<RelPath>,
}

/// How an overlay changes what lies below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlayKind {
    /// Its files replace those of the same path.
    #[default]
    Dir,
    /// Its patches change them.
    Patch,
}

impl OverlayKind {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dir => "dir",
            Self::Patch => "patch",
        }
    }
}

impl Baseline {
    /// Reads a `baseline.json`; `path` is for the messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Problem> {
        let invalid = |error: String| invalid(path, "a baseline", &error);
        let baseline: Self =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        if !(1..=BASELINE_VERSION).contains(&baseline.version) {
            return Err(invalid(format!(
                "version {} is not known",
                baseline.version
            )));
        }
        match &baseline.upstream {
            Some(Upstream::Git { commit, .. }) if !is_commit(commit) => {
                return Err(invalid(format!("{commit:?} is not a commit")));
            }
            _ => {}
        }
        Ok(baseline)
    }

    /// The bytes of the file.
    pub fn render(&self) -> String {
        json::pretty(self)
    }

    /// The record of a file.
    pub fn file(&self, path: &RelPath) -> Option<&FileRecord> {
        self.file_manifest.iter().find(|file| file.path == *path)
    }
}

impl OverlayConfig {
    /// Reads an `overlay.json`; `path` is for the messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Problem> {
        serde_json::from_str(text).map_err(|error| {
            invalid(path, "overlay metadata", &error.to_string()).with(
                "hint",
                "delete the file for a dir overlay, or write {\"overlay_kind\": \"dir\"} or \
                 {\"overlay_kind\": \"patch\"}",
            )
        })
    }

    /// The bytes of the file.
    pub fn render(&self) -> String {
        json::pretty(self)
    }
}

fn invalid(path: &Path, what: &str, error: &str) -> Problem {
    fault::at(
        fault::config_invalid(format!("{} is not {what}: {error}", path.display())),
        path,
    )
    .with("error", error)
}

/// The directory below the repository that holds a layer's overlays; none for the upstream.
/// Machine and project id are path components: see [`crate::machine`] and [`crate::project`].
pub fn layer_dir(layer: Layer, machine_id: &str, project_id: Option<&str>) -> Option<PathBuf> {
    match layer {
        Layer::Upstream => None,
        Layer::Global => Some(PathBuf::from("overlays")),
        Layer::Machine => Some(Path::new("overlays/machines").join(machine_id)),
        Layer::Project => Some(Path::new("projects").join(project_id?).join("overlays")),
    }
}

/// The directories an overlay of a module may have in a layer, below the repository, the one to
/// create first; the first that exists is the overlay.
pub fn overlay_dirs(
    layer: Layer,
    module_id: &str,
    machine_id: &str,
    project_id: Option<&str>,
) -> Vec<PathBuf> {
    match layer_dir(layer, machine_id, project_id) {
        Some(dir) => module_id::overlay_keys(module_id)
            .into_iter()
            .map(|key| dir.join(key))
            .collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
