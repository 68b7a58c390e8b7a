//! Uninstall: every managed file, key and manifest goes; what pack once replaced can come back.

use std::{
    collections::{HashMap, HashSet},
    ops::ControlFlow,
    path::PathBuf,
};

use serde_json::Value;
use windlass_pack_model::{
    HashCache, KeyFormat, RelPath, Snapshot, SnapshotKind, SnapshotRoot, Target,
};
use windlass_types::{Digest, Problem};

use crate::{
    change::{LocalEdit, PlanChange, Reason, Wanted},
    disk::{Disk, OnDisk},
    event::{EventPlan, RootAfter, manifest_fate},
    gather::look_at,
    keys::{Document, Pointer},
    owned::{Owned, OwnedKey, OwnedRoot},
    ownership::managed_files,
    past::{Past, Place, manifest_changes},
    replay::restore_keys,
    shared::format_of,
    shared_files::shared_change,
    state::{PackState, roots_of},
};

/// What pack replaced when it took files and keys over.
#[derive(Clone, Debug, Default)]
pub struct Originals {
    files: HashMap<Place, Wanted>,
    keys: HashMap<(Target, PathBuf, String), Value>,
}

/// Plans an uninstall of everything owned.
pub fn uninstall(
    state: &PackState,
    owned: &Owned,
    restore_originals: bool,
    hashes: &dyn HashCache,
) -> Result<EventPlan, Problem> {
    let mut whole: HashSet<PathBuf> = HashSet::new();
    let mut keyed: HashSet<PathBuf> = HashSet::new();
    for root in &owned.roots {
        whole.extend(root.files.iter().map(|file| file.path.under(&root.path)));
        keyed.extend(root.keys.iter().map(|key| key.path.under(&root.path)));
    }
    let disk = look_at(whole, keyed, hashes);
    let mut warnings = Vec::new();
    let originals = match restore_originals {
        true => find_originals(state, owned, &mut warnings)?,
        false => Originals::default(),
    };
    let mut plan = plan_uninstall(owned, &disk, &originals)?;
    plan.warnings.extend(warnings);
    Ok(plan)
}

/// Removes everything owned, or brings back what was there.
pub fn plan_uninstall(
    owned: &Owned,
    disk: &Disk,
    originals: &Originals,
) -> Result<EventPlan, Problem> {
    let owned = &*owned.as_found(disk);
    let mut plan = EventPlan::new(SnapshotKind::Uninstall);
    plan.warnings = owned.warnings.clone();
    for root in &owned.roots {
        for file in &root.files {
            let path = file.path.under(&root.path);
            let found = match disk.at(&path) {
                OnDisk::Unreadable(problem) => return Err(problem.clone()),
                found => found.file(),
            };
            let original = originals.files.get(&(root.target, path.clone())).cloned();
            let reason = match original {
                Some(_) => Reason::OriginalRestored,
                None => Reason::Uninstalled,
            };
            let change = PlanChange::toward((root.target, &path), found, original, reason);
            if let (Some(change), Some(found)) = (&change, found)
                && found.digest != file.digest
            {
                plan.local_edits.push(LocalEdit {
                    target: root.target,
                    path,
                    op: change.op,
                    deployed_sha256: Some(file.digest),
                    current_sha256: Some(found.digest),
                });
            }
            plan.changes.extend(change);
        }
        let back: Vec<OwnedKey> = root
            .keys
            .iter()
            .filter_map(|key| {
                let place = (root.target, key.path.under(&root.path), key.pointer.clone());
                let value = originals.keys.get(&place)?.clone();
                Some(OwnedKey {
                    digest: Digest::of_json(&value),
                    value: Some(value),
                    ..key.clone()
                })
            })
            .collect();
        for restored in restore_keys(root, back, disk, &mut plan.warnings)? {
            plan.changes.extend(
                shared_change(&restored.file, restored.found, &restored.outcome).map(|change| {
                    PlanChange {
                        reason: Reason::Uninstalled,
                        ..change
                    }
                }),
            );
        }
        let mut after = RootAfter::emptied(root);
        after.manifest = manifest_fate(&after, false, false);
        plan.roots.push(after);
    }
    Ok(plan.finish())
}

/// Finds what pack replaced, from the newest event back to where each file became pack's.
pub fn find_originals(
    state: &PackState,
    owned: &Owned,
    warnings: &mut Vec<String>,
) -> Result<Originals, Problem> {
    let mut finder = Finder::new(owned);
    let mut failure = None;
    let skipped = state.walk_back(|event| match finder.see(&event, state) {
        Ok(()) if finder.is_done() => ControlFlow::Break(()),
        Ok(()) => ControlFlow::Continue(()),
        Err(problem) => {
            failure = Some(problem);
            ControlFlow::Break(())
        }
    })?;
    warnings.extend(skipped);
    match failure {
        Some(problem) => Err(problem),
        None => Ok(finder.finish()),
    }
}

/// Follows each owned file and key back to the event that made it pack's.
pub(crate) struct Finder {
    /// Files whose beginning is not found yet.
    files: HashMap<Place, Unsettled>,
    keys: HashMap<Place, Vec<(RelPath, OwnedKey)>>,
    roots: Vec<OwnedRoot>,
    found: Originals,
}

/// A file that pack owned as far back as was looked.
struct Unsettled {
    root: SnapshotRoot,
    /// What an old update replaced; the original if no older event turns up.
    replaced: Option<Wanted>,
}

impl Finder {
    pub(crate) fn new(owned: &Owned) -> Self {
        let mut finder = Self {
            files: HashMap::new(),
            keys: HashMap::new(),
            roots: owned.roots.clone(),
            found: Originals::default(),
        };
        for root in &owned.roots {
            for file in &root.files {
                let place = (root.target, file.path.under(&root.path));
                let unsettled = Unsettled {
                    root: SnapshotRoot {
                        target: root.target,
                        root: root.path.clone(),
                    },
                    replaced: None,
                };
                finder.files.insert(place, unsettled);
            }
            for key in &root.keys {
                finder
                    .keys
                    .entry((root.target, key.path.under(&root.path)))
                    .or_default()
                    .push((key.path.clone(), key.clone()));
            }
        }
        finder
    }

    pub(crate) fn is_done(&self) -> bool {
        self.files.is_empty() && self.keys.is_empty()
    }

    pub(crate) fn finish(mut self) -> Originals {
        for (place, unsettled) in std::mem::take(&mut self.files) {
            self.settle(place, unsettled.replaced);
        }
        self.found
    }

    fn settle(&mut self, place: Place, original: Option<Wanted>) {
        self.found
            .files
            .extend(original.map(|original| (place, original)));
    }

    /// Takes the next older event.
    pub(crate) fn see(&mut self, event: &Snapshot, past: &dyn Past) -> Result<(), Problem> {
        let managed: HashSet<Place> = managed_files(event)
            .into_iter()
            .map(|file| (file.target, file.path.to_owned()))
            .collect();
        let about = roots_of(event);
        // Not managed after this event: pack got it later, by what was seen so far.
        let later: Vec<Place> = self
            .files
            .iter()
            .filter(|(place, unsettled)| {
                !managed.contains(*place) && about.contains(&unsettled.root)
            })
            .map(|(place, _)| place.clone())
            .collect();
        for place in later {
            if let Some(unsettled) = self.files.remove(&place) {
                self.settle(place, unsettled.replaced);
            }
        }
        for (place, unsettled) in &mut self.files {
            // An old update was no beginning if the path was managed before it.
            if managed.contains(place) {
                unsettled.replaced = None;
            }
        }
        for change in &event.changes {
            let place = (change.target, change.path.clone());
            let Some(unsettled) = self.files.get_mut(&place) else {
                continue;
            };
            if change.before_sha256.is_none() && change.backup_path.is_none() {
                self.files.remove(&place);
            } else if change.adopted || event.run_id.is_none() {
                let original = past.before(event, change)?.map(|bytes| {
                    let mode = change.before_mode;
                    Wanted::of(bytes, mode.is_some_and(|mode| mode.is_executable()))
                });
                if change.adopted {
                    self.files.remove(&place);
                    self.settle(place, original);
                } else {
                    unsettled.replaced = original;
                }
            }
        }
        if !self.keys.is_empty() {
            self.see_keys(event, past)?;
        }
        Ok(())
    }

    /// A key began where the manifest after the event has it and the one before has not.
    fn see_keys(&mut self, event: &Snapshot, past: &dyn Past) -> Result<(), Problem> {
        let touched: Vec<_> = event
            .changes
            .iter()
            .filter(|change| {
                self.keys
                    .contains_key(&(change.target, change.path.clone()))
            })
            .collect();
        if touched.is_empty() {
            return Ok(());
        }
        let manifests = manifest_changes(event, past)?;
        for change in touched {
            let place = (change.target, change.path.clone());
            let Some(manifest) = manifests
                .iter()
                .filter(|(root, _)| {
                    self.roots
                        .iter()
                        .any(|owned| owned.target == root.target && owned.path == root.root)
                })
                .find(|(root, _)| {
                    root.target == change.target && change.path.starts_with(&root.root)
                })
                .map(|(_, manifest)| manifest)
            else {
                continue;
            };
            let has = |side: &Option<windlass_pack_model::ManagedManifest>, key: &OwnedKey| {
                side.iter()
                    .flat_map(|manifest| &manifest.managed_keys)
                    .any(|managed| managed.path == key.path && managed.pointer == key.pointer)
            };
            let Some(keys) = self.keys.get_mut(&place) else {
                continue;
            };
            let (began, older): (Vec<_>, Vec<_>) = std::mem::take(keys)
                .into_iter()
                .partition(|(_, key)| has(&manifest.after, key) && !has(&manifest.before, key));
            *keys = older;
            if keys.is_empty() {
                self.keys.remove(&place);
            }
            let Some(bytes) = past.before(event, change)? else {
                continue;
            };
            for (below, key) in began {
                if let Some(value) = value_in(&bytes, format_of(&below), &key.pointer) {
                    self.found
                        .keys
                        .insert((place.0, place.1.clone(), key.pointer), value);
                }
            }
        }
        Ok(())
    }
}

/// The value a key had in an earlier text; elements are never replaced, so they have none.
fn value_in(bytes: &[u8], format: KeyFormat, pointer: &str) -> Option<Value> {
    let document = Document::parse(format, std::str::from_utf8(bytes).ok()?).ok()?;
    let pointer = Pointer::parse(pointer).ok()?;
    if pointer.is_element() {
        return None;
    }
    document.get(pointer.keys())
}
