//! An event that may happen: the changes of a deploy, bootstrap, restore, rollback, undo or
//! uninstall, and what is owned afterwards. `transaction` turns it into writes.

use std::path::PathBuf;

use windlass_pack_model::{Body, RootScope, Snapshot, SnapshotKind, Target};
use windlass_types::{Digest, Problem};

use crate::{
    change::{LocalEdit, PlanChange, PlanSummary, local_edit_warning},
    owned::{OwnedFile, OwnedKey, OwnedRoot, OwnedSource},
    state::{KnownRoot, PackState},
};

/// Changes that may be carried out, and what is owned afterwards.
#[derive(Clone, Debug)]
pub struct EventPlan {
    /// What kind of event it is.
    pub kind: SnapshotKind,
    /// For a rollback, the snapshot it goes to.
    pub rolled_back_to: Option<String>,
    /// The changes, by target and path.
    pub changes: Vec<PlanChange>,
    /// Their count.
    pub summary: PlanSummary,
    /// Edited files that are written over or removed.
    pub local_edits: Vec<LocalEdit>,
    /// Files left out because they were not adopted.
    pub left_out: Vec<(Target, PathBuf)>,
    /// Warnings for people.
    pub warnings: Vec<String>,
    /// Files taken over that were right already.
    pub(crate) taken: Vec<Taken>,
    /// Whether keys were taken over that were right already.
    pub(crate) takes_keys: bool,
    pub(crate) roots: Vec<RootAfter>,
    /// For what goes back in history: the project it goes back in, wherever that is done from.
    pub(crate) project_id: Option<String>,
    /// Likewise: the roots as they are remembered, whose they are included.
    pub(crate) known: Vec<KnownRoot>,
}

/// A file that is taken over without a change.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
    pub(crate) digest: Digest,
    pub(crate) executable: bool,
    pub(crate) body: Body,
}

/// A root as it was owned before and is owned afterwards.
#[derive(Clone, Debug)]
pub(crate) struct RootAfter {
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
    pub(crate) scope: Option<RootScope>,
    pub(crate) scan_extras: bool,
    pub(crate) source: OwnedSource,
    pub(crate) manifest_digest: Option<Digest>,
    pub(crate) files_before: Vec<OwnedFile>,
    pub(crate) keys_before: Vec<OwnedKey>,
    pub(crate) files: Vec<OwnedFile>,
    pub(crate) keys: Vec<OwnedKey>,
    pub(crate) manifest: ManifestFate,
}

/// What becomes of a root's manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ManifestFate {
    /// There is none and none is needed.
    None,
    /// It says what is so.
    Stays,
    /// It is written.
    Written,
    /// Nothing is owned in the root any more; the manifest goes.
    Removed,
}

impl EventPlan {
    pub(crate) fn new(kind: SnapshotKind) -> Self {
        Self {
            kind,
            rolled_back_to: None,
            changes: Vec::new(),
            summary: PlanSummary::default(),
            local_edits: Vec::new(),
            left_out: Vec::new(),
            warnings: Vec::new(),
            taken: Vec::new(),
            takes_keys: false,
            roots: Vec::new(),
            project_id: None,
            known: Vec::new(),
        }
    }

    /// Goes back in an event's project: its roots stay whose they are.
    pub(crate) fn in_project_of(
        mut self,
        event: &Snapshot,
        state: &PackState,
    ) -> Result<Self, Problem> {
        self.project_id.clone_from(&event.project_id);
        let (remembered, _) = state.remembered()?;
        self.known = remembered.known_roots.into_iter().collect();
        Ok(self)
    }

    /// Puts the lists in their order and counts.
    pub(crate) fn finish(mut self) -> Self {
        self.changes.sort_by(PlanChange::order);
        self.local_edits
            .sort_by(|left, right| (left.target, &left.path).cmp(&(right.target, &right.path)));
        self.summary = PlanSummary::of(&self.changes);
        if self.is_backward() {
            self.warnings.extend(local_edit_warning(&self.local_edits));
        }
        self
    }

    /// Whether it goes back in history; the others follow what is desired.
    pub(crate) fn is_backward(&self) -> bool {
        match self.kind {
            SnapshotKind::Deploy | SnapshotKind::Bootstrap | SnapshotKind::Restore => false,
            SnapshotKind::Rollback | SnapshotKind::Undo | SnapshotKind::Uninstall => true,
        }
    }

    /// Whether there is nothing to do. A deploy also writes a missing manifest and takes files
    /// over; the others write whatever manifest has to change.
    pub fn is_noop(&self) -> bool {
        self.changes.is_empty()
            && self.taken.is_empty()
            && !self.takes_keys
            && !self.roots.iter().any(|root| match root.manifest {
                ManifestFate::Written => self.is_backward() || !root.has_manifest(),
                ManifestFate::Removed => self.is_backward(),
                ManifestFate::None | ManifestFate::Stays => false,
            })
    }

    /// The directories it writes in; all of them have to be locked.
    pub fn directories(&self) -> Vec<PathBuf> {
        let mut directories: Vec<PathBuf> =
            self.roots.iter().map(|root| root.path.clone()).collect();
        directories.sort();
        directories.dedup();
        directories
    }
}

impl RootAfter {
    /// A root in which nothing is owned afterwards, from what is owned now.
    pub(crate) fn emptied(root: &OwnedRoot) -> Self {
        Self {
            target: root.target,
            path: root.path.clone(),
            scope: root.scope,
            scan_extras: false,
            source: root.source.clone(),
            manifest_digest: root.manifest_digest,
            files_before: root.files.clone(),
            keys_before: root.keys.clone(),
            files: Vec::new(),
            keys: Vec::new(),
            manifest: ManifestFate::None,
        }
    }

    /// A root in which the same is owned afterwards.
    pub(crate) fn unchanged(root: &OwnedRoot) -> Self {
        Self {
            files: root.files.clone(),
            keys: root.keys.clone(),
            ..Self::emptied(root)
        }
    }

    pub(crate) fn has_manifest(&self) -> bool {
        matches!(self.source, OwnedSource::Manifest { .. })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.keys.is_empty()
    }

    pub(crate) fn sort(&mut self) {
        self.files.sort_by(|left, right| left.path.cmp(&right.path));
        self.keys.sort_by(|left, right| {
            (&left.path, &left.pointer, left.digest).cmp(&(
                &right.path,
                &right.pointer,
                right.digest,
            ))
        });
    }
}

/// What becomes of a root's manifest. `keep_empty`: whether one without entries has a meaning;
/// `needed`: whether there has to be one.
pub(crate) fn manifest_fate(root: &RootAfter, keep_empty: bool, needed: bool) -> ManifestFate {
    let legacy = matches!(root.source, OwnedSource::Manifest { legacy: Some(_) });
    let there = root.has_manifest();
    let same = there && !legacy && root.files == root.files_before && root.keys == root.keys_before;
    if root.is_empty() && !keep_empty {
        match there {
            true => ManifestFate::Removed,
            false => ManifestFate::None,
        }
    } else if same {
        ManifestFate::Stays
    } else if needed || there || !root.is_empty() || !root.files_before.is_empty() {
        ManifestFate::Written
    } else {
        ManifestFate::None
    }
}
