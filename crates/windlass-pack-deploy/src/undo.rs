//! Undo: back to the state before an event, path by path.
//!
//! Only what the event changed is touched, so undoing an old event leaves newer work on other
//! paths alone. Undoing an undo does it again.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use windlass_pack_model::{
    HashCache, RelPath, Snapshot, SnapshotChange, SnapshotKind, SnapshotRoot, fault,
};
use windlass_types::Problem;

use crate::{
    change::{LocalEdit, PlanChange, Reason, Wanted},
    disk::{Disk, FoundFile, OnDisk},
    event::{EventPlan, RootAfter, manifest_fate},
    gather::look_at,
    owned::{Owned, OwnedKey, OwnedRoot},
    ownership::{owned_file, owned_in, owned_key},
    past::{ManifestChange, Past, Place, deepest, is_manifest, manifest_changes},
    pattern::PathPattern,
    replay::restore_keys,
    roots::below,
    shared_files::shared_change,
    state::{PackState, roots_of},
};

/// What to undo.
#[derive(Clone, Copy, Debug)]
pub struct UndoRequest<'a> {
    /// The event.
    pub event: &'a Snapshot,
    /// Only these paths; none means all.
    pub only: &'a [PathPattern],
}

impl UndoRequest<'_> {
    /// The roots it touches; they have to be locked.
    pub fn roots(&self) -> Vec<SnapshotRoot> {
        roots_of(self.event).into_iter().collect()
    }

    fn changes(&self) -> impl Iterator<Item = &SnapshotChange> {
        self.event
            .changes
            .iter()
            .filter(|change| !is_manifest(&change.path))
            .filter(|change| {
                self.only.is_empty()
                    || self
                        .only
                        .iter()
                        .any(|pattern| pattern.matches(&change.path))
            })
    }
}

/// Plans the undoing of an event: looks at what is owned and there now, and reads the past.
pub fn undo(
    state: &PackState,
    request: &UndoRequest<'_>,
    hashes: &dyn HashCache,
) -> Result<EventPlan, Problem> {
    let owned = owned_in(state, &request.roots())?;
    let paths: HashSet<PathBuf> = request
        .changes()
        .map(|change| change.path.clone())
        .collect();
    let manifests = manifest_changes(request.event, state)?;
    let keyed: HashSet<PathBuf> = keyed_paths(&owned, &manifests)
        .into_iter()
        .filter(|path| paths.contains(path))
        .collect();
    let disk = look_at(paths, keyed, hashes);
    plan_undo(request, &owned, &disk, state)?.in_project_of(request.event, state)
}

/// Every path some manifest has keys of.
fn keyed_paths(
    owned: &Owned,
    manifests: &BTreeMap<SnapshotRoot, ManifestChange>,
) -> HashSet<PathBuf> {
    let mut paths = HashSet::new();
    for root in &owned.roots {
        paths.extend(root.keys.iter().map(|key| key.path.under(&root.path)));
    }
    for (root, change) in manifests {
        for manifest in [&change.before, &change.after].into_iter().flatten() {
            let keys = manifest.managed_keys.iter();
            paths.extend(keys.map(|key| key.path.under(&root.root)));
        }
    }
    paths
}

/// Compares the state before an event with what is owned and there now.
pub fn plan_undo(
    request: &UndoRequest<'_>,
    owned: &Owned,
    disk: &Disk,
    past: &dyn Past,
) -> Result<EventPlan, Problem> {
    let event = request.event;
    let roots = request.roots();
    let manifests = manifest_changes(event, past)?;
    let keyed = keyed_paths(owned, &manifests);
    let mut plan = EventPlan::new(SnapshotKind::Undo);
    plan.warnings = owned.warnings.clone();
    let mut by_root: BTreeMap<&SnapshotRoot, Vec<&SnapshotChange>> = BTreeMap::new();
    let mut found_any = false;
    for change in request.changes() {
        found_any = true;
        if let Some(root) = deepest(&roots, change.target, &change.path) {
            by_root.entry(root).or_default().push(change);
        }
    }
    if !found_any && !request.only.is_empty() {
        return Err(fault::unexpected(
            "invalid_arguments",
            &["list_snapshots", "retry_command"],
            format!("snapshot {} changed none of the given paths", event.id),
        )
        .with("snapshot_id", event.id.clone()));
    }
    for root in &roots {
        let changes = by_root.remove(root).unwrap_or_default();
        let manifest = manifests.get(root);
        if changes.is_empty() && (manifest.is_none() || !request.only.is_empty()) {
            continue;
        }
        let current = owned
            .root(root.target, &root.root)
            .cloned()
            .unwrap_or_else(|| OwnedRoot::nothing(root.target, root.root.clone()));
        let mut undoing = Undoing {
            request,
            disk,
            past,
            keyed: &keyed,
            plan: &mut plan,
            after: RootAfter::unchanged(&current),
            manifest,
        };
        let mut shared = Vec::new();
        for change in changes {
            if keyed.contains(&change.path) && undoing.is_foreign_now(change) {
                shared.push((change.target, change.path.clone()));
            } else {
                undoing.file(change)?;
            }
            undoing.entry(change);
        }
        if request.only.is_empty() {
            undoing.release();
        }
        undoing.keys(&current, &shared)?;
        let mut after = undoing.after;
        after.sort();
        let had_before = match manifest {
            Some(change) => change.before.is_some(),
            None => current.has_manifest(),
        };
        after.manifest = manifest_fate(&after, had_before, false);
        plan.roots.push(after);
    }
    Ok(plan.finish())
}

struct Undoing<'a> {
    request: &'a UndoRequest<'a>,
    disk: &'a Disk,
    past: &'a dyn Past,
    keyed: &'a HashSet<PathBuf>,
    plan: &'a mut EventPlan,
    after: RootAfter,
    manifest: Option<&'a ManifestChange>,
}

impl Undoing<'_> {
    fn found(&self, change: &SnapshotChange) -> Result<Option<FoundFile>, Problem> {
        match self.disk.at(&change.path) {
            OnDisk::Unreadable(problem) => Err(problem.clone()),
            found => Ok(found.file()),
        }
    }

    /// Whether the path is not as the event left it.
    fn is_foreign_now(&self, change: &SnapshotChange) -> bool {
        let found = self.disk.at(&change.path).file();
        found.map(|found| found.digest) != change.after_sha256
    }

    fn file(&mut self, change: &SnapshotChange) -> Result<(), Problem> {
        let found = self.found(change)?;
        let place = (change.target, change.path.as_path());
        let touched = self.is_foreign_now(change);
        let owned = below(&self.after.path, &change.path).is_some_and(|relative| {
            self.after
                .files_before
                .iter()
                .any(|file| file.path.as_str() == relative)
        });
        let wanted = match self.past.before(self.request.event, change)? {
            Some(bytes) => {
                // Old records have no mode: what is there keeps its own.
                let executable = match change.before_mode {
                    Some(mode) => mode.is_executable(),
                    None => found.is_some_and(|found| found.mode.is_executable()),
                };
                Some(Wanted::of(bytes, executable))
            }
            None if touched && !owned && found.is_some() => {
                self.plan.warnings.push(format!(
                    "{} is no longer managed by pack and stays",
                    change.path.display()
                ));
                return Ok(());
            }
            None => None,
        };
        let mut undone = PlanChange::toward(place, found, wanted, Reason::Undone);
        if let Some(undone) = &mut undone {
            undone.mark_foreign(touched && !owned);
        }
        if let (Some(undone), Some(found)) = (&undone, found)
            && touched
        {
            self.plan.local_edits.push(LocalEdit {
                target: change.target,
                path: change.path.clone(),
                op: undone.op,
                deployed_sha256: change.after_sha256,
                current_sha256: Some(found.digest),
            });
        }
        self.plan.changes.extend(undone);
        Ok(())
    }

    /// What the manifest says about a path becomes what it said before the event.
    fn entry(&mut self, change: &SnapshotChange) {
        let Some(manifest) = self.manifest else {
            return;
        };
        let Some(relative) =
            below(&self.after.path, &change.path).and_then(|relative| RelPath::new(relative).ok())
        else {
            return;
        };
        self.after.files.retain(|file| file.path != relative);
        if let Some(before) = &manifest.before {
            let entry = before
                .managed_files
                .iter()
                .find(|file| file.path == relative);
            self.after.files.extend(entry.cloned().map(owned_file));
        }
        if self.keyed.contains(&change.path) {
            self.after.keys.retain(|key| key.path != relative);
            let keys = manifest
                .before
                .iter()
                .flat_map(|before| &before.managed_keys);
            self.after.keys.extend(
                keys.filter(|key| key.path == relative)
                    .cloned()
                    .map(owned_key),
            );
        }
    }

    /// What the event only took over, without writing it, is no longer managed: it was the user's
    /// before, and a later deploy would remove it.
    fn release(&mut self) {
        let Some(ManifestChange {
            before,
            after: Some(after),
        }) = self.manifest
        else {
            return;
        };
        let written: HashSet<&Path> = self.request.changes().map(|it| it.path.as_path()).collect();
        let root = &self.after.path;
        let before_files = before.iter().flat_map(|before| &before.managed_files);
        let before_files: HashSet<&RelPath> = before_files.map(|file| &file.path).collect();
        let taken: HashSet<&RelPath> = after
            .managed_files
            .iter()
            .map(|file| &file.path)
            .filter(|path| !before_files.contains(path))
            .filter(|path| !written.contains(path.under(root).as_path()))
            .collect();
        self.after.files.retain(|file| !taken.contains(&file.path));
        let before_keys = before.iter().flat_map(|before| &before.managed_keys);
        let before_keys: HashSet<_> = before_keys
            .map(|key| (&key.path, &key.pointer, key.sha256))
            .collect();
        let taken: HashSet<_> = after
            .managed_keys
            .iter()
            .filter(|key| !written.contains(key.path.under(root).as_path()))
            .map(|key| (&key.path, &key.pointer, key.sha256))
            .filter(|key| !before_keys.contains(key))
            .collect();
        self.after
            .keys
            .retain(|key| !taken.contains(&(&key.path, &key.pointer, key.digest)));
    }

    /// Shared files that others changed since: only the keys go back.
    fn keys(&mut self, current: &OwnedRoot, shared: &[Place]) -> Result<(), Problem> {
        if shared.is_empty() {
            return Ok(());
        }
        let concerned = |key: &OwnedKey| {
            let path = key.path.under(&current.path);
            shared.contains(&(current.target, path))
        };
        let narrowed = OwnedRoot {
            keys: current
                .keys
                .iter()
                .filter(|key| concerned(key))
                .cloned()
                .collect(),
            ..current.clone()
        };
        let (wanted, rest) = std::mem::take(&mut self.after.keys)
            .into_iter()
            .partition(concerned);
        self.after.keys = rest;
        for restored in restore_keys(&narrowed, wanted, self.disk, &mut self.plan.warnings)? {
            self.plan.changes.extend(
                shared_change(&restored.file, restored.found, &restored.outcome).map(|change| {
                    PlanChange {
                        reason: Reason::Undone,
                        ..change
                    }
                }),
            );
            self.after.keys.extend(restored.outcome.owned);
        }
        Ok(())
    }
}
