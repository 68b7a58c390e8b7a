//! Loads what pack owns: the manifests of the roots a command is about, and, where one is gone,
//! the newest snapshot that was about that very root.

use std::{collections::BTreeMap, path::Path};

use windlass_pack_model::{
    ManagedFile, ManagedKey, ManagedManifest, RelPath, RootScope, Snapshot, SnapshotKind,
    SnapshotOp, SnapshotRoot, Target, TargetRoot, fault,
};
use windlass_types::{Digest, Problem};

use crate::{
    owned::{OPERATOR_MARK, Owned, OwnedFile, OwnedKey, OwnedRoot, OwnedSource},
    past::{deepest, is_manifest, manifest_roots},
    roots::below,
    state::{PackState, read_manifest},
};

/// The ids version 0.9.1 gave operator assets.
const V1_OPERATOR_SKILL: &str = "skill:agentpack-operator";
const V1_OPERATOR_COMMAND: &str = "command:ap-";

/// Which roots a command is about.
#[derive(Clone, Copy, Debug)]
pub struct OwnershipScope<'a> {
    /// The configuration repository.
    pub repo: &'a Path,
    /// The project.
    pub project_id: Option<&'a str>,
    /// The target, when the command is about one only.
    pub target: Option<Target>,
    /// The roots that are switched on.
    pub roots: &'a [TargetRoot],
    /// Every root the repository could have in this project and for this user, with all options
    /// on: one that is off and has a manifest was deployed to before roots were remembered.
    pub possible: &'a [TargetRoot],
}

/// A root to look at.
#[derive(Clone, Debug)]
struct Candidate {
    target: Target,
    path: std::path::PathBuf,
    scope: Option<RootScope>,
    /// Whether it counts only with a manifest of this repository.
    guessed: bool,
}

/// Loads what is owned in the roots a command is about.
pub fn gather_owned(state: &PackState, scope: &OwnershipScope<'_>) -> Result<Owned, Problem> {
    let (remembered, damaged) = state.remembered()?;
    let wanted = |target: Target| scope.target.is_none_or(|only| only == target);
    let mut candidates: BTreeMap<SnapshotRoot, Candidate> = BTreeMap::new();
    let mut add = |candidate: Candidate| {
        if wanted(candidate.target) {
            let root = SnapshotRoot {
                target: candidate.target,
                root: candidate.path.clone(),
            };
            candidates.entry(root).or_insert(candidate);
        }
    };
    for root in scope.roots {
        add(Candidate {
            target: root.target,
            path: root.path.clone(),
            scope: Some(root.scope),
            guessed: false,
        });
    }
    for known in remembered.roots_of(scope.repo, scope.project_id) {
        add(Candidate {
            target: known.target,
            path: known.root.clone(),
            scope: Some(match known.project_id {
                Some(_) => RootScope::Project,
                None => RootScope::User,
            }),
            guessed: false,
        });
    }
    let elsewhere = |root: &TargetRoot| {
        remembered.known_roots.iter().any(|known| {
            known.target == root.target && known.root == root.path && known.repo != scope.repo
        })
    };
    for root in scope.possible.iter().filter(|root| !elsewhere(root)) {
        add(Candidate {
            target: root.target,
            path: root.path.clone(),
            scope: Some(root.scope),
            guessed: true,
        });
    }
    let mut owned = load(state, candidates.into_values().collect(), Some(scope.repo))?;
    owned.imported = remembered.imported;
    owned.warnings.extend(damaged);
    Ok(owned)
}

/// Loads what is owned in some roots, no matter who deployed to them.
pub fn owned_in(state: &PackState, roots: &[SnapshotRoot]) -> Result<Owned, Problem> {
    let candidates = roots
        .iter()
        .map(|root| Candidate {
            target: root.target,
            path: root.root.clone(),
            scope: None,
            guessed: false,
        })
        .collect();
    load(state, candidates, None)
}

fn load(
    state: &PackState,
    candidates: Vec<Candidate>,
    repo: Option<&Path>,
) -> Result<Owned, Problem> {
    let mut owned = Owned::default();
    let mut orphans = Vec::new();
    let mut events = Events {
        state,
        loaded: BTreeMap::new(),
    };
    for candidate in candidates {
        let found = read_manifest(&candidate.path, candidate.target)?;
        let Some(mut manifest) = found.manifest else {
            if !candidate.guessed {
                owned.warnings.extend(found.warnings);
                orphans.push(owned.roots.len());
                owned.roots.push(OwnedRoot {
                    scope: candidate.scope,
                    manifest_digest: found.digest,
                    ..OwnedRoot::nothing(candidate.target, candidate.path)
                });
            }
            continue;
        };
        if candidate.guessed && !events.is_of(&manifest, repo) {
            continue;
        }
        owned.warnings.extend(found.warnings);
        if may_be_v1_operator(&manifest) && events.is_v1_bootstrap(&manifest) {
            mark_operator(&mut manifest);
        }
        let legacy = match found.legacy {
            Some(path) => {
                let bytes =
                    fs_err::read(&path).map_err(|error| fault::io("read", &path, &error))?;
                let digest = Digest::of(&bytes);
                Some((path, digest))
            }
            None => None,
        };
        owned.roots.push(OwnedRoot {
            target: candidate.target,
            path: candidate.path,
            scope: candidate.scope,
            source: OwnedSource::Manifest { legacy },
            manifest_digest: found.digest,
            files: manifest.managed_files.into_iter().map(owned_file).collect(),
            keys: manifest.managed_keys.into_iter().map(owned_key).collect(),
        });
    }
    fall_back(state, &mut owned, &orphans)?;
    for root in &mut owned.roots {
        root.files.sort_by(|left, right| left.path.cmp(&right.path));
        root.keys.sort_by(|left, right| {
            (&left.path, &left.pointer, left.digest).cmp(&(
                &right.path,
                &right.pointer,
                right.digest,
            ))
        });
    }
    Ok(owned)
}

/// Takes the files of roots without a manifest from the newest event about them.
fn fall_back(state: &PackState, owned: &mut Owned, orphans: &[usize]) -> Result<(), Problem> {
    let wanted: Vec<SnapshotRoot> = orphans
        .iter()
        .map(|index| SnapshotRoot {
            target: owned.roots[*index].target,
            root: owned.roots[*index].path.clone(),
        })
        .collect();
    let heads = state.heads(&wanted)?;
    owned.warnings.extend(heads.warnings);
    for (index, root) in orphans.iter().zip(&wanted) {
        if let Some(head) = heads.by_root.get(root) {
            let files = files_of(&head.snapshot, root, &owned.roots);
            if !files.is_empty() {
                let slot = &mut owned.roots[*index];
                slot.files = files;
                slot.source = OwnedSource::Snapshot {
                    id: head.snapshot.id.clone(),
                };
            }
        }
    }
    Ok(())
}

/// The files a snapshot has in one root: those whose deepest root there is this one. A project
/// inside another one's directory keeps its own files.
fn files_of(snapshot: &Snapshot, root: &SnapshotRoot, ours: &[OwnedRoot]) -> Vec<OwnedFile> {
    let named = !snapshot.roots.is_empty();
    let claims: Vec<SnapshotRoot> = if named {
        snapshot.roots.clone()
    } else {
        manifest_roots(snapshot)
    };
    let is_here = |path: &Path| {
        let claimed = match deepest(&claims, root.target, path) {
            Some(claim) => claim == root,
            None => !named,
        };
        claimed
            && !ours.iter().any(|other| {
                other.target == root.target
                    && below(&root.root, &other.path).is_some()
                    && below(&other.path, path).is_some()
            })
    };
    managed_files(snapshot)
        .into_iter()
        .filter(|file| file.target == root.target && is_here(file.path))
        .filter_map(|file| {
            Some(OwnedFile {
                path: RelPath::new(below(&root.root, file.path)?).ok()?,
                digest: file.digest,
                executable: file.executable.unwrap_or(false),
                module_ids: Vec::new(),
            })
        })
        .collect()
}

/// A file as a snapshot has it.
pub(crate) struct PastFile<'a> {
    pub(crate) target: Target,
    pub(crate) path: &'a Path,
    pub(crate) digest: Digest,
    /// Old snapshots do not say.
    pub(crate) executable: Option<bool>,
}

/// What a snapshot says is managed after it. The oldest ones only say what they wrote.
pub(crate) fn managed_files(snapshot: &Snapshot) -> Vec<PastFile<'_>> {
    let ours = snapshot.run_id.is_some();
    if !snapshot.managed_files.is_empty() || ours {
        return snapshot
            .managed_files
            .iter()
            .map(|file| PastFile {
                target: file.target,
                path: &file.path,
                digest: file.sha256,
                executable: match file.mode {
                    Some(mode) => Some(mode.is_executable()),
                    None => ours.then_some(false),
                },
            })
            .collect();
    }
    snapshot
        .changes
        .iter()
        .filter(|change| matches!(change.op, SnapshotOp::Create | SnapshotOp::Update))
        .filter(|change| !is_manifest(&change.path))
        .filter_map(|change| {
            Some(PastFile {
                target: change.target,
                path: &change.path,
                digest: change.after_sha256?,
                executable: None,
            })
        })
        .collect()
}

/// Snapshots that manifests name, each read once.
struct Events<'a> {
    state: &'a PackState,
    loaded: BTreeMap<String, Option<Snapshot>>,
}

impl Events<'_> {
    fn of(&mut self, manifest: &ManagedManifest) -> Option<&Snapshot> {
        let id = manifest.snapshot_id.as_ref()?;
        let state = self.state;
        self.loaded
            .entry(id.clone())
            .or_insert_with(|| state.snapshot(id).ok())
            .as_ref()
    }

    /// Whether a manifest was written from this home, and, as far as it says, for this
    /// repository.
    fn is_of(&mut self, manifest: &ManagedManifest, repo: Option<&Path>) -> bool {
        self.of(manifest).is_some_and(|event| {
            event.repo.is_none() || repo.is_none() || event.repo.as_deref() == repo
        })
    }

    /// Whether 0.9.1's `bootstrap` wrote it: then all its entries are operator assets. Unknown
    /// counts as yes, since it only keeps files.
    fn is_v1_bootstrap(&mut self, manifest: &ManagedManifest) -> bool {
        self.of(manifest)
            .is_none_or(|event| event.run_id.is_none() && event.kind == SnapshotKind::Bootstrap)
    }
}

fn is_v1_operator_id(id: &String) -> bool {
    id == V1_OPERATOR_SKILL || id.starts_with(V1_OPERATOR_COMMAND)
}

fn may_be_v1_operator(manifest: &ManagedManifest) -> bool {
    let operator = |file: &ManagedFile| {
        !file.module_ids.is_empty() && file.module_ids.iter().all(is_v1_operator_id)
    };
    manifest.managed_files.iter().any(operator)
}

fn mark_operator(manifest: &mut ManagedManifest) {
    for file in &mut manifest.managed_files {
        if !file.module_ids.is_empty() && file.module_ids.iter().all(is_v1_operator_id) {
            file.module_ids.push(OPERATOR_MARK.to_owned());
            file.module_ids.sort_unstable();
        }
    }
}

pub(crate) fn owned_file(file: ManagedFile) -> OwnedFile {
    OwnedFile {
        executable: file.is_executable(),
        path: file.path,
        digest: file.sha256,
        module_ids: file.module_ids,
    }
}

pub(crate) fn owned_key(key: ManagedKey) -> OwnedKey {
    OwnedKey {
        path: key.path,
        pointer: key.pointer,
        digest: key.sha256,
        module_ids: key.module_ids,
        value: key.value,
        created: key.created,
    }
}
