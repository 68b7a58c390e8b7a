//! From an event that may happen to the writes that make it happen, manifests and snapshot
//! included.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use windlass_pack_model::{
    FileMode, ManagedFile, ManagedKey, ManagedManifest, RootScope, Snapshot, SnapshotFile,
    SnapshotKind, SnapshotOp, SnapshotRoot, Target,
};
use windlass_types::Digest;

use crate::{
    change::{Op, PlanChange},
    event::{EventPlan, ManifestFate, RootAfter},
    links::LinkRule,
    owned::{OwnedFile, OwnedKey, OwnedSource},
    state::{After, FileAction, KnownRoot, ManifestWrite, Transaction, manifest_path},
};

/// What the record of an event says besides the changes.
#[derive(Clone, Debug)]
pub struct EventContext {
    /// The run.
    pub run_id: String,
    /// The id of the snapshot: nanoseconds since the epoch.
    pub snapshot_id: String,
    /// When, RFC 3339 with nanoseconds.
    pub created_at: String,
    /// The configuration repository.
    pub repo: PathBuf,
    /// The project: its id and its root.
    pub project: Option<(String, PathBuf)>,
    /// The profile.
    pub profile: Option<String>,
    /// The digest of the lockfile, if there is one.
    pub lockfile_sha256: Option<Digest>,
    /// The directories into which a destination that is a symbolic link may lead.
    pub write_through: Vec<PathBuf>,
    /// Where links of the project may lead.
    pub links: LinkRule,
    /// Whether destinations are flushed.
    pub fsync: bool,
}

impl EventPlan {
    /// The writes. The roots in [`EventPlan::directories`] have to be locked.
    pub fn transaction(&self, context: &EventContext) -> Transaction {
        let mut transaction = Transaction::new(context.run_id.clone());
        transaction.write_through = context.write_through.clone();
        transaction.links = context.links.clone();
        transaction.fsync = context.fsync;
        transaction.actions = self
            .changes
            .iter()
            .map(|change| self.action(change))
            .chain(self.taken.iter().map(|taken| FileAction {
                target: Some(taken.target),
                path: taken.path.clone(),
                before: Some(taken.digest),
                after: Some(After {
                    digest: taken.digest,
                    body: taken.body.clone(),
                    executable: taken.executable,
                }),
                snapshot_op: SnapshotOp::Update,
                adopted: true,
            }))
            .collect();
        let mut in_force = Vec::new();
        for root in &self.roots {
            let written = self.manifest(root, context, &mut transaction.manifests);
            in_force.extend(written.map(|(path, sha256)| SnapshotFile {
                target: root.target,
                path,
                sha256,
                mode: None,
            }));
            self.known_root(root, context, &mut transaction);
        }
        transaction.snapshot = Some(self.snapshot(context, in_force));
        transaction
    }

    fn action(&self, change: &PlanChange) -> FileAction {
        FileAction {
            target: Some(change.target),
            path: change.path.clone(),
            before: change.before_sha256,
            after: match (&change.after, change.after_sha256) {
                (Some(after), Some(digest)) => Some(After {
                    digest,
                    body: after.body.clone(),
                    executable: after.executable,
                }),
                _ => None,
            },
            snapshot_op: self.snapshot_op(change.op),
            adopted: change.is_adopt(),
        }
    }

    fn snapshot_op(&self, op: Op) -> SnapshotOp {
        let back = matches!(self.kind, SnapshotKind::Rollback | SnapshotKind::Undo);
        match op {
            Op::Create | Op::Update if back => SnapshotOp::RollbackRestore,
            Op::Delete if back => SnapshotOp::RollbackDelete,
            Op::Create => SnapshotOp::Create,
            Op::Update => SnapshotOp::Update,
            Op::Delete => SnapshotOp::Delete,
        }
    }

    /// Adds the writes of a root's manifest; returns the one in force afterwards.
    fn manifest(
        &self,
        root: &RootAfter,
        context: &EventContext,
        writes: &mut Vec<ManifestWrite>,
    ) -> Option<(PathBuf, Digest)> {
        let path = manifest_path(&root.path, root.target);
        let mut remove = |path: &Path, before: Digest| {
            writes.push(ManifestWrite {
                target: root.target,
                path: path.to_owned(),
                before: Some(before),
                after: None,
                snapshot_op: self.snapshot_op(Op::Delete),
            });
        };
        if matches!(root.manifest, ManifestFate::Written | ManifestFate::Removed)
            && let OwnedSource::Manifest {
                legacy: Some((legacy, digest)),
            } = &root.source
        {
            remove(legacy, *digest);
        }
        match root.manifest {
            ManifestFate::None => None,
            ManifestFate::Stays => root.manifest_digest.map(|digest| (path, digest)),
            ManifestFate::Removed => {
                if let Some(digest) = root.manifest_digest {
                    remove(&path, digest);
                }
                None
            }
            ManifestFate::Written => {
                let bytes: Arc<[u8]> = render(root, context).into_bytes().into();
                let digest = Digest::of(&bytes);
                let op = root.manifest_digest.map_or(Op::Create, |_| Op::Update);
                writes.push(ManifestWrite {
                    target: root.target,
                    path: path.clone(),
                    before: root.manifest_digest,
                    after: Some(bytes),
                    snapshot_op: self.snapshot_op(op),
                });
                Some((path, digest))
            }
        }
    }

    /// Remembers a root that holds something, forgets one that does not.
    fn known_root(&self, root: &RootAfter, context: &EventContext, transaction: &mut Transaction) {
        let mut known: Vec<KnownRoot> = self
            .known
            .iter()
            .filter(|known| known.target == root.target && known.root == root.path)
            .filter(|known| known.repo == context.repo)
            .cloned()
            .collect();
        if known.is_empty()
            && let Some(project_id) = self.owner(root, context)
        {
            known.push(KnownRoot {
                repo: context.repo.clone(),
                project_id,
                target: root.target,
                root: root.path.clone(),
                scan_extras: root.scan_extras,
            });
        }
        if !root.is_empty() {
            transaction.remember_roots.extend(known);
        } else if matches!(root.manifest, ManifestFate::Removed | ManifestFate::None) {
            transaction.forget_roots.extend(known);
        }
    }

    /// The project a root belongs to, or none for the user's. Nothing when that is not known: a
    /// root taken for the user's by mistake would be cleaned up from every other project.
    fn owner(&self, root: &RootAfter, context: &EventContext) -> Option<Option<String>> {
        let project = context.project.as_ref();
        if let Some(scope) = root.scope {
            return Some(match scope {
                RootScope::Project => project.map(|(id, _)| id.clone()),
                RootScope::User => None,
            });
        }
        match (project, &self.project_id) {
            (Some((here, directory)), Some(id)) if here == id => {
                Some(root.path.starts_with(directory).then(|| id.clone()))
            }
            (_, Some(id)) => Some(Some(id.clone())),
            (Some((here, directory)), None) if root.path.starts_with(directory) => {
                Some(Some(here.clone()))
            }
            (_, None) => None,
        }
    }

    fn snapshot(&self, context: &EventContext, manifests: Vec<SnapshotFile>) -> Snapshot {
        let mut managed_files: Vec<SnapshotFile> = self
            .roots
            .iter()
            .flat_map(|root| {
                root.files.iter().map(|file| SnapshotFile {
                    target: root.target,
                    path: file.path.under(&root.path),
                    sha256: file.digest,
                    mode: file.executable.then_some(FileMode::EXECUTABLE),
                })
            })
            .collect();
        managed_files.sort_by(|left, right| {
            (left.target, left.path.as_os_str()).cmp(&(right.target, right.path.as_os_str()))
        });
        let mut roots: Vec<SnapshotRoot> = self
            .roots
            .iter()
            .map(|root| SnapshotRoot {
                target: root.target,
                root: root.path.clone(),
            })
            .collect();
        roots.sort();
        let mut targets: Vec<Target> = roots.iter().map(|root| root.target).collect();
        targets.dedup();
        Snapshot {
            kind: self.kind,
            id: context.snapshot_id.clone(),
            created_at: context.created_at.clone(),
            targets,
            managed_files,
            changes: Vec::new(),
            rolled_back_to: self.rolled_back_to.clone(),
            lockfile_sha256: context.lockfile_sha256,
            backup_root: PathBuf::new(),
            repo: Some(context.repo.clone()),
            project_id: self
                .project_id
                .clone()
                .or_else(|| context.project.as_ref().map(|(id, _)| id.clone())),
            profile: context.profile.clone(),
            roots,
            manifests,
            run_id: Some(context.run_id.clone()),
        }
    }
}

fn render(root: &RootAfter, context: &EventContext) -> String {
    ManagedManifest {
        generated_at: context.created_at.clone(),
        tool: root.target,
        snapshot_id: Some(context.snapshot_id.clone()),
        managed_files: root.files.iter().map(managed_file).collect(),
        managed_keys: root.keys.iter().map(managed_key).collect(),
    }
    .render()
}

fn managed_file(file: &OwnedFile) -> ManagedFile {
    ManagedFile {
        path: file.path.clone(),
        sha256: file.digest,
        module_ids: file.module_ids.clone(),
        mode: file.executable.then_some(FileMode::EXECUTABLE),
    }
}

fn managed_key(key: &OwnedKey) -> ManagedKey {
    ManagedKey {
        path: key.path.clone(),
        pointer: key.pointer.clone(),
        sha256: key.digest,
        module_ids: key.module_ids.clone(),
        value: key.value.clone(),
        created: key.created,
    }
}
