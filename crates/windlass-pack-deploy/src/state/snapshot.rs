//! Snapshots on disk: reading one, walking back through all of them, listing them.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use fs_err as fs;
use windlass_pack_model::{
    Snapshot, SnapshotKind, SnapshotOp, Target,
    fault::{self, is_absent},
    snapshot::{compare_ids, is_snapshot_id},
};
use windlass_types::{Digest, Problem};

use crate::state::{head, manifest::is_manifest_name, pack_state::PackState};

/// What walking through the snapshots gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The snapshots, newest first.
    pub snapshots: Vec<SnapshotSummary>,
    /// Those that cannot be read.
    pub warnings: Vec<String>,
}

/// One line of the list of snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSummary {
    /// The id.
    pub id: String,
    /// What happened.
    pub kind: SnapshotKind,
    /// When, RFC 3339.
    pub created_at: String,
    /// The targets.
    pub targets: Vec<Target>,
    /// The configuration repository.
    pub repo: Option<PathBuf>,
    /// The project.
    pub project_id: Option<String>,
    /// How many files were managed afterwards.
    pub files: usize,
    /// How many files were created; manifests are not counted.
    pub created: usize,
    /// How many were updated.
    pub updated: usize,
    /// How many were deleted.
    pub deleted: usize,
    /// What it takes on disk: its record and the contents nothing else needs.
    pub bytes: u64,
    /// Whether it is the state in force of some root.
    pub head: bool,
    /// Whether it keeps originals that an adopt replaced.
    pub originals: bool,
    /// For a rollback, where it went.
    pub rolled_back_to: Option<String>,
}

impl PackState {
    /// The ids of all snapshots, oldest first.
    pub fn snapshot_ids(&self) -> Result<Vec<String>, Problem> {
        let directory = self.home().snapshots();
        let io = |error: std::io::Error| fault::io("list", &directory, &error);
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(io)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            if let Some(id) = id.filter(|id| is_snapshot_id(id)) {
                ids.push(id.to_owned());
            }
        }
        ids.sort_by(|left: &String, right| compare_ids(left, right));
        Ok(ids)
    }

    /// Reads one snapshot.
    pub fn snapshot(&self, id: &str) -> Result<Snapshot, Problem> {
        if !is_snapshot_id(id) {
            return Err(not_found(id));
        }
        let path = self.home().snapshot_file(id);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Err(not_found(id)),
            Err(error) => return Err(fault::io("read", &path, &error)),
        };
        let corrupt = |cause: String| {
            fault::unexpected(
                "snapshot_corrupt",
                &["list_snapshots", "retry_command"],
                format!("snapshot {} cannot be used: {cause}", path.display()),
            )
            .with("snapshot_id", id)
            .with("path", path.display().to_string())
        };
        let snapshot = Snapshot::parse(&text).map_err(|error| corrupt(error.to_string()))?;
        if snapshot.id != id {
            return Err(corrupt(format!("it says that it is {}", snapshot.id)));
        }
        Ok(snapshot)
    }

    /// Reads the snapshots from the newest back, until the visitor has seen enough. One that
    /// cannot be read is skipped with a warning.
    pub fn walk_back(
        &self,
        mut visit: impl FnMut(Snapshot) -> ControlFlow<()>,
    ) -> Result<Vec<String>, Problem> {
        let mut warnings = Vec::new();
        for id in self.snapshot_ids()?.into_iter().rev() {
            match self.snapshot(&id) {
                Ok(snapshot) => {
                    if visit(snapshot).is_break() {
                        break;
                    }
                }
                // Pruned by another process in the meantime.
                Err(problem) if is_reason(&problem, "snapshot_not_found") => {}
                Err(problem) => warnings.push(format!("{}; it is skipped", problem.message())),
            }
        }
        Ok(warnings)
    }

    /// All snapshots, newest first, with what each takes on disk.
    pub fn history(&self) -> Result<History, Problem> {
        let mut snapshots = Vec::new();
        let mut owners: HashMap<Digest, Option<usize>> = HashMap::new();
        let mut originals = head::Originals::default();
        let mut heads = head::HeadFinder::default();
        let warnings = self.walk_back(|snapshot| {
            let index = snapshots.len();
            for digest in references(&snapshot) {
                owners
                    .entry(digest)
                    .and_modify(|owner| *owner = owner.filter(|owner| *owner == index))
                    .or_insert(Some(index));
            }
            heads.see(&snapshot, self);
            originals.see(&snapshot);
            snapshots.push(self.summary(&snapshot));
            ControlFlow::Continue(())
        })?;
        let blobs = self.blobs();
        for (digest, owner) in owners {
            if let Some(summary) = owner.and_then(|owner| snapshots.get_mut(owner)) {
                summary.bytes += blobs.len(&digest).unwrap_or(0);
            }
        }
        let (states, kept) = (heads.states(), originals.finish());
        for summary in &mut snapshots {
            summary.head = states.contains(&summary.id);
            summary.originals = kept.contains(&summary.id);
        }
        Ok(History {
            snapshots,
            warnings,
        })
    }

    fn summary(&self, snapshot: &Snapshot) -> SnapshotSummary {
        let mut summary = SnapshotSummary {
            id: snapshot.id.clone(),
            kind: snapshot.kind,
            created_at: snapshot.created_at.clone(),
            targets: snapshot.targets.clone(),
            repo: snapshot.repo.clone(),
            project_id: snapshot.project_id.clone(),
            files: snapshot.managed_files.len(),
            created: 0,
            updated: 0,
            deleted: 0,
            bytes: self.own_bytes(&snapshot.id),
            head: false,
            originals: false,
            rolled_back_to: snapshot.rolled_back_to.clone(),
        };
        for change in &snapshot.changes {
            if is_manifest_name(change.path.file_name()) {
                continue;
            }
            match (change.op, &change.before_sha256) {
                (SnapshotOp::Delete | SnapshotOp::RollbackDelete, _) => summary.deleted += 1,
                (SnapshotOp::Create, _) | (SnapshotOp::RollbackRestore, None) => {
                    summary.created += 1;
                }
                (SnapshotOp::Update | SnapshotOp::RollbackRestore, _) => summary.updated += 1,
            }
        }
        summary
    }

    /// The size of a snapshot's record and of the trees old versions wrote next to it.
    pub(crate) fn own_bytes(&self, id: &str) -> u64 {
        let record = std::fs::metadata(self.home().snapshot_file(id));
        record.map_or(0, |metadata| metadata.len()) + tree_bytes(&self.home().snapshots().join(id))
    }
}

/// The digests of every content a snapshot needs.
pub(crate) fn references(snapshot: &Snapshot) -> impl Iterator<Item = Digest> {
    let files = snapshot.managed_files.iter().chain(&snapshot.manifests);
    let changes = snapshot.changes.iter();
    files.map(|file| file.sha256).chain(
        changes
            .flat_map(|change| [change.before_sha256, change.after_sha256])
            .flatten(),
    )
}

fn not_found(id: &str) -> Problem {
    fault::unexpected(
        "snapshot_not_found",
        &["list_snapshots", "retry_command"],
        format!("there is no snapshot {id}"),
    )
    .with("snapshot_id", id)
}

pub(crate) fn is_reason(problem: &Problem, reason: &str) -> bool {
    problem
        .details()
        .get("reason_code")
        .is_some_and(|found| found == reason)
}

fn tree_bytes(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    let mut bytes = 0;
    for entry in entries.flatten() {
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => tree_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        };
    }
    bytes
}
