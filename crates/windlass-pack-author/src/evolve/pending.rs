//! Conflicts of a rebase that are not resolved yet: `.agentpack/rebase.json`.
//!
//! The baseline of a conflicted file stays where it was, so something has to say where that was
//! and against what the conflict arose. The file exists only as long as there are conflicts.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use windlass_pack_deploy::state::After;
use windlass_pack_model::{RelPath, Upstream, fault};
use windlass_types::{Digest, Problem};

use crate::evolve::{overlay::metadata_file, read, writes::Writes};

/// The name of the file.
const FILE: &str = "rebase.json";
const VERSION: u32 = 1;

/// What a conflict begins and ends with. The same words are looked for later: a file that has
/// them is not resolved.
pub(crate) const OURS: &str = "overlay";
pub(crate) const THEIRS: &str = "upstream";

/// The conflicts by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) conflicts: BTreeMap<RelPath, Conflict>,
}

/// One conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Conflict {
    /// The overlay's file, or its patch, before the rebase.
    pub(crate) ours_sha256: Digest,
    /// The file both sides started from.
    pub(crate) base_sha256: Digest,
    /// Where that is.
    pub(crate) base: Option<Upstream>,
    /// The upstream's file then; none when it was gone.
    pub(crate) theirs_sha256: Option<Digest>,
    /// Where that is.
    pub(crate) theirs: Option<Upstream>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    conflicts: Vec<StoredConflict>,
}

#[derive(Serialize, Deserialize)]
struct StoredConflict {
    path: RelPath,
    #[serde(flatten)]
    conflict: Conflict,
}

impl Pending {
    /// Reads the conflicts of an overlay.
    pub(crate) fn read(overlay_dir: &Path) -> Result<Self, Problem> {
        let path = metadata_file(overlay_dir, FILE);
        let Some(text) = read::text_if_present(&path)? else {
            return Ok(Self::default());
        };
        let stored: Stored = serde_json::from_str(&text).map_err(|error| {
            fault::at(
                fault::config_invalid(format!(
                    "{} cannot be read: {error}; resolve the conflicts of the overlay and delete the file",
                    path.display()
                )),
                &path,
            )
            .with("error", error.to_string())
        })?;
        Ok(Self {
            conflicts: stored
                .conflicts
                .into_iter()
                .map(|stored| (stored.path, stored.conflict))
                .collect(),
        })
    }

    /// Writes them, or removes the file when there are none.
    pub(crate) fn write(self, overlay_dir: &Path, writes: &mut Writes) -> Result<(), Problem> {
        let path = metadata_file(overlay_dir, FILE);
        if self.conflicts.is_empty() {
            return writes.remove(path).map(drop);
        }
        let stored = Stored {
            version: VERSION,
            conflicts: self
                .conflicts
                .into_iter()
                .map(|(path, conflict)| StoredConflict { path, conflict })
                .collect(),
        };
        let mut text = serde_json::to_string_pretty(&stored).map_err(|error| {
            fault::unexpected("internal", &["retry_command"], error.to_string())
        })?;
        text.push('\n');
        writes
            .put(path, After::of(text.into_bytes(), false))
            .map(drop)
    }
}

/// Whether a text still holds a conflict as a rebase writes it.
pub(crate) fn is_unresolved(bytes: &[u8]) -> bool {
    let (open, close) = (format!("<<<<<<< {OURS}"), format!(">>>>>>> {THEIRS}"));
    bytes
        .split(|byte| *byte == b'\n')
        .any(|line| line.starts_with(open.as_bytes()) || line.starts_with(close.as_bytes()))
}
