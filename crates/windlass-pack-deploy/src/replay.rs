//! Keys of the past: bringing the shared files of a root to the keys it once had.

use std::{collections::BTreeMap, sync::Arc};

use windlass_pack_model::{DesiredKey, Layer, Origin, RelPath, fault};
use windlass_types::Problem;

use crate::{
    change::shown,
    disk::{Disk, FoundFile, OnDisk},
    owned::{OwnedKey, OwnedRoot},
    shared::{SharedFile, SharedOutcome, Theirs, format_of},
};

/// A shared file and what becomes of it.
pub(crate) struct RestoredKeys {
    pub(crate) file: SharedFile,
    pub(crate) found: Option<FoundFile>,
    pub(crate) outcome: SharedOutcome,
}

/// What becomes of the shared files of a root when exactly some keys are owned afterwards.
pub(crate) fn restore_keys(
    current: &OwnedRoot,
    wanted: Vec<OwnedKey>,
    disk: &Disk,
    warnings: &mut Vec<String>,
) -> Result<Vec<RestoredKeys>, Problem> {
    let mut files: BTreeMap<RelPath, (Vec<OwnedKey>, Vec<OwnedKey>)> = BTreeMap::new();
    for key in &current.keys {
        files
            .entry(key.path.clone())
            .or_default()
            .0
            .push(key.clone());
    }
    for key in wanted {
        files.entry(key.path.clone()).or_default().1.push(key);
    }
    files
        .into_iter()
        .map(|(below, (owned, wanted))| restore_file(current, below, owned, wanted, disk, warnings))
        .collect()
}

fn restore_file(
    current: &OwnedRoot,
    below: RelPath,
    owned: Vec<OwnedKey>,
    wanted: Vec<OwnedKey>,
    disk: &Disk,
    warnings: &mut Vec<String>,
) -> Result<RestoredKeys, Problem> {
    let path = below.under(&current.path);
    let found = match disk.at(&path) {
        OnDisk::Unreadable(problem) => return Err(problem.clone()),
        found => found.file(),
    };
    let text = match disk.bytes(&path).map(|bytes| std::str::from_utf8(bytes)) {
        None => None,
        Some(Ok(text)) => Some(Arc::from(text)),
        Some(Err(error)) => {
            return Err(fault::config_invalid(format!(
                "cannot change the keys of {}: it is not UTF-8 ({error})",
                path.display()
            ))
            .with("path", shown(&path)));
        }
    };
    let mut desired = Vec::new();
    for key in wanted {
        match key.value {
            Some(value) => desired.push(DesiredKey {
                target: current.target,
                path: path.clone(),
                format: format_of(&below),
                pointer: key.pointer,
                digest: key.digest,
                origin: Origin {
                    module_id: key.module_ids.first().cloned().unwrap_or_default(),
                    module_type: String::new(),
                    module_path: below.clone(),
                    layer: Layer::Upstream,
                },
                module_ids: key.module_ids,
                value,
            }),
            None => warnings.push(format!(
                "{} of {} is not restored: its manifest does not have the value",
                key.pointer,
                path.display()
            )),
        }
    }
    let file = SharedFile {
        target: current.target,
        path,
        format: format_of(&below),
        below,
        current: text,
        desired,
        owned,
    };
    let outcome = file.resolve(Theirs::Adopt)?;
    Ok(RestoredKeys {
        file,
        found,
        outcome,
    })
}
