//! What a plan says: the changes, key by key where a file is shared, and their count.
//!
//! The names and values on the wire are those of the v1 format; `before_mode`, `after_mode` and
//! `keys` are additions and left out where they say nothing.

use std::{
    cmp::Ordering,
    path::{Path, PathBuf},
};

use serde::{Serialize, Serializer, ser::SerializeStruct};
use windlass_pack_model::{Body, FileMode, Target};
use windlass_types::Digest;

use crate::disk::FoundFile;

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Nothing is there; it is written.
    Create,
    /// Something else is there; it is written over.
    Update,
    /// It is removed.
    Delete,
}

impl Op {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// Whose file an update writes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateKind {
    /// One that pack wrote.
    ManagedUpdate,
    /// One that it did not; this needs the user's word.
    AdoptUpdate,
}

impl UpdateKind {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ManagedUpdate => "managed_update",
            Self::AdoptUpdate => "adopt_update",
        }
    }
}

/// Why a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It is wanted and absent.
    FileMissing,
    /// Its bytes are not the wanted ones.
    ContentDiffers,
    /// The bytes are right, the execute bit is not.
    ModeDiffers,
    /// It is not managed by pack and differs from what is wanted.
    WouldOverwrite,
    /// It is no longer wanted.
    NoLongerManaged,
    /// It is not as the snapshot has it.
    DiffersFromSnapshot,
    /// The snapshot does not have it.
    NotInSnapshot,
    /// The event that is undone changed it.
    Undone,
    /// Everything managed goes.
    Uninstalled,
    /// What pack once replaced comes back.
    OriginalRestored,
}

impl Reason {
    /// The text on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FileMissing => "file missing",
            Self::ContentDiffers => "content differs",
            Self::ModeDiffers => "mode differs",
            Self::WouldOverwrite => "would overwrite unmanaged existing file",
            Self::NoLongerManaged => "no longer managed",
            Self::DiffersFromSnapshot => "differs from the snapshot",
            Self::NotInSnapshot => "not in the snapshot",
            Self::Undone => "undone",
            Self::Uninstalled => "uninstalled",
            Self::OriginalRestored => "original restored",
        }
    }
}

/// One file that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanChange {
    /// The target.
    pub target: Target,
    /// What happens.
    pub op: Op,
    /// The absolute path.
    pub path: PathBuf,
    /// The digest of what is there.
    pub before_sha256: Option<Digest>,
    /// The digest of what will be.
    pub after_sha256: Option<Digest>,
    /// Whose file an update writes over.
    pub update_kind: Option<UpdateKind>,
    /// Why.
    pub reason: Reason,
    /// The mode of what is there, where the mode changes.
    pub before_mode: Option<FileMode>,
    /// The mode of what will be, where it changes or where a new file is executable.
    pub after_mode: Option<FileMode>,
    /// The keys that change, when the file is shared with others.
    pub keys: Vec<KeyChange>,
    /// The bytes and the execute bit to write; none for a removal. Not shown.
    pub(crate) after: Option<Written>,
    /// The mode of what is there. Not shown unless it changes.
    pub(crate) found_mode: Option<FileMode>,
}

/// What a file should be; what is restored and removed when history is replayed.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) digest: Digest,
    pub(crate) body: Body,
    pub(crate) executable: bool,
}

impl Wanted {
    pub(crate) fn of(bytes: Vec<u8>, executable: bool) -> Self {
        Self {
            digest: Digest::of(&bytes),
            body: Body::Memory(bytes.into()),
            executable,
        }
    }
}

/// What a file will hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) body: Body,
    pub(crate) executable: bool,
}

impl PlanChange {
    /// The order of every list of changes: target, then the bytes of the path.
    pub fn order(left: &Self, right: &Self) -> Ordering {
        (left.target, left.path.as_os_str().as_encoded_bytes())
            .cmp(&(right.target, right.path.as_os_str().as_encoded_bytes()))
    }

    /// The change that brings a path to a wanted state; none when it is in it.
    pub(crate) fn toward(
        (target, path): (Target, &Path),
        found: Option<FoundFile>,
        wanted: Option<Wanted>,
        reason: Reason,
    ) -> Option<Self> {
        let op = match (&found, &wanted) {
            (None, None) => return None,
            (None, Some(_)) => Op::Create,
            (Some(_), None) => Op::Delete,
            (Some(found), Some(wanted))
                if found.digest == wanted.digest
                    && found.mode.is_executable() == wanted.executable =>
            {
                return None;
            }
            (Some(_), Some(_)) => Op::Update,
        };
        let mode = match (&found, &wanted) {
            (Some(found), Some(wanted)) if found.mode.is_executable() != wanted.executable => {
                Some((found.mode, with_execute(found.mode, wanted.executable)))
            }
            _ => None,
        };
        Some(Self {
            target,
            op,
            path: path.to_owned(),
            before_sha256: found.map(|found| found.digest),
            after_sha256: wanted.as_ref().map(|wanted| wanted.digest),
            update_kind: (op == Op::Update).then_some(UpdateKind::ManagedUpdate),
            reason,
            before_mode: mode.map(|mode| mode.0),
            after_mode: mode.map(|mode| mode.1).or_else(|| {
                wanted
                    .as_ref()
                    .filter(|wanted| op == Op::Create && wanted.executable)
                    .map(|_| FileMode::EXECUTABLE)
            }),
            keys: Vec::new(),
            found_mode: found.map(|found| found.mode),
            after: wanted.map(|wanted| Written {
                body: wanted.body,
                executable: wanted.executable,
            }),
        })
    }

    /// Records that an update replaces an unmanaged file, which is then kept permanently.
    pub(crate) fn mark_foreign(&mut self, foreign: bool) {
        if foreign && self.op == Op::Update {
            self.update_kind = Some(UpdateKind::AdoptUpdate);
        }
    }

    /// The bytes it will hold; none for a removal.
    pub fn body(&self) -> Option<&Body> {
        self.after.as_ref().map(|after| &after.body)
    }

    /// Whether it needs the user's word.
    pub fn is_adopt(&self) -> bool {
        self.update_kind == Some(UpdateKind::AdoptUpdate)
    }
}

impl Serialize for PlanChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let path = self.path.to_string_lossy();
        let mut view = serializer.serialize_struct("PlanChange", 11)?;
        if let Some(mode) = &self.after_mode {
            view.serialize_field("after_mode", mode)?;
        }
        view.serialize_field("after_sha256", &self.after_sha256)?;
        if let Some(mode) = &self.before_mode {
            view.serialize_field("before_mode", mode)?;
        }
        view.serialize_field("before_sha256", &self.before_sha256)?;
        if !self.keys.is_empty() {
            view.serialize_field("keys", &self.keys)?;
        }
        view.serialize_field("op", &self.op)?;
        view.serialize_field("path", &path)?;
        view.serialize_field("path_posix", &posix(&path))?;
        view.serialize_field("reason", self.reason.as_str())?;
        view.serialize_field("target", &self.target)?;
        if let Some(kind) = &self.update_kind {
            view.serialize_field("update_kind", kind)?;
        }
        view.end()
    }
}

/// One key that changes inside a shared file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyChange {
    /// The digest of the value that will be.
    pub after_sha256: Option<Digest>,
    /// The digest of the value that is there.
    pub before_sha256: Option<Digest>,
    /// What happens to the key.
    pub op: Op,
    /// Where it is.
    pub pointer: String,
    /// Whose value an update writes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_kind: Option<UpdateKind>,
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanSummary {
    /// Files written where nothing was.
    pub create: u64,
    /// Files written over.
    pub update: u64,
    /// Files removed.
    pub delete: u64,
}

impl PlanSummary {
    /// The count of some changes.
    pub fn of<'a>(changes: impl IntoIterator<Item = &'a PlanChange>) -> Self {
        let mut summary = Self::default();
        for change in changes {
            match change.op {
                Op::Create => summary.create += 1,
                Op::Update => summary.update += 1,
                Op::Delete => summary.delete += 1,
            }
        }
        summary
    }
}

/// A managed file that was edited and that the plan overwrites or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalEdit {
    /// The target.
    pub target: Target,
    /// The absolute path.
    pub path: PathBuf,
    /// What the plan does to it.
    pub op: Op,
    /// The digest pack wrote it with; none when only keys of the file are owned.
    pub deployed_sha256: Option<Digest>,
    /// The digest it has now.
    pub current_sha256: Option<Digest>,
}

impl Serialize for LocalEdit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let path = self.path.to_string_lossy();
        let mut view = serializer.serialize_struct("LocalEdit", 6)?;
        view.serialize_field("current_sha256", &self.current_sha256)?;
        view.serialize_field("deployed_sha256", &self.deployed_sha256)?;
        view.serialize_field("op", &self.op)?;
        view.serialize_field("path", &path)?;
        view.serialize_field("path_posix", &posix(&path))?;
        view.serialize_field("target", &self.target)?;
        view.end()
    }
}

/// What the user sees about edited files.
pub(crate) fn local_edit_warning(edits: &[LocalEdit]) -> Option<String> {
    let first = edits.first()?;
    let verb = match first.op {
        Op::Delete => "removed",
        _ => "overwritten",
    };
    Some(match edits.len() {
        1 => format!(
            "{} was edited since it was deployed; this plan has the edit {verb}",
            first.path.display()
        ),
        count => format!(
            "{count} managed files were edited since they were deployed, {} among them; this plan \
             has the edits overwritten or removed",
            first.path.display()
        ),
    })
}

/// A path with `/` between its components.
pub(crate) fn posix(path: &str) -> String {
    path.replace('\\', "/")
}

/// A path as the formats show it.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A mode with the execute bits set or cleared, as git does: read permission implies execute.
pub(crate) fn with_execute(mode: FileMode, executable: bool) -> FileMode {
    let bits = mode.bits();
    FileMode::new(if executable {
        bits | (bits & 0o444) >> 2
    } else {
        bits & !0o111
    })
}
