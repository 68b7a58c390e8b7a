//! The journal of a transaction: all that is needed to complete or undo it, by a process that
//! knows nothing else.
//!
//! One JSON file per transaction, there from just before the first destination changes until
//! everything is settled. Not a log: snapshots record what happened.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_pack_model::{
    FileMode, Target,
    fault::{self, is_absent},
};
use windlass_types::{Digest, Problem};

use crate::state::{
    files::{create_private_dir, entries, remove_if_there, rename_new, sync_dir, write_synced},
    lock::LockedRoot,
    observe::Standing,
    pack_state::PackState,
    probe::{FaultProbe, Step, Stop, step},
    remembered::KnownRoot,
    stage::{run_tag, temp_prefix},
};

/// The only version there is.
const VERSION: u32 = 1;

/// A transaction in progress.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// The version of this format.
    pub(crate) version: u32,
    /// The run.
    pub(crate) run_id: String,
    /// The roots that were locked, sorted by key.
    pub(crate) roots: Vec<LockedRoot>,
    /// Staged files are called this, followed by the number of their entry.
    pub(crate) temp_prefix: String,
    /// Whether destinations are flushed.
    pub(crate) fsync: bool,
    /// The files in the order in which they change: removals, writes, manifests.
    pub(crate) entries: Vec<Entry>,
    /// Directories to create, parents first.
    pub(crate) directories: Vec<PathBuf>,
    /// The outermost of these: each is created next to its place with all that belongs in it, and
    /// moved there at once.
    pub(crate) groves: Vec<PathBuf>,
    /// Directories to create once the removals are done, because a file has their name.
    pub(crate) late_directories: Vec<PathBuf>,
    /// Directories that give way to a file, innermost first; the removals empty them.
    pub(crate) replaced_directories: Vec<PathBuf>,
    /// The snapshot.
    pub(crate) snapshot: Option<JournalSnapshot>,
    /// Roots to remember.
    pub(crate) remember_roots: Vec<KnownRoot>,
    /// Roots to forget.
    pub(crate) forget_roots: Vec<KnownRoot>,
}

/// The snapshot that makes the transaction hold.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct JournalSnapshot {
    /// Its id.
    pub(crate) id: String,
    /// Its text, as it will be written.
    pub(crate) text: Box<RawValue>,
}

/// One file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The path in the plan.
    pub(crate) path: PathBuf,
    /// Where it really is, when symbolic links lead elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) real: Option<PathBuf>,
    /// The target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
    /// As it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<FileState>,
    /// As it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<FileState>,
    /// The directory of the staged file, when it is not the destination's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) staged_in: Option<PathBuf>,
    /// For a removal: the text of the symbolic link that is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<PathBuf>,
    /// When a directory has this path before or after: a file takes its place, or it that of a
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) directory: Option<Standing>,
    /// The grove it is made in. Only the process that began knows; who completes goes file by
    /// file.
    #[serde(skip)]
    pub(crate) grove: Option<usize>,
}

/// A file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    /// The digest of its bytes.
    pub(crate) sha256: Digest,
    /// Its permission bits; for a file that is created, before the umask.
    pub(crate) mode: FileMode,
}

impl FileState {
    /// Whether two are the same as far as pack compares: bytes and the owner's execute bit.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.sha256 == other.sha256 && self.mode.is_executable() == other.mode.is_executable()
    }
}

impl Entry {
    /// Where the file really is.
    pub(crate) fn real(&self) -> &Path {
        self.real.as_deref().unwrap_or(&self.path)
    }

    /// Whether it is a removal.
    pub(crate) fn is_removal(&self) -> bool {
        self.after.is_none()
    }
}

impl Journal {
    /// A journal with nothing in it.
    pub(crate) fn new(run_id: &str, roots: Vec<LockedRoot>) -> Self {
        Self {
            version: VERSION,
            run_id: run_id.to_owned(),
            roots,
            temp_prefix: temp_prefix(run_id),
            fsync: false,
            entries: Vec::new(),
            directories: Vec::new(),
            groves: Vec::new(),
            late_directories: Vec::new(),
            replaced_directories: Vec::new(),
            snapshot: None,
            remember_roots: Vec::new(),
            forget_roots: Vec::new(),
        }
    }

    /// The name of an entry's staged file.
    pub(crate) fn temp(&self, index: usize) -> PathBuf {
        let Some(entry) = self.entries.get(index) else {
            return PathBuf::new();
        };
        let directory = match &entry.staged_in {
            Some(directory) => directory.as_path(),
            None => entry.real().parent().unwrap_or(Path::new("/")),
        };
        directory.join(format!("{}{index}", self.temp_prefix))
    }

    /// Where a grove is made.
    pub(crate) fn grove_temp(&self, index: usize) -> PathBuf {
        match self.groves.get(index) {
            Some(grove) => grove.with_file_name(format!("{}d{index}", self.temp_prefix)),
            None => PathBuf::new(),
        }
    }

    /// Where the snapshot is before it has its name.
    pub(crate) fn snapshot_temp(&self, state: &PackState) -> PathBuf {
        let name = format!("{}snapshot", self.temp_prefix);
        state.home().snapshots().join(name)
    }

    /// Whether the snapshot has its name, and the transaction therefore holds. Another snapshot
    /// of the same name does not count.
    pub(crate) fn is_committed(&self, state: &PackState) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| {
            fs::read_to_string(state.home().snapshot_file(&snapshot.id))
                .is_ok_and(|text| text.trim_end() == snapshot.text.get())
        })
    }

    /// Writes and flushes it; it has its name only when it is whole.
    pub(crate) fn write(&self, state: &PackState, probe: &dyn FaultProbe) -> Result<PathBuf, Stop> {
        let directory = state.home().journal();
        create_private_dir(&directory).map_err(|error| fault::io("create", &directory, &error))?;
        let stem = run_tag(&self.run_id);
        let path = directory.join(format!("{stem}.json"));
        let unfinished = directory.join(format!("{stem}.new"));
        let text = serde_json::to_vec(self).map_err(|error| {
            fault::unexpected(
                "internal",
                &["retry_command"],
                format!(
                    "the journal of run {} cannot be written: {error}",
                    self.run_id
                ),
            )
        })?;
        let written = step(probe, Step::WriteJournal, "write", &unfinished, || {
            write_synced(&unfinished, &text)
        })
        .and_then(|()| {
            step(probe, Step::PublishJournal, "rename", &unfinished, || {
                rename_new(&unfinished, &path)?;
                sync_dir(&directory)
            })
        });
        match written {
            Ok(()) => Ok(path),
            Err(Stop::Crashed) => Err(Stop::Crashed),
            Err(failed) => {
                // Nothing has changed yet; the failure is what matters, not the tidying.
                let _ = remove_if_there(&unfinished);
                Err(failed)
            }
        }
    }

    /// Reads one. `None`: it has been dropped in the meantime.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Problem> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(fault::io("read", path, &error)),
        };
        match serde_json::from_slice::<Self>(&text) {
            Ok(journal) if journal.version == VERSION => Ok(Some(journal)),
            Ok(journal) => Err(unusable(
                path,
                &format!(
                    "it has version {}, this program knows {VERSION}",
                    journal.version
                ),
            )),
            Err(error) => Err(unusable(path, &error.to_string())),
        }
    }
}

/// The name of a journal whose transaction failed and is being undone, so that no process completes
/// later what was reported as failed.
pub(crate) fn undoing_name(path: &Path) -> PathBuf {
    path.with_extension("undo.json")
}

/// Whether the name of a journal says that its transaction is being undone.
pub(crate) fn is_undoing(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b".undo.json")
}

/// Removes what interrupted writes of journals left. The caller knows that none is being written.
pub(crate) fn drop_unfinished(state: &PackState) -> Result<(), Problem> {
    for path in entries(&state.home().journal())? {
        if path.extension().is_some_and(|extension| extension == "new") {
            remove_if_there(&path).map_err(|error| fault::io("remove", &path, &error))?;
        }
    }
    Ok(())
}

fn unusable(path: &Path, cause: &str) -> Problem {
    fault::unexpected(
        "recovery_failed",
        &["upgrade_agentpack", "remove_journal", "retry_command"],
        format!(
            "the journal {} of an interrupted run cannot be used: {cause}. Finish it with the program that wrote it, or move the file away and check the roots with `status`",
            path.display()
        ),
    )
    .with("path", path.display().to_string())
}

/// The journals there are, in the order of their names.
pub(crate) fn list(state: &PackState) -> Result<Vec<PathBuf>, Problem> {
    let mut found = entries(&state.home().journal())?;
    found.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    found.sort();
    Ok(found)
}

/// The journals of transactions on any of these roots.
pub(crate) fn touching(state: &PackState, roots: &[LockedRoot]) -> Result<Vec<PathBuf>, Problem> {
    let mut found = Vec::new();
    for path in list(state)? {
        let Some(journal) = Journal::read(&path)? else {
            continue;
        };
        let shared = |theirs: &LockedRoot| roots.iter().any(|ours| ours.key == theirs.key);
        if journal.roots.iter().any(shared) {
            found.push(path);
        }
    }
    Ok(found)
}
