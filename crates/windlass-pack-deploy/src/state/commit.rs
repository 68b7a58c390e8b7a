//! Carrying out a transaction.
//!
//! The order is what makes it safe: contents are stored, then the journal is flushed, then every
//! new file is staged next to its destination (a full disk shows here, before anything changed),
//! then destinations change one by one, each compared with the plan at the last moment, then the
//! manifests, and at last the snapshot gets its name. That is the moment the transaction holds;
//! a failure before it undoes everything, a failure after it is tidied up by the next command.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use windlass_pack_model::fault;
use windlass_types::Problem;

use crate::state::{
    exact::{self, OpenDirectories},
    files::{create_private_dir, rename_new, sync_dir, write_synced},
    grove,
    held_contents::HeldContents,
    journal::{Entry, Journal, undoing_name},
    lock::{RootLocks, real_path},
    observe::{Seen, Standing, observe, standing},
    pack_state::PackState,
    prepare::{changed, content, prepare},
    probe::{FaultProbe, Step, Stop, step},
    settle,
    stage::{StagedMode, stage},
    transaction::{Committed, Transaction},
    undo::undo,
};

/// Carries out a transaction under the locks of its roots: all of it, or nothing.
pub fn commit(
    state: &PackState,
    locks: &RootLocks,
    transaction: Transaction,
    probe: &dyn FaultProbe,
) -> Result<Committed, Problem> {
    // Blobs are not swept while this transaction relies on them.
    let _blobs = state.lock_blobs(false)?;
    let prepared = prepare(state, locks, transaction, probe).map_err(Stop::into_problem)?;
    let journal = prepared.journal;
    let path = journal.write(state, probe).map_err(Stop::into_problem)?;
    let snapshot_id = journal
        .snapshot
        .as_ref()
        .map(|snapshot| snapshot.id.clone());
    let way = Way::Begin {
        groves: &prepared.groves_of_directories,
    };
    match apply(state, &journal, &prepared.contents, &way, probe) {
        Ok(()) => {}
        Err(Stop::Crashed) => return Err(Stop::Crashed.into_problem()),
        // The snapshot got its name and only the flush after it failed: it holds.
        Err(Stop::Failed(_)) if journal.is_committed(state) => {}
        Err(Stop::Failed(problem)) => {
            return Err(take_back(state, &journal, &path, problem, probe));
        }
    }
    match settle::settle(state, &journal, &path, probe) {
        Ok(()) => Ok(Committed {
            snapshot_id,
            warnings: Vec::new(),
        }),
        Err(Stop::Crashed) => Err(Stop::Crashed.into_problem()),
        Err(Stop::Failed(problem)) => Ok(Committed {
            snapshot_id,
            warnings: vec![format!(
                "everything was applied, but tidying up failed; the next command does it: {}",
                problem.message()
            )],
        }),
    }
}

/// Undoes a transaction that failed, and says why it failed.
fn take_back(
    state: &PackState,
    journal: &Journal,
    path: &Path,
    problem: Problem,
    probe: &dyn FaultProbe,
) -> Problem {
    let undoing = undoing_name(path);
    // Should this fail, the next command decides by what it finds, which is safe as well.
    let path = match rename_new(path, &undoing) {
        Ok(()) => undoing.as_path(),
        Err(_) => path,
    };
    let undone = undo(state, journal, probe).and_then(|warnings| {
        settle::drop_journal(path, probe)?;
        Ok(warnings)
    });
    match undone {
        Ok(warnings) if warnings.is_empty() => problem,
        Ok(warnings) => problem.with("left_alone", warnings),
        Err(Stop::Crashed) => Stop::Crashed.into_problem(),
        Err(Stop::Failed(second)) => problem
            .with("undo_failed", second.message())
            .next("retry_command_to_finish_undo"),
    }
}

/// How a transaction is carried out.
pub(crate) enum Way<'a> {
    /// From the beginning: what belongs in a new directory is made there before the directory
    /// has its name. `groves` names the grove of each directory.
    Begin { groves: &'a [usize] },
    /// After an interruption, file by file; `pending` says which entries are still to be done.
    Resume { pending: &'a [bool] },
}

/// Brings destinations, manifests and snapshot to their after.
pub(crate) fn apply(
    state: &PackState,
    journal: &Journal,
    contents: &HeldContents,
    way: &Way<'_>,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let blobs = state.blobs();
    let is_pending = |index: usize| match way {
        Way::Begin { .. } => true,
        Way::Resume { pending } => pending.get(index).copied().unwrap_or(true),
    };
    let todo = || {
        journal
            .entries
            .iter()
            .enumerate()
            .filter(|(index, _)| is_pending(*index))
    };
    match way {
        Way::Begin { groves } => grove::plant(journal, groves, probe)?,
        Way::Resume { .. } => {
            grove::clear(journal, probe)?;
            create_directories(&journal.directories, probe)?;
        }
    }
    let mut directories = OpenDirectories::default();
    for (index, entry) in todo() {
        let bytes = match &entry.after {
            Some(after) => content(contents, &after.sha256, &blobs)?,
            None => continue,
        };
        if entry.grove.is_none() {
            // A directory of the user's may have been moved since it was opened.
            directories = OpenDirectories::default();
        }
        stage_entry(journal, index, entry, &bytes, &mut directories, probe)?;
    }
    stage_snapshot(state, journal, probe)?;

    let mut buffer = Vec::new();
    for (_, entry) in todo().filter(|(_, entry)| entry.is_removal()) {
        remove(entry, &mut buffer, probe)?;
    }
    for directory in &journal.replaced_directories {
        step(probe, Step::RemoveDirectory, "remove", directory, || {
            exact::remove_empty_dir(directory)
        })?;
    }
    create_directories(&journal.late_directories, probe)?;
    if let Way::Begin { .. } = way {
        grove::move_in(journal, probe)?;
    }
    for (index, entry) in todo() {
        if !entry.is_removal() && entry.grove.is_none() {
            replace(journal, index, entry, &mut buffer, probe)?;
        }
    }
    if journal.fsync {
        flush_directories(journal)?;
    }
    publish_snapshot(state, journal, probe)
}

fn create_directories(directories: &[PathBuf], probe: &dyn FaultProbe) -> Result<(), Stop> {
    for directory in directories {
        step(
            probe,
            Step::CreateDirectory,
            "create",
            directory,
            || match exact::create_dir(directory) {
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() =>
                {
                    Ok(())
                }
                created => created,
            },
        )?;
    }
    Ok(())
}

fn stage_entry(
    journal: &Journal,
    index: usize,
    entry: &Entry,
    bytes: &[u8],
    directories: &mut OpenDirectories,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let Some(after) = &entry.after else {
        return Ok(());
    };
    let mode = match entry.before {
        None => StagedMode::New(after.mode),
        Some(_) => StagedMode::Exact(after.mode),
    };
    let temp = match entry.grove {
        Some(grove) => grove::inside(journal, grove, entry.real()),
        None => journal.temp(index),
    };
    stage(&temp, bytes, mode, journal.fsync, directories, probe)
}

fn remove(entry: &Entry, buffer: &mut Vec<u8>, probe: &dyn FaultProbe) -> Result<(), Stop> {
    let path = match entry.link {
        // The link goes, not what it leads to.
        Some(_) => own_path(&entry.path).map_err(|error| fault::io("find", &entry.path, &error))?,
        None => entry.real().to_owned(),
    };
    let standing =
        standing(entry, buffer).map_err(|error| fault::io("read", &entry.path, &error))?;
    if standing != Standing::Before {
        return Err(changed(&entry.path).into());
    }
    step(probe, Step::Remove, "remove", &path, || {
        exact::remove(&path)
    })
}

/// Where a path is, the last component taken for itself.
pub(crate) fn own_path(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(real_path(parent)?.join(name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn replace(
    journal: &Journal,
    index: usize,
    entry: &Entry,
    buffer: &mut Vec<u8>,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let (temp, real) = (journal.temp(index), entry.real());
    let Some(before) = &entry.before else {
        let moved = step(
            probe,
            Step::Replace,
            "write",
            real,
            || match exact::rename_new(&temp, real) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                moved => moved.map(|()| true),
            },
        )?;
        return match moved {
            true => Ok(()),
            false => Err(changed(&entry.path).into()),
        };
    };
    let seen = observe(real, buffer).map_err(|error| fault::io("read", real, &error))?;
    match seen {
        Seen::File(found) if found.sha256 == before.sha256 => {}
        _ => return Err(changed(&entry.path).into()),
    }
    step(probe, Step::Replace, "write", real, || {
        exact::rename(&temp, real)
    })
}

fn flush_directories(journal: &Journal) -> Result<(), Stop> {
    let files = journal.entries.iter().map(Entry::real);
    let directories: BTreeSet<&Path> = files
        .chain(journal.directories.iter().map(PathBuf::as_path))
        .filter_map(Path::parent)
        .collect();
    for directory in directories {
        // A directory that gave way to a file is not there any more.
        if directory.is_dir() {
            sync_dir(directory).map_err(|error| fault::io("flush", directory, &error))?;
        }
    }
    Ok(())
}

fn stage_snapshot(
    state: &PackState,
    journal: &Journal,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let Some(snapshot) = &journal.snapshot else {
        return Ok(());
    };
    let directory = state.home().snapshots();
    create_private_dir(&directory).map_err(|error| fault::io("create", &directory, &error))?;
    let temp = journal.snapshot_temp(state);
    step(probe, Step::WriteSnapshot, "write", &temp, || {
        write_synced(&temp, format!("{}\n", snapshot.text.get()).as_bytes())
    })
}

fn publish_snapshot(
    state: &PackState,
    journal: &Journal,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let Some(snapshot) = &journal.snapshot else {
        return Ok(());
    };
    let path = state.home().snapshot_file(&snapshot.id);
    let temp = journal.snapshot_temp(state);
    step(probe, Step::PublishSnapshot, "write", &path, || {
        rename_new(&temp, &path)?;
        sync_dir(&state.home().snapshots())
    })
}
