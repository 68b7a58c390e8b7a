//! The first step of a transaction: look at every destination, store the contents of before and
//! after, and write down in a journal what will be done. No destination changes here.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::value::RawValue;
use windlass_pack_model::{
    Body, FileMode, Snapshot, SnapshotChange, fault, snapshot::is_snapshot_id,
};
use windlass_types::{Digest, Problem};

use crate::state::{
    blob::{BlobWriter, Blobs},
    destination::{Destination, Found, Resolver},
    held_contents::HeldContents,
    journal::{Entry, FileState, Journal, JournalSnapshot},
    lock::RootLocks,
    manifest::is_manifest_name,
    observe::{Standing, read_following, read_regular},
    pack_state::PackState,
    probe::{FaultProbe, Stop},
    transaction::{After, FileAction, ManifestWrite, Transaction},
};

/// A transaction that is ready to be carried out.
pub(crate) struct Prepared {
    pub(crate) journal: Journal,
    pub(crate) contents: HeldContents,
    /// For each directory of the journal, the grove it is made in.
    pub(crate) groves_of_directories: Vec<usize>,
}

/// The bytes of a digest, from memory or from the store.
pub(crate) fn content(
    held: &HeldContents,
    digest: &Digest,
    blobs: &Blobs,
) -> Result<Arc<[u8]>, Problem> {
    if let Some(bytes) = held.get(digest) {
        return Ok(Arc::clone(bytes));
    }
    match blobs.get(digest)? {
        Some(bytes) => Ok(bytes.into()),
        None => Err(lost(digest, blobs)),
    }
}

fn lost(digest: &Digest, blobs: &Blobs) -> Problem {
    let path = blobs.path(digest);
    fault::unexpected(
        "store_hash_mismatch",
        &["retry_command"],
        format!("the stored content {} is missing", path.display()),
    )
    .with("path", path.display().to_string())
}

/// Prepares a transaction.
pub(crate) fn prepare(
    state: &PackState,
    locks: &RootLocks,
    transaction: Transaction,
    probe: &dyn FaultProbe,
) -> Result<Prepared, Stop> {
    let blobs = state.blobs();
    locks.verify(&transaction.held)?;
    let roots: Vec<_> = locks.locked().cloned().collect();
    let mut journal = Journal::new(&transaction.run_id, roots.clone());
    journal.fsync = transaction.fsync;
    journal.remember_roots = transaction.remember_roots;
    journal.forget_roots = transaction.forget_roots;

    let actions = in_order(transaction.actions, transaction.manifests);
    let removed = actions
        .iter()
        .filter(|action| action.after.is_none())
        .map(|action| action.path.clone())
        .collect();
    let writes = actions
        .iter()
        .filter(|action| action.after.is_some())
        .count();
    let mut work = Work {
        resolver: Resolver::new(
            roots,
            &transaction.write_through,
            transaction.links,
            removed,
        ),
        writer: BlobWriter::new(&blobs, &transaction.run_id, writes, transaction.fsync),
        contents: transaction.contents,
        settled: HashSet::new(),
        buffer: Vec::new(),
        probe,
    };
    journal.entries.reserve(actions.len());
    let mut changes = Vec::with_capacity(actions.len());
    let mut written: HashMap<OsString, usize> = HashMap::with_capacity(actions.len());
    for action in &actions {
        let destination = work.resolver.resolve(&action.path)?;
        let entry = work.entry(action, destination, &mut journal.replaced_directories)?;
        changes.extend(change(action, &entry, &blobs));
        if is_new(&entry, &mut written, &mut journal.entries)? {
            journal.entries.push(entry);
        }
    }
    work.writer.flush(probe)?;
    let contents = work.contents;
    let (directories, groves_of_directories) = work.resolver.early.into_iter().unzip();
    journal.directories = directories;
    journal.groves = work.resolver.groves;
    journal.late_directories = work.resolver.late;
    if !journal.late_directories.is_empty() {
        let late: HashSet<&Path> = journal
            .late_directories
            .iter()
            .map(|p| p.as_path())
            .collect();
        for entry in &mut journal.entries {
            if entry.is_removal() && late.contains(entry.real()) {
                entry.directory = Some(Standing::After);
            }
        }
    }
    journal.snapshot = match transaction.snapshot {
        Some(snapshot) => Some(record(snapshot, changes, &blobs, &journal.run_id)?),
        None => None,
    };
    Ok(Prepared {
        journal,
        contents,
        groves_of_directories,
    })
}

/// Removals first: a file may have to give way to a directory of the same name, or a directory
/// to a file. Manifests last: they say what is there.
fn in_order(actions: Vec<FileAction>, manifests: Vec<ManifestWrite>) -> Vec<FileAction> {
    let (removals, mut ordered): (Vec<_>, Vec<_>) = actions
        .into_iter()
        .chain(manifests.into_iter().map(FileAction::from))
        .partition(|action| action.after.is_none());
    ordered.splice(0..0, removals);
    ordered
}

struct Work<'a> {
    resolver: Resolver,
    writer: BlobWriter<'a>,
    contents: HeldContents,
    /// What [`Self::store`] has dealt with.
    settled: HashSet<Digest>,
    buffer: Vec<u8>,
    probe: &'a dyn FaultProbe,
}

impl Work<'_> {
    fn entry(
        &mut self,
        action: &FileAction,
        destination: Destination,
        replaced: &mut Vec<PathBuf>,
    ) -> Result<Entry, Stop> {
        let mut directory = None;
        let before = match (&destination.found, action.before) {
            (Found::File(metadata), Some(digest)) => {
                self.keep(&destination.real, &digest, metadata.len())?;
                Some(FileState {
                    sha256: digest,
                    mode: FileMode::new(metadata.mode()),
                })
            }
            (Found::Nothing, None) => None,
            (Found::Directory, None) if action.after.is_some() => {
                self.give_way(&action.path, replaced)?;
                directory = Some(Standing::Before);
                None
            }
            (Found::Nothing | Found::File(_), _) => return Err(changed(&action.path).into()),
            (Found::Directory | Found::Special, _) => return Err(in_the_way(&action.path).into()),
        };
        let after = match &action.after {
            Some(after) => {
                self.store(after, &action.path)?;
                Some(FileState {
                    sha256: after.digest,
                    mode: new_mode(before.map(|before| before.mode), after.executable),
                })
            }
            None => None,
        };
        Ok(Entry {
            path: action.path.clone(),
            link: destination.link.filter(|_| after.is_none()),
            real: Some(destination.real).filter(|real| real.as_os_str() != action.path.as_os_str()),
            target: action.target,
            before,
            after,
            staged_in: destination.staged_in,
            directory,
            grove: destination.grove,
        })
    }

    /// Stores what is at a destination, unless it is stored in a file of its own. The destination is compared
    /// with the plan again just before it changes.
    fn keep(&mut self, path: &Path, digest: &Digest, len: u64) -> Result<(), Stop> {
        if self.writer.has_alone(digest, len) {
            return Ok(());
        }
        match read_regular(path, &mut self.buffer) {
            Ok(Some(_)) if Digest::of(&self.buffer) == *digest => {}
            Ok(_) => return Err(changed(path).into()),
            Err(error) => return Err(fault::io("read", path, &error).into()),
        }
        self.writer.store_replaced(digest, &self.buffer, self.probe)
    }

    /// Stores what will be written.
    fn store(&mut self, after: &After, path: &Path) -> Result<(), Stop> {
        if !self.settled.insert(after.digest) {
            return Ok(());
        }
        let held = self.contents.get(&after.digest);
        let bytes: Arc<[u8]> = match (&after.body, held) {
            (Body::Memory(bytes), _) | (Body::File(_), Some(bytes)) => Arc::clone(bytes),
            (Body::File(source), None) => {
                // The source may be a link inside its module, so it is followed.
                match read_following(source, &mut self.buffer) {
                    Ok(Some(_)) if Digest::of(&self.buffer) == after.digest => {}
                    Ok(_) => return Err(source_changed(source, path).into()),
                    Err(error) => return Err(fault::io("read", source, &error).into()),
                }
                self.buffer.as_slice().into()
            }
        };
        if !self.writer.has(&after.digest, bytes.len() as u64) {
            match is_manifest_name(path.file_name()) {
                true => self
                    .writer
                    .store_manifest(&after.digest, &bytes, self.probe)?,
                false => self.writer.store(&after.digest, &bytes, self.probe)?,
            }
        }
        self.contents.hold(after.digest, bytes);
        Ok(())
    }

    /// A directory where a file should be: possible if the removals leave nothing in it.
    fn give_way(&self, directory: &Path, replaced: &mut Vec<PathBuf>) -> Result<(), Stop> {
        let mut inside = vec![directory.to_owned()];
        let mut next = 0;
        while let Some(path) = inside.get(next).cloned() {
            next += 1;
            let entries =
                std::fs::read_dir(&path).map_err(|error| fault::io("list", &path, &error))?;
            for entry in entries {
                let entry = entry.map_err(|error| fault::io("list", &path, &error))?;
                let kind = entry
                    .file_type()
                    .map_err(|error| fault::io("look at", &entry.path(), &error))?;
                if kind.is_dir() {
                    inside.push(entry.path());
                } else if !self.resolver.removes(&entry.path()) {
                    return Err(in_the_way(directory).into());
                }
            }
        }
        replaced.extend(inside.into_iter().rev());
        Ok(())
    }
}

/// The mode of a file that is written: new ones get the usual bits, existing ones keep theirs
/// but for the execute bits.
fn new_mode(before: Option<FileMode>, executable: bool) -> FileMode {
    match before {
        None => FileMode::of_new(executable),
        Some(mode) if mode.is_executable() == executable => mode,
        // Read permission implies execute permission.
        Some(mode) if executable => FileMode::new(mode.bits() | ((mode.bits() & 0o444) >> 2)),
        Some(mode) => FileMode::new(mode.bits() & !0o111),
    }
}

/// Two targets may own one file. It is written once when they agree; a write wins over a
/// removal.
fn is_new(
    entry: &Entry,
    written: &mut HashMap<OsString, usize>,
    entries: &mut [Entry],
) -> Result<bool, Problem> {
    let real = entry.real().as_os_str();
    let Some(&index) = written.get(real) else {
        written.insert(real.to_owned(), entries.len());
        return Ok(true);
    };
    let Some(first) = entries.get_mut(index) else {
        return Ok(true);
    };
    match (&first.after, &entry.after) {
        (Some(one), Some(other)) if one.same(other) => Ok(false),
        (_, None) => Ok(false),
        (None, Some(_)) => {
            // The write takes the place of the removal, before all other writes.
            *first = entry.clone();
            Ok(false)
        }
        (Some(one), Some(other)) => Err(fault::desired_state_conflict(format!(
            "two different contents are to be written to {}",
            entry.real().display()
        ))
        .with("path", entry.path.display().to_string())
        .with("existing", one.sha256.to_string())
        .with("new", other.sha256.to_string())),
    }
}

/// How the snapshot records an action.
fn change(action: &FileAction, entry: &Entry, blobs: &Blobs) -> Option<SnapshotChange> {
    let executable = |state: &FileState| state.mode.is_executable();
    Some(SnapshotChange {
        target: action.target?,
        op: action.snapshot_op,
        path: action.path.clone(),
        backup_path: entry.before.map(|before| blobs.path(&before.sha256)),
        before_sha256: entry.before.map(|before| before.sha256),
        after_sha256: entry.after.map(|after| after.sha256),
        before_mode: entry.before.map(|before| before.mode),
        after_mode: entry.after.filter(executable).map(|after| after.mode),
        adopted: action.adopted,
    })
}

fn record(
    mut snapshot: Snapshot,
    changes: Vec<SnapshotChange>,
    blobs: &Blobs,
    run_id: &str,
) -> Result<JournalSnapshot, Problem> {
    if !is_snapshot_id(&snapshot.id) {
        return Err(fault::unexpected(
            "internal",
            &[],
            format!("{:?} is not a snapshot id (decimal digits)", snapshot.id),
        ));
    }
    snapshot.changes = changes;
    snapshot.backup_root = blobs.root().to_owned();
    snapshot.run_id = Some(run_id.to_owned());
    let text = serde_json::to_string(&snapshot)
        .and_then(RawValue::from_string)
        .map_err(|error| {
            fault::unexpected(
                "internal",
                &["retry_command"],
                format!("snapshot {} cannot be written: {error}", snapshot.id),
            )
        })?;
    Ok(JournalSnapshot {
        id: snapshot.id,
        text,
    })
}

/// Another writer changed a destination after planning.
pub(crate) fn changed(path: &Path) -> Problem {
    fault::unexpected(
        "destination_changed",
        &["retry_command"],
        format!(
            "{} changed after the plan was made; nothing was applied. Plan again and look at the difference",
            path.display()
        ),
    )
    .with("path", path.display().to_string())
    .with("path_posix", path.display().to_string())
}

fn in_the_way(path: &Path) -> Problem {
    fault::unexpected(
        "io_error",
        &["fix_path", "retry_command"],
        format!(
            "{} is a directory or special file with things in it that pack does not own, and a file is to be written or removed there. Move it away and try again",
            path.display()
        ),
    )
    .with("path", path.display().to_string())
}

fn source_changed(source: &Path, destination: &Path) -> Problem {
    fault::unexpected(
        "store_hash_mismatch",
        &["retry_command"],
        format!(
            "{} changed after the plan was made, so {} was not written; plan again",
            source.display(),
            destination.display()
        ),
    )
    .with("path", source.display().to_string())
}

/// The digests of everything a journal may still need.
pub(crate) fn digests(journal: &Journal) -> HashSet<Digest> {
    let states = |entry: &Entry| [entry.before, entry.after];
    journal
        .entries
        .iter()
        .flat_map(states)
        .flatten()
        .map(|state| state.sha256)
        .collect()
}
