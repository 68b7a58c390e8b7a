//! Rollback: back to the state after a snapshot, in the roots of that snapshot and nowhere else.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use windlass_pack_model::{
    HashCache, RelPath, Snapshot, SnapshotFile, SnapshotKind, SnapshotRoot, Target, fault,
};
use windlass_types::Problem;

use crate::{
    change::{LocalEdit, PlanChange, Reason, Wanted, shown},
    disk::{Disk, OnDisk},
    event::{EventPlan, RootAfter, manifest_fate},
    gather::look_at,
    owned::{Owned, OwnedFile, OwnedKey, OwnedRoot},
    ownership::{PastFile, managed_files, owned_in, owned_key},
    past::{Past, deepest, manifests_after},
    replay::restore_keys,
    roots::below,
    shared_files::shared_change,
    state::{PackState, roots_of},
};

/// Where to roll back to, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct RollbackRequest<'a> {
    /// The snapshot.
    pub to: &'a Snapshot,
    /// The configuration repository; a snapshot of another one is refused.
    pub repo: &'a Path,
    /// The target, when only one is rolled back.
    pub target: Option<Target>,
}

impl RollbackRequest<'_> {
    /// Refuses what cannot be rolled back to.
    pub fn check(&self) -> Result<(), Problem> {
        let to = self.to;
        if to.kind == SnapshotKind::Rollback {
            let hint = match &to.rolled_back_to {
                Some(id) => format!("; use --to {id} instead"),
                None => String::new(),
            };
            let problem = fault::unexpected(
                "snapshot_is_rollback_event",
                &["retry_with_snapshot", "list_snapshots"],
                format!("snapshot {} is a rollback event, not a state{hint}", to.id),
            )
            .with("snapshot_id", to.id.clone());
            return Err(match &to.rolled_back_to {
                Some(id) => problem.with("rolled_back_to", id.clone()),
                None => problem,
            });
        }
        match &to.repo {
            Some(repo) if repo != self.repo => Err(fault::unexpected(
                "snapshot_not_found",
                &["retry_with_repo", "list_snapshots"],
                format!(
                    "snapshot {} belongs to the repository {}, not to {}",
                    to.id,
                    repo.display(),
                    self.repo.display()
                ),
            )
            .with("snapshot_id", to.id.clone())
            .with("repo", shown(self.repo))
            .with("snapshot_repo", shown(repo))),
            _ => Ok(()),
        }
    }

    /// The roots it touches; they have to be locked.
    pub fn roots(&self) -> Vec<SnapshotRoot> {
        roots_of(self.to)
            .into_iter()
            .filter(|root| self.target.is_none_or(|only| only == root.target))
            .collect()
    }
}

/// Plans a rollback: looks at what is owned and there now, and reads the past.
pub fn rollback(
    state: &PackState,
    request: &RollbackRequest<'_>,
    hashes: &dyn HashCache,
) -> Result<EventPlan, Problem> {
    request.check()?;
    let roots = request.roots();
    let owned = owned_in(state, &roots)?;
    let manifests = manifests_after(request.to, state);
    let mut whole: HashSet<PathBuf> = managed_files(request.to)
        .iter()
        .map(|file| file.path.to_owned())
        .collect();
    let mut keyed: HashSet<PathBuf> = HashSet::new();
    for root in &owned.roots {
        whole.extend(root.files.iter().map(|file| file.path.under(&root.path)));
        keyed.extend(root.keys.iter().map(|key| key.path.under(&root.path)));
    }
    for (root, manifest) in &manifests {
        let keys = manifest.iter().flat_map(|manifest| &manifest.managed_keys);
        keyed.extend(keys.map(|key| key.path.under(&root.root)));
    }
    let disk = look_at(whole, keyed, hashes);
    plan_rollback(request, &owned, &disk, state)?.in_project_of(request.to, state)
}

/// Compares the state after a snapshot with what is owned and there now.
pub fn plan_rollback(
    request: &RollbackRequest<'_>,
    owned: &Owned,
    disk: &Disk,
    past: &dyn Past,
) -> Result<EventPlan, Problem> {
    request.check()?;
    let owned = &*owned.as_found(disk);
    let roots = request.roots();
    let mut event = EventPlan::new(SnapshotKind::Rollback);
    event.rolled_back_to = Some(request.to.id.clone());
    event.warnings = owned.warnings.clone();
    let manifests = manifests_after(request.to, past);
    let mut by_root: BTreeMap<&SnapshotRoot, Vec<PastFile<'_>>> = BTreeMap::new();
    for file in managed_files(request.to) {
        if let Some(root) = deepest(&roots, file.target, file.path) {
            by_root.entry(root).or_default().push(file);
        }
    }
    let wanted_paths: HashSet<&Path> = by_root.values().flatten().map(|file| file.path).collect();
    for root in &roots {
        let current = owned
            .root(root.target, &root.root)
            .cloned()
            .unwrap_or_else(|| OwnedRoot::nothing(root.target, root.root.clone()));
        let manifest = manifests.get(root);
        let mut back = Back {
            request,
            disk,
            past,
            event: &mut event,
            after: RootAfter::emptied(&current),
        };
        let modules: HashMap<&RelPath, &Vec<String>> = manifest
            .iter()
            .copied()
            .flatten()
            .flat_map(|manifest| &manifest.managed_files)
            .map(|file| (&file.path, &file.module_ids))
            .collect();
        let owned_now: HashMap<&RelPath, &OwnedFile> = current
            .files
            .iter()
            .map(|file| (&file.path, file))
            .collect();
        for file in by_root.get(root).into_iter().flatten() {
            back.restore(file, &owned_now, &modules)?;
        }
        for file in &current.files {
            let path = file.path.under(&root.root);
            if !wanted_paths.contains(path.as_path()) {
                back.remove(root.target, &path, file)?;
            }
        }
        let keys: Vec<OwnedKey> = manifest
            .into_iter()
            .flatten()
            .flat_map(|manifest| manifest.managed_keys.iter().cloned())
            .map(owned_key)
            .collect();
        back.keys(&current, keys)?;
        let mut after = back.after;
        after.sort();
        // A directory that only old snapshots take for a root gets no manifest.
        let had = manifest.is_some() || current.has_manifest();
        after.manifest = match had {
            true => manifest_fate(&after, manifest.is_some(), manifest.is_some()),
            false => crate::event::ManifestFate::None,
        };
        event.roots.push(after);
    }
    Ok(event.finish())
}

struct Back<'a> {
    request: &'a RollbackRequest<'a>,
    disk: &'a Disk,
    past: &'a dyn Past,
    event: &'a mut EventPlan,
    after: RootAfter,
}

impl Back<'_> {
    fn restore(
        &mut self,
        file: &PastFile<'_>,
        owned_now: &HashMap<&RelPath, &OwnedFile>,
        modules: &HashMap<&RelPath, &Vec<String>>,
    ) -> Result<(), Problem> {
        let Some(relative) =
            below(&self.after.path, file.path).and_then(|text| RelPath::new(text).ok())
        else {
            return Ok(());
        };
        let found = match self.disk.at(file.path) {
            OnDisk::Unreadable(problem) => return Err(problem.clone()),
            found => found.file(),
        };
        // Old snapshots say nothing of modes: what is there keeps its own.
        let executable = file
            .executable
            .unwrap_or_else(|| found.is_some_and(|found| found.mode.is_executable()));
        let same = found.is_some_and(|found| {
            found.digest == file.digest && found.mode.is_executable() == executable
        });
        let owned = owned_now.get(&relative).copied();
        if !same {
            let record = SnapshotFile {
                target: file.target,
                path: file.path.to_owned(),
                sha256: file.digest,
                mode: None,
            };
            let bytes = self.past.after(self.request.to, &record)?;
            let mut change = PlanChange::toward(
                (file.target, file.path),
                found,
                Some(Wanted::of(bytes, executable)),
                Reason::DiffersFromSnapshot,
            );
            if let Some(change) = &mut change {
                change.mark_foreign(owned.is_none());
            }
            if let (Some(change), Some(found)) = (&change, found)
                && owned.is_none_or(|owned| owned.digest != found.digest)
            {
                self.event.local_edits.push(LocalEdit {
                    target: file.target,
                    path: file.path.to_owned(),
                    op: change.op,
                    deployed_sha256: owned.map(|owned| owned.digest),
                    current_sha256: Some(found.digest),
                });
            }
            self.event.changes.extend(change);
        }
        let module_ids = modules
            .get(&relative)
            .map(|ids| (*ids).clone())
            .or_else(|| owned.map(|owned| owned.module_ids.clone()))
            .unwrap_or_default();
        self.after.files.push(OwnedFile {
            path: relative,
            digest: file.digest,
            executable,
            module_ids,
        });
        Ok(())
    }

    fn remove(&mut self, target: Target, path: &Path, file: &OwnedFile) -> Result<(), Problem> {
        let found = match self.disk.at(path) {
            OnDisk::Unreadable(problem) => return Err(problem.clone()),
            found => found.file(),
        };
        let change = PlanChange::toward((target, path), found, None, Reason::NotInSnapshot);
        if let (Some(change), Some(found)) = (&change, found)
            && found.digest != file.digest
        {
            self.event.local_edits.push(LocalEdit {
                target,
                path: path.to_owned(),
                op: change.op,
                deployed_sha256: Some(file.digest),
                current_sha256: Some(found.digest),
            });
        }
        self.event.changes.extend(change);
        Ok(())
    }

    fn keys(&mut self, current: &OwnedRoot, wanted: Vec<OwnedKey>) -> Result<(), Problem> {
        for restored in restore_keys(current, wanted, self.disk, &mut self.event.warnings)? {
            self.event.changes.extend(shared_change(
                &restored.file,
                restored.found,
                &restored.outcome,
            ));
            self.after.keys.extend(restored.outcome.owned);
        }
        Ok(())
    }
}
