//! What things were: contents and manifests as snapshots have them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::state::PackState;
use windlass_pack_model::{
    ManagedManifest, Snapshot, SnapshotChange, SnapshotFile, SnapshotRoot, Target,
    managed::{is_manifest_name, read_managed},
};
use windlass_types::Problem;

/// Where contents of the past come from.
pub trait Past {
    /// The content of a file as it was after a snapshot.
    fn after(&self, snapshot: &Snapshot, file: &SnapshotFile) -> Result<Vec<u8>, Problem>;

    /// The content of a file as it was before a change; none when there was no file.
    fn before(
        &self,
        snapshot: &Snapshot,
        change: &SnapshotChange,
    ) -> Result<Option<Vec<u8>>, Problem>;
}

impl Past for PackState {
    fn after(&self, snapshot: &Snapshot, file: &SnapshotFile) -> Result<Vec<u8>, Problem> {
        self.content_after(snapshot, file)
    }

    fn before(
        &self,
        snapshot: &Snapshot,
        change: &SnapshotChange,
    ) -> Result<Option<Vec<u8>>, Problem> {
        self.content_before(snapshot, change)
    }
}

/// Whether a change is that of a manifest.
pub(crate) fn is_manifest(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(is_manifest_name)
}

fn root_of(target: Target, manifest: &Path) -> Option<SnapshotRoot> {
    Some(SnapshotRoot {
        target,
        root: manifest.parent()?.to_owned(),
    })
}

/// The roots whose manifests an event changed.
pub(crate) fn manifest_roots(event: &Snapshot) -> Vec<SnapshotRoot> {
    event
        .changes
        .iter()
        .filter(|change| is_manifest(&change.path))
        .filter_map(|change| root_of(change.target, &change.path))
        .collect()
}

fn parse(bytes: &[u8], target: Target, path: &Path) -> Option<ManagedManifest> {
    read_managed(std::str::from_utf8(bytes).ok()?, target, path).manifest
}

/// The manifests in force after a snapshot, by root. One whose content is lost is there without
/// it: the root had a manifest, and the snapshot's list of files has most of it.
pub(crate) fn manifests_after(
    snapshot: &Snapshot,
    past: &dyn Past,
) -> BTreeMap<SnapshotRoot, Option<ManagedManifest>> {
    let mut files: Vec<SnapshotFile> = snapshot.manifests.clone();
    if snapshot.run_id.is_none() {
        files.extend(snapshot.changes.iter().filter_map(|change| {
            Some(SnapshotFile {
                target: change.target,
                path: is_manifest(&change.path).then(|| change.path.clone())?,
                sha256: change.after_sha256?,
                mode: None,
            })
        }));
    }
    files
        .iter()
        .filter_map(|file| {
            let root = root_of(file.target, &file.path)?;
            let manifest = past
                .after(snapshot, file)
                .ok()
                .and_then(|bytes| parse(&bytes, file.target, &file.path));
            Some((root, manifest))
        })
        .collect()
}

/// A manifest that an event changed, on both sides of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ManifestChange {
    pub(crate) before: Option<ManagedManifest>,
    pub(crate) after: Option<ManagedManifest>,
}

/// The manifests an event changed, by root.
pub(crate) fn manifest_changes(
    event: &Snapshot,
    past: &dyn Past,
) -> Result<BTreeMap<SnapshotRoot, ManifestChange>, Problem> {
    let mut changes: BTreeMap<SnapshotRoot, ManifestChange> = BTreeMap::new();
    for change in event
        .changes
        .iter()
        .filter(|change| is_manifest(&change.path))
    {
        let Some(root) = root_of(change.target, &change.path) else {
            continue;
        };
        let before = past
            .before(event, change)?
            .and_then(|bytes| parse(&bytes, change.target, &change.path));
        let after = match change.after_sha256 {
            Some(sha256) => {
                let file = SnapshotFile {
                    target: change.target,
                    path: change.path.clone(),
                    sha256,
                    mode: None,
                };
                past.after(event, &file)
                    .ok()
                    .and_then(|bytes| parse(&bytes, change.target, &change.path))
            }
            None => None,
        };
        // A migration from the old name changes two files of one root.
        let entry = changes.entry(root).or_default();
        entry.before = before.or(entry.before.take());
        entry.after = after.or(entry.after.take());
    }
    Ok(changes)
}

/// The deepest of some roots that contains a path.
pub(crate) fn deepest<'a>(
    roots: impl IntoIterator<Item = &'a SnapshotRoot>,
    target: Target,
    path: &Path,
) -> Option<&'a SnapshotRoot> {
    roots
        .into_iter()
        .filter(|root| root.target == target && crate::roots::below(&root.root, path).is_some())
        .max_by_key(|root| root.root.as_os_str().len())
}

/// A target and a path, as keys of lists.
pub(crate) type Place = (Target, PathBuf);
