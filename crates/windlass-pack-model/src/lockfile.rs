//! The lockfile `agentpack.lock.json`: which content of each module is meant.

use std::{collections::HashMap, fmt::Write as _, path::Path};

use serde::{Deserialize, Serialize};
use windlass_types::{Digest, Problem};

use crate::{GitSource, ModuleType, RelPath, Tree, fault, json};

/// The name of the file.
pub const LOCKFILE: &str = "agentpack.lock.json";

/// The one version there is.
pub const LOCKFILE_VERSION: u32 = 1;

/// The lockfile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lockfile {
    /// The version of the format.
    pub version: u32,
    /// When it was made, RFC 3339.
    pub generated_at: String,
    /// The enabled modules, by id.
    pub modules: Vec<LockedModule>,
}

/// A module with its content settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedModule {
    /// The module's id.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub module_type: ModuleType,
    /// Where the content came from.
    pub resolved_source: ResolvedSource,
    /// The commit, or `local`.
    pub resolved_version: String,
    /// The hash of the module: see [`module_hash`].
    pub sha256: Digest,
    /// The files, by path.
    pub file_manifest: Vec<FileRecord>,
}

/// Where a module's content came from; one of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedSource {
    /// A path of the machine.
    #[serde(default)]
    pub local_path: Option<ResolvedLocalPath>,
    /// A commit.
    #[serde(default)]
    pub git: Option<ResolvedGit>,
}

/// A local source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedLocalPath {
    /// The path as recorded.
    pub path: String,
}

/// A git source at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedGit {
    /// The address.
    pub url: String,
    /// The commit.
    pub commit: String,
    /// The directory inside; empty for the root.
    #[serde(default)]
    pub subdir: String,
}

/// One file of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The path inside the module.
    pub path: RelPath,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// How many bytes.
    pub bytes: u64,
}

/// Only the version, for a file that is not understood otherwise.
#[derive(Deserialize)]
struct VersionOnly {
    version: i64,
}

impl Lockfile {
    /// A lockfile of modules, sorted.
    pub fn new(generated_at: impl Into<String>, mut modules: Vec<LockedModule>) -> Self {
        modules.sort_by(|left, right| left.id.cmp(&right.id));
        Self {
            version: LOCKFILE_VERSION,
            generated_at: generated_at.into(),
            modules,
        }
    }

    /// Reads a lockfile; `path` is for the messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Problem> {
        let invalid = |error: String| {
            fault::at(
                fault::lockfile_invalid(format!(
                    "{} is not a lockfile: {error}; write it again with the lock command",
                    path.display()
                )),
                path,
            )
            .with("error", error)
        };
        let read: Result<Self, _> = serde_json::from_str(text);
        let version = match &read {
            Ok(lockfile) => i64::from(lockfile.version),
            Err(error) => match serde_json::from_str::<VersionOnly>(text) {
                Ok(only) if only.version != i64::from(LOCKFILE_VERSION) => only.version,
                _ => return Err(invalid(error.to_string())),
            },
        };
        if version != i64::from(LOCKFILE_VERSION) {
            return Err(fault::at(
                fault::lockfile_unsupported_version(format!(
                    "{} has version {version}; this program knows {LOCKFILE_VERSION}",
                    path.display()
                )),
                path,
            )
            .with("version", version)
            .with("supported", vec![LOCKFILE_VERSION]));
        }
        let lockfile = read.map_err(|error| invalid(error.to_string()))?;
        for module in &lockfile.modules {
            module.check().map_err(invalid)?;
        }
        Ok(lockfile)
    }

    /// The bytes of the file.
    pub fn render(&self) -> String {
        json::pretty(self)
    }

    /// Whether nothing differs but the time. Then the old file stays as it is.
    pub fn same_content(&self, other: &Self) -> bool {
        self.version == other.version && self.modules == other.modules
    }

    /// The module of an id.
    pub fn module(&self, id: &str) -> Option<&LockedModule> {
        self.modules.iter().find(|module| module.id == id)
    }

    /// All modules by id, for those who look up many.
    pub fn by_id(&self) -> HashMap<&str, &LockedModule> {
        self.modules
            .iter()
            .map(|module| (module.id.as_str(), module))
            .collect()
    }
}

impl LockedModule {
    /// The commit and the directory become paths below the cache; they must not lead out of it.
    fn check(&self) -> Result<(), String> {
        let Some(git) = &self.resolved_source.git else {
            return Ok(());
        };
        if !is_commit(&git.commit) {
            return Err(format!(
                "module {:?} is locked at {:?}, which is not a commit",
                self.id, git.commit
            ));
        }
        git.source(false)
            .subdir_path()
            .map(|_| ())
            .map_err(|error| format!("module {:?}: {error}", self.id))
    }
}

impl ResolvedGit {
    /// A source that names exactly this commit.
    pub fn source(&self, shallow: bool) -> GitSource {
        GitSource {
            url: self.url.clone(),
            reference: self.commit.clone(),
            subdir: self.subdir.clone(),
            shallow,
        }
    }
}

/// Whether a text is a full commit id: 40 hex characters, or 64 in a SHA-256 repository.
pub fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The records of a tree's files, in path order.
pub fn file_records(tree: &Tree) -> Vec<FileRecord> {
    tree.iter()
        .map(|(path, content)| FileRecord {
            path: path.clone(),
            sha256: content.digest,
            bytes: content.len,
        })
        .collect()
}

/// The hash of a module: over path, digest and size of each file, in path order.
pub fn module_hash(files: &[FileRecord]) -> Digest {
    let mut sorted: Vec<&FileRecord> = files.iter().collect();
    sorted.sort_by(|left, right| left.path.cmp(&right.path));
    let mut text = String::with_capacity(sorted.len() * 128);
    for file in sorted {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}\n{}\n{}\n", file.path, file.sha256, file.bytes);
    }
    Digest::of(text.as_bytes())
}

#[cfg(test)]
#[path = "lockfile_tests.rs"]
mod tests;
