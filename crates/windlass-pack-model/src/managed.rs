//! The managed manifest `<root>/.agentpack.manifest.<target>.json`: what pack owns in a root.

use std::{borrow::Cow, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_types::Digest;

use crate::{FileMode, RelPath, Target, json};

/// The one schema version there is.
pub const SCHEMA_VERSION: u32 = 1;

/// The name all targets once shared.
pub const LEGACY_NAME: &str = ".agentpack.manifest.json";

/// The line that keeps manifests out of git.
pub const GITIGNORE_LINE: &str = ".agentpack.manifest*.json";

/// The name of a target's manifest in its root.
pub fn manifest_name(target: Target) -> String {
    format!(".agentpack.manifest.{target}.json")
}

/// Whether a file name is that of a manifest, of any target.
pub fn is_manifest_name(name: &str) -> bool {
    name == LEGACY_NAME || (name.starts_with(".agentpack.manifest.") && name.ends_with(".json"))
}

/// What pack owns in one root, for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedManifest {
    /// When it was written, RFC 3339.
    pub generated_at: String,
    /// The target.
    pub tool: Target,
    /// The snapshot of the apply that wrote it.
    pub snapshot_id: Option<String>,
    /// Whole files, by path.
    pub managed_files: Vec<ManagedFile>,
    /// Keys of files shared with others, by (path, pointer).
    pub managed_keys: Vec<ManagedKey>,
}

/// A file pack owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedFile {
    /// The path below the root.
    pub path: RelPath,
    /// The digest it was written with.
    pub sha256: Digest,
    /// The modules it came from.
    pub module_ids: Vec<String>,
    /// The mode; only written down for executable files.
    pub mode: Option<FileMode>,
}

impl ManagedFile {
    /// Whether it was written as an executable.
    pub fn is_executable(&self) -> bool {
        self.mode.is_some_and(FileMode::is_executable)
    }
}

/// A key pack owns in a file shared with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedKey {
    /// The shared file, below the root.
    pub path: RelPath,
    /// The JSON pointer; `/-` at the end means an element of an array, known by its digest.
    pub pointer: String,
    /// The digest of the value's canonical JSON.
    pub sha256: Digest,
    /// The modules it came from.
    pub module_ids: Vec<String>,
    /// The value; what a rollback puts back.
    pub value: Option<Value>,
    /// Whether pack made the file; then it goes with its last key.
    pub created: bool,
}

/// What a manifest file says. Without a manifest the root counts as having none; the warnings
/// say why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedRead {
    /// The manifest.
    pub manifest: Option<ManagedManifest>,
    /// What is odd about the file.
    pub warnings: Vec<String>,
}

/// The file, loosely: one bad entry must not hide the others.
#[derive(Deserialize)]
struct RawManifest<'a> {
    schema_version: u32,
    generated_at: String,
    tool: String,
    #[serde(default)]
    snapshot_id: Option<String>,
    #[serde(borrow)]
    managed_files: Vec<RawFile<'a>>,
    #[serde(default, borrow)]
    managed_keys: Vec<RawKey<'a>>,
}

#[derive(Serialize, Deserialize)]
struct RawFile<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(borrow)]
    sha256: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    module_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
struct RawKey<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    pointer: String,
    #[serde(borrow)]
    sha256: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    module_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    created: bool,
}

/// The file as written.
#[derive(Serialize)]
struct Written<'a> {
    schema_version: u32,
    generated_at: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_id: Option<&'a str>,
    managed_files: Vec<RawFile<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    managed_keys: Vec<RawKey<'a>>,
}

/// Reads the manifest file of a target; `path` is for the messages and shows the legacy name.
pub fn read_managed(text: &str, target: Target, path: &Path) -> ManagedRead {
    let mut warnings = Vec::new();
    let shown = path.display();
    if path.file_name().is_some_and(|name| name == LEGACY_NAME) {
        warnings.push(format!(
            "target manifest ({target}): {shown} has the old name; the next deploy --apply \
             writes {}",
            manifest_name(target)
        ));
    }
    let ignored = |warnings: Vec<String>| ManagedRead {
        manifest: None,
        warnings,
    };
    let raw: RawManifest<'_> = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            let version = serde_json::from_str::<serde_json::Value>(text)
                .ok()
                .filter(serde_json::Value::is_object)
                .map(|value| value.get("schema_version").and_then(|v| v.as_u64()));
            warnings.push(match version {
                Some(version) if version != Some(u64::from(SCHEMA_VERSION)) => {
                    unsupported(target, version, path)
                }
                _ => format!(
                    "target manifest ({target}): {shown} cannot be read and counts as missing: \
                     {error}"
                ),
            });
            return ignored(warnings);
        }
    };
    if raw.schema_version != SCHEMA_VERSION {
        warnings.push(unsupported(target, Some(raw.schema_version.into()), path));
        return ignored(warnings);
    }
    if raw.tool != target.as_str() {
        warnings.push(format!(
            "target manifest ({target}): {shown} belongs to {:?} and counts as missing",
            raw.tool
        ));
        return ignored(warnings);
    }
    let mut skip = |entry: &str, reason: String| {
        warnings.push(format!(
            "target manifest ({target}): the entry {entry:?} in {shown} is skipped: {reason}"
        ));
    };
    let mut managed_files = Vec::with_capacity(raw.managed_files.len());
    for file in raw.managed_files {
        match managed_file(&file) {
            Ok(managed) => managed_files.push(managed),
            Err(reason) => skip(&file.path, reason),
        }
    }
    let mut managed_keys = Vec::with_capacity(raw.managed_keys.len());
    for key in raw.managed_keys {
        match place(&key.path, &key.sha256) {
            Ok((path, sha256)) => managed_keys.push(ManagedKey {
                path,
                pointer: key.pointer,
                sha256,
                module_ids: key.module_ids,
                value: key.value,
                created: key.created,
            }),
            Err(reason) => skip(&key.path, reason),
        }
    }
    ManagedRead {
        manifest: Some(ManagedManifest {
            generated_at: raw.generated_at,
            tool: target,
            snapshot_id: raw.snapshot_id,
            managed_files,
            managed_keys,
        }),
        warnings,
    }
}

fn unsupported(target: Target, version: Option<u64>, path: &Path) -> String {
    let version = version.map_or_else(|| "(none)".to_owned(), |version| version.to_string());
    format!(
        "target manifest ({target}): unsupported schema_version {version} in {} \
         (this program knows {SCHEMA_VERSION}); it counts as missing",
        path.display()
    )
}

fn place(path: &str, sha256: &str) -> Result<(RelPath, Digest), String> {
    let path = RelPath::new(path).map_err(|error| error.reason.to_owned())?;
    let sha256 = sha256
        .parse()
        .map_err(|_| "its sha256 is not a digest".to_owned())?;
    Ok((path, sha256))
}

fn managed_file(raw: &RawFile<'_>) -> Result<ManagedFile, String> {
    let (path, sha256) = place(&raw.path, &raw.sha256)?;
    let mode = match &raw.mode {
        Some(mode) => Some(mode.parse().map_err(|error| format!("{error}"))?),
        None => None,
    };
    Ok(ManagedFile {
        path,
        sha256,
        module_ids: raw.module_ids.clone(),
        mode,
    })
}

impl ManagedManifest {
    /// The bytes of the file: sorted, modes only of executable files.
    pub fn render(&self) -> String {
        let mut managed_files: Vec<RawFile<'_>> = self
            .managed_files
            .iter()
            .map(|file| RawFile {
                path: file.path.as_str().into(),
                sha256: file.sha256.to_string().into(),
                module_ids: file.module_ids.clone(),
                mode: file
                    .mode
                    .filter(|mode| mode.is_executable())
                    .map(|mode| mode.to_string().into()),
            })
            .collect();
        managed_files.sort_by(|left, right| left.path.cmp(&right.path));
        let mut managed_keys: Vec<RawKey<'_>> = self
            .managed_keys
            .iter()
            .map(|key| RawKey {
                path: key.path.as_str().into(),
                pointer: key.pointer.clone(),
                sha256: key.sha256.to_string().into(),
                module_ids: key.module_ids.clone(),
                value: key.value.clone(),
                created: key.created,
            })
            .collect();
        managed_keys.sort_by(|left, right| {
            (&left.path, &left.pointer, &left.sha256).cmp(&(
                &right.path,
                &right.pointer,
                &right.sha256,
            ))
        });
        json::pretty(&Written {
            schema_version: SCHEMA_VERSION,
            generated_at: &self.generated_at,
            tool: self.tool.as_str(),
            snapshot_id: self.snapshot_id.as_deref(),
            managed_files,
            managed_keys,
        })
    }

    /// Whether nothing differs but time and snapshot. Then the old file stays as it is.
    pub fn same_content(&self, other: &Self) -> bool {
        self.tool == other.tool
            && self.managed_files == other.managed_files
            && self.managed_keys == other.managed_keys
    }
}

#[cfg(test)]
#[path = "managed_tests.rs"]
mod tests;
