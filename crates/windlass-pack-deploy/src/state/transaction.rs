//! What a transaction is asked to do. Decided by the planner; carried out by [`crate::state::commit`].

use std::{path::PathBuf, sync::Arc};

use windlass_pack_model::{Body, Snapshot, SnapshotOp, Target};
use windlass_types::Digest;

use crate::{
    links::LinkRule,
    state::{held_contents::HeldContents, lock::HeldRoot, remembered::KnownRoot},
};

/// Writes and removals that happen together or not at all.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// The run it belongs to; part of the names of temporary files.
    pub run_id: String,
    /// The files.
    pub actions: Vec<FileAction>,
    /// The managed manifests; written after the files.
    pub manifests: Vec<ManifestWrite>,
    /// The record of the event. `changes`, `backup_root` and `run_id` are filled in here. Edits
    /// of the configuration repository have none.
    pub snapshot: Option<Snapshot>,
    /// The directories into which a destination that is a symbolic link may lead: the user's
    /// home and the project.
    pub write_through: Vec<PathBuf>,
    /// Where links of the project may lead.
    pub links: LinkRule,
    /// The roots as the plan saw them: others in their place stop the transaction. Empty when it
    /// is carried out under the locks it was planned under.
    pub held: Vec<HeldRoot>,
    /// Roots to remember from now on.
    pub remember_roots: Vec<KnownRoot>,
    /// Roots that hold nothing of pack's any more.
    pub forget_roots: Vec<KnownRoot>,
    /// Whether destinations are flushed too (`AGENTPACK_FSYNC`).
    pub fsync: bool,
    /// Contents of files that were read for planning, which need not be read again.
    pub contents: HeldContents,
}

impl Transaction {
    /// A transaction that does nothing yet.
    pub fn new(run_id: impl Into<String>) -> Self {
        Self {
            run_id: run_id.into(),
            actions: Vec::new(),
            manifests: Vec::new(),
            snapshot: None,
            write_through: Vec::new(),
            links: LinkRule::default(),
            held: Vec::new(),
            remember_roots: Vec::new(),
            forget_roots: Vec::new(),
            fsync: false,
            contents: HeldContents::default(),
        }
    }
}

/// One file: created (`before` is none), updated or deleted (`after` is none).
#[derive(Clone, Debug)]
pub struct FileAction {
    /// The target. A file of no target (in the configuration repository) is not recorded in the
    /// snapshot.
    pub target: Option<Target>,
    /// The absolute path, below a locked root.
    pub path: PathBuf,
    /// What the plan saw there. Anything else found at the last moment stops the transaction.
    pub before: Option<Digest>,
    /// What should be there.
    pub after: Option<After>,
    /// How the snapshot calls it.
    pub snapshot_op: SnapshotOp,
    /// Whether it replaces a file that pack did not own: such originals are kept permanently.
    pub adopted: bool,
}

/// A file as it should be.
#[derive(Clone, Debug)]
pub struct After {
    /// The digest of the bytes.
    pub digest: Digest,
    /// The bytes.
    pub body: Body,
    /// The owner's execute bit. The other bits of an existing file stay.
    pub executable: bool,
}

impl After {
    /// A file made from bytes at hand.
    pub fn of(bytes: impl Into<Arc<[u8]>>, executable: bool) -> Self {
        let bytes = bytes.into();
        Self {
            digest: Digest::of(&bytes),
            body: Body::Memory(bytes),
            executable,
        }
    }
}

/// A managed manifest to write, or to remove when `after` is none.
#[derive(Clone, Debug)]
pub struct ManifestWrite {
    /// The target.
    pub target: Target,
    /// The absolute path, below a locked root.
    pub path: PathBuf,
    /// What the plan saw there.
    pub before: Option<Digest>,
    /// The bytes.
    pub after: Option<Arc<[u8]>>,
    /// How the snapshot calls it.
    pub snapshot_op: SnapshotOp,
}

impl From<ManifestWrite> for FileAction {
    fn from(write: ManifestWrite) -> Self {
        Self {
            target: Some(write.target),
            path: write.path,
            before: write.before,
            after: write.after.map(|bytes| After::of(bytes, false)),
            snapshot_op: write.snapshot_op,
            adopted: false,
        }
    }
}

/// A transaction that holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The snapshot, when there is one.
    pub snapshot_id: Option<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
}
