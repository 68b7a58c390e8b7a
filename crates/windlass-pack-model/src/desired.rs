//! The desired state: what rendering produces and planning compares with the disk.

use std::path::PathBuf;

use serde_json::Value;
use windlass_types::Digest;

use crate::{Body, Layer, RelPath, Target, TargetRoot};

/// Everything the selected modules want on this machine, for this project.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Every root that is switched on, sorted by (target, path).
    pub roots: Vec<TargetRoot>,
    /// The files, sorted by (target, path).
    pub files: Vec<DesiredFile>,
    /// Keys inside files shared with others, sorted by (target, path, pointer).
    pub keys: Vec<DesiredKey>,
    /// Warnings for people.
    pub warnings: Vec<String>,
}

/// A whole file that pack owns.
#[derive(Clone, Debug)]
pub struct DesiredFile {
    /// The target.
    pub target: Target,
    /// The absolute path.
    pub path: PathBuf,
    /// The digest of the content.
    pub digest: Digest,
    /// Its length.
    pub len: u64,
    /// The owner's execute bit.
    pub executable: bool,
    /// The bytes.
    pub body: Body,
    /// The modules it comes from, sorted, without repetition.
    pub module_ids: Vec<String>,
    /// Where each part comes from, in the order of the parts.
    pub origins: Vec<Origin>,
    /// How the sources became this file.
    pub form: Form,
}

/// One source file behind an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The module.
    pub module_id: String,
    /// The module's type, lower-case.
    pub module_type: String,
    /// The file inside the module.
    pub module_path: RelPath,
    /// The topmost layer that supplied or changed it.
    pub layer: Layer,
}

/// How sources became an output; what it takes to go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Byte for byte.
    Verbatim,
    /// Several modules, each between its markers.
    Aggregate,
    /// A Cursor rule: generated frontmatter before the body.
    CursorRule,
    /// Generated from the source; edits cannot be captured (a rendered agent, an import line).
    Generated,
}

/// A value at a place inside a JSON or TOML file that others also write.
#[derive(Clone, Debug)]
pub struct DesiredKey {
    /// The target.
    pub target: Target,
    /// The shared file, absolute.
    pub path: PathBuf,
    /// JSON or TOML.
    pub format: KeyFormat,
    /// JSON pointer of the key; for an element of an array the pointer of the array, followed
    /// by `/-`: elements are known by their value.
    pub pointer: String,
    /// The value.
    pub value: Value,
    /// The digest of the value's canonical JSON.
    pub digest: Digest,
    /// The modules it comes from.
    pub module_ids: Vec<String>,
    /// Where it comes from.
    pub origin: Origin,
}

/// The format of a shared file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFormat {
    /// JSON.
    Json,
    /// TOML.
    Toml,
}
