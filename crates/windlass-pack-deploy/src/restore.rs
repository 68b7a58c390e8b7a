//! `evolve restore`: missing outputs are written again; nothing that is there is touched.

use std::{collections::HashSet, path::PathBuf};

use serde::{Serialize, Serializer, ser::SerializeStruct};
use windlass_pack_model::{Desired, SnapshotKind, Target};
use windlass_types::Problem;

use crate::{
    change::{PlanChange, Reason, Wanted, posix},
    disk::{Disk, OnDisk},
    event::{EventPlan, RootAfter, manifest_fate},
    owned::{Owned, OwnedFile, OwnedRoot},
    plan::{Purpose, place},
    roots::Roots,
    shared::Theirs,
    shared_files::{shared_change, shared_files},
};

/// An output that is written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredItem {
    /// The target.
    pub target: Target,
    /// The absolute path.
    pub path: PathBuf,
    /// The modules it comes from.
    pub module_ids: Vec<String>,
}

impl Serialize for RestoredItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let path = self.path.to_string_lossy();
        let mut view = serializer.serialize_struct("RestoredItem", 4)?;
        if !self.module_ids.is_empty() {
            view.serialize_field("module_ids", &self.module_ids)?;
        }
        view.serialize_field("path", &path)?;
        view.serialize_field("path_posix", &posix(&path))?;
        view.serialize_field("target", &self.target)?;
        view.end()
    }
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RestoreSummary {
    /// Outputs that are not there.
    pub missing: u64,
    /// Outputs that are written.
    pub restored: u64,
    /// Outputs that are there, as wanted or not.
    pub skipped_existing: u64,
    /// Outputs that could not be looked at.
    pub skipped_read_error: u64,
}

/// What a restore would do.
#[derive(Clone, Debug)]
pub struct RestorePlan {
    /// The outputs that are written, by target and path.
    pub restored: Vec<RestoredItem>,
    /// Their count; nothing is restored yet.
    pub summary: RestoreSummary,
    /// The event.
    pub event: EventPlan,
}

impl RestorePlan {
    /// The count once the event was carried out.
    pub fn summary_applied(&self) -> RestoreSummary {
        RestoreSummary {
            restored: self.restored.len() as u64,
            ..self.summary
        }
    }
}

/// Finds the missing outputs, of one module if so asked.
pub fn plan_restore(
    desired: &Desired,
    owned: &Owned,
    disk: &Disk,
    module_id: Option<&str>,
) -> Result<RestorePlan, Problem> {
    let roots = Roots::new(desired, owned);
    let concerns =
        |module_ids: &[String]| module_id.is_none_or(|only| module_ids.iter().any(|id| id == only));
    let mut event = EventPlan::new(SnapshotKind::Restore);
    event.warnings = owned.warnings.clone();
    let mut restored = Vec::new();
    let mut summary = RestoreSummary::default();
    let mut after: Vec<Option<RootAfter>> = vec![None; roots.slots.len()];
    let root_after = |index: usize, after: &mut Vec<Option<RootAfter>>| {
        let slot = &roots.slots[index];
        if after[index].is_none() {
            let current = slot
                .owned
                .cloned()
                .unwrap_or_else(|| OwnedRoot::nothing(slot.target, slot.path.clone()));
            after[index] = Some(RootAfter {
                scope: slot.scope,
                scan_extras: slot.scan_extras,
                ..RootAfter::unchanged(&current)
            });
        }
    };
    for file in desired
        .files
        .iter()
        .filter(|file| concerns(&file.module_ids))
    {
        let (index, below) = place(&roots, file.target, &file.path)?;
        match disk.at(&file.path) {
            // A link that leads nowhere: there is no such file either.
            OnDisk::Absent | OnDisk::Symlink { file: None, .. } => {}
            OnDisk::Unreadable(problem) => {
                summary.skipped_read_error += 1;
                event.warnings.push(format!(
                    "evolve.restore: skipped {} {}: {}",
                    file.target,
                    file.path.display(),
                    problem.message()
                ));
                continue;
            }
            _ => {
                summary.skipped_existing += 1;
                continue;
            }
        }
        summary.missing += 1;
        let wanted = Wanted {
            digest: file.digest,
            body: file.body.clone(),
            executable: file.executable,
        };
        event.changes.extend(PlanChange::toward(
            (file.target, &file.path),
            None,
            Some(wanted),
            Reason::FileMissing,
        ));
        restored.push(RestoredItem {
            target: file.target,
            path: file.path.clone(),
            module_ids: file.module_ids.clone(),
        });
        root_after(index, &mut after);
        if let Some(root) = &mut after[index] {
            root.files.push(OwnedFile {
                path: below,
                digest: file.digest,
                executable: file.executable,
                module_ids: file.module_ids.clone(),
            });
        }
    }
    for (index, mut file) in shared_files(desired, &roots, disk, Purpose::Bootstrap)? {
        file.desired.retain(|key| concerns(&key.module_ids));
        if file.desired.is_empty() {
            continue;
        }
        if !matches!(disk.at(&file.path), OnDisk::Absent) {
            summary.skipped_existing += 1;
            continue;
        }
        summary.missing += 1;
        let outcome = file.resolve(Theirs::Overwrite)?;
        event.changes.extend(shared_change(&file, None, &outcome));
        restored.push(RestoredItem {
            target: file.target,
            path: file.path.clone(),
            module_ids: file
                .desired
                .iter()
                .flat_map(|key| key.module_ids.clone())
                .collect(),
        });
        root_after(index, &mut after);
        if let Some(root) = &mut after[index] {
            root.keys.retain(|key| key.path != file.below);
            root.keys.extend(outcome.owned);
        }
    }
    for mut root in after.into_iter().flatten() {
        // The later entry of a path is the new one.
        let mut seen = HashSet::new();
        root.files.reverse();
        root.files.retain(|file| seen.insert(file.path.clone()));
        root.sort();
        root.manifest = manifest_fate(&root, true, true);
        event.roots.push(root);
    }
    restored.sort_by(|left, right| {
        (left.target, left.path.as_os_str()).cmp(&(right.target, right.path.as_os_str()))
    });
    Ok(RestorePlan {
        restored,
        summary,
        event: event.finish(),
    })
}
