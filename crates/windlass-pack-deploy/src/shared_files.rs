//! Which files are shared with others, what they hold now, and the change each undergoes.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use windlass_pack_model::{Body, Desired, DesiredKey, RelPath, Target, fault};
use windlass_types::{Digest, Problem};

use crate::{
    change::{Op, PlanChange, Reason, UpdateKind, Written, shown},
    disk::{Disk, FoundFile, OnDisk},
    plan::{Purpose, place},
    roots::Roots,
    shared::{SharedFile, SharedOutcome, format_of},
};

/// The change a shared file undergoes, if any.
pub(crate) fn shared_change(
    file: &SharedFile,
    found: Option<FoundFile>,
    outcome: &SharedOutcome,
) -> Option<PlanChange> {
    if outcome.changes.is_empty() {
        return None;
    }
    let bytes: Option<Arc<[u8]>> = outcome.text.as_ref().map(|text| Arc::from(text.as_bytes()));
    let adopt = outcome
        .changes
        .iter()
        .any(|change| change.update_kind == Some(UpdateKind::AdoptUpdate));
    let (op, reason, update_kind) = match (found, &bytes) {
        (None, None) => return None,
        (None, Some(_)) => (Op::Create, Reason::FileMissing, None),
        (Some(_), None) => (Op::Delete, Reason::NoLongerManaged, None),
        (Some(_), Some(_)) if adopt => (
            Op::Update,
            Reason::WouldOverwrite,
            Some(UpdateKind::AdoptUpdate),
        ),
        (Some(_), Some(_)) => (
            Op::Update,
            Reason::ContentDiffers,
            Some(UpdateKind::ManagedUpdate),
        ),
    };
    Some(PlanChange {
        target: file.target,
        op,
        path: file.path.clone(),
        before_sha256: found.map(|found| found.digest),
        after_sha256: bytes.as_deref().map(Digest::of),
        update_kind,
        reason,
        before_mode: None,
        after_mode: None,
        keys: outcome.changes.clone(),
        after: bytes.map(|bytes| Written {
            body: Body::Memory(bytes),
            executable: found.is_some_and(|found| found.mode.is_executable()),
        }),
        found_mode: found.map(|found| found.mode),
    })
}

/// The shared files: those with desired keys, and those with keys that were owned.
pub(crate) fn shared_files(
    desired: &Desired,
    roots: &Roots<'_>,
    disk: &Disk,
    purpose: Purpose,
) -> Result<Vec<(usize, SharedFile)>, Problem> {
    let mut files: Vec<(usize, SharedFile)> = Vec::new();
    let mut places: HashMap<(Target, PathBuf), usize> = HashMap::new();
    for key in &desired.keys {
        let at = match places.get(&(key.target, key.path.clone())) {
            Some(at) => *at,
            None => {
                let (root, below) = place(roots, key.target, &key.path)?;
                let file = shared_file(key.target, key.path.clone(), below, disk)?;
                places.insert((key.target, key.path.clone()), files.len());
                files.push((root, file));
                files.len() - 1
            }
        };
        files[at].1.format = key.format;
        files[at].1.desired.push(DesiredKey::clone(key));
    }
    if purpose == Purpose::Bootstrap {
        return Ok(files);
    }
    for (root, slot) in roots.slots.iter().enumerate() {
        for key in slot.owned.iter().flat_map(|owned| &owned.keys) {
            let path = key.path.under(&slot.path);
            let at = match places.get(&(slot.target, path.clone())) {
                Some(at) => *at,
                None => {
                    let file = shared_file(slot.target, path.clone(), key.path.clone(), disk)?;
                    places.insert((slot.target, path), files.len());
                    files.push((root, file));
                    files.len() - 1
                }
            };
            files[at].1.owned.push(key.clone());
        }
    }
    Ok(files)
}

fn shared_file(
    target: Target,
    path: PathBuf,
    below: RelPath,
    disk: &Disk,
) -> Result<SharedFile, Problem> {
    let current = match disk.at(&path) {
        OnDisk::Unreadable(problem) => return Err(problem.clone()),
        OnDisk::NotAFile => {
            return Err(fault::config_invalid(format!(
                "cannot change the keys of {}: it is not a file",
                path.display()
            ))
            .with("path", shown(&path)));
        }
        found => match (found.file(), disk.bytes(&path)) {
            (Some(_), Some(bytes)) => Some(text(&path, bytes)?),
            _ => None,
        },
    };
    Ok(SharedFile {
        target,
        format: format_of(&below),
        path,
        below,
        current,
        desired: Vec::new(),
        owned: Vec::new(),
    })
}

fn text(path: &Path, bytes: &[u8]) -> Result<Arc<str>, Problem> {
    std::str::from_utf8(bytes).map(Arc::from).map_err(|error| {
        fault::config_invalid(format!(
            "cannot change the keys of {}: it is not UTF-8 ({error})",
            path.display()
        ))
        .with("path", shown(path))
    })
}

pub(crate) fn both_ways(target: Target, path: &Path) -> Problem {
    fault::desired_state_conflict(format!(
        "one module writes {} as a whole and another sets keys in it; keep one of them",
        path.display()
    ))
    .with("target", target.as_str())
    .with("path", shown(path))
}
