//! One lock per root: two applies to the same place take turns.
//!
//! The lock files live in the pack home, never in a root. The lock itself is the kernel's and
//! goes away with its process; what is written in the file only says who holds it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use windlass_files::{Directory, Identity};
use windlass_pack_model::fault::{self, is_absent};
use windlass_types::Problem;

use crate::state::{
    files::{PRIVATE, create_private_dir},
    journal,
    pack_state::PackState,
    prepare::changed,
    probe::NoFaults,
    recover::{self, Attempt, Recovered},
};

/// How long to wait before asking again; asking costs one call.
const PAUSE: Duration = Duration::from_millis(10);
/// How long the small locks of the store are waited for.
pub(crate) const STORE_WAIT: Duration = Duration::from_secs(10);

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// The run.
    pub run_id: String,
}

/// The locks of some roots; they are given back when this is dropped.
#[derive(Debug)]
pub struct RootLocks {
    locks: Vec<RootLock>,
    recovered: Vec<Recovered>,
}

#[derive(Debug)]
struct RootLock {
    root: LockedRoot,
    _file: HeldFile,
}

/// A root that is locked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockedRoot {
    /// As it was named.
    pub(crate) root: PathBuf,
    /// Where it really is.
    pub(crate) real: PathBuf,
    /// The name of its lock.
    pub(crate) key: String,
}

/// A root as it was when a plan was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRoot {
    root: PathBuf,
    real: PathBuf,
    /// The root, or what is there above it.
    there: PathBuf,
    device: u64,
    inode: u64,
}

impl HeldRoot {
    fn of(locked: &LockedRoot) -> Result<Self, Problem> {
        let there = locked
            .real
            .ancestors()
            .find(|directory| directory.is_dir())
            .unwrap_or(Path::new("/"));
        let identity = identity(there)?;
        Ok(Self {
            root: locked.root.clone(),
            real: locked.real.clone(),
            there: there.to_owned(),
            device: identity.device,
            inode: identity.inode,
        })
    }

    fn is_still(&self, locked: &LockedRoot) -> bool {
        locked.real == self.real
            && identity(&self.there)
                .is_ok_and(|found| (found.device, found.inode) == (self.device, self.inode))
    }
}

fn identity(directory: &Path) -> Result<Identity, Problem> {
    Directory::open_exact(directory)
        .and_then(|opened| opened.identity())
        .map_err(|error| fault::io("open", directory, &error.into_source()))
}

impl RootLocks {
    /// The roots as they are now, for a transaction that is carried out later.
    pub fn held(&self) -> Result<Vec<HeldRoot>, Problem> {
        self.locked().map(HeldRoot::of).collect()
    }

    /// Refuses roots that are other directories than those a plan saw.
    pub(crate) fn verify(&self, held: &[HeldRoot]) -> Result<(), Problem> {
        for locked in self.locked() {
            let mut planned = held.iter().filter(|held| held.root == locked.root);
            if planned.any(|held| !held.is_still(locked)) {
                return Err(changed(&locked.root));
            }
        }
        Ok(())
    }

    /// The roots, as they were named.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.locks.iter().map(|lock| lock.root.root.as_path())
    }

    /// What killed processes had left half done in these roots, and what became of it. It was
    /// settled while the locks were taken.
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    pub(crate) fn locked(&self) -> impl Iterator<Item = &LockedRoot> {
        self.locks.iter().map(|lock| &lock.root)
    }
}

impl PackState {
    /// Locks roots for writing, waiting up to `wait` for others. What a killed process left half
    /// done in them is completed or undone before this returns.
    pub fn lock(
        &self,
        roots: &[PathBuf],
        run_id: &str,
        wait: Duration,
    ) -> Result<RootLocks, Problem> {
        let deadline = Instant::now() + wait;
        let mut wanted = roots
            .iter()
            .map(|root| self.locked_root(root))
            .collect::<Result<Vec<_>, _>>()?;
        // One global order: two applies that share roots cannot deadlock.
        wanted.sort_by(|left, right| (&left.key, &left.root).cmp(&(&right.key, &right.root)));
        wanted.dedup();
        let mut recovered = Vec::new();
        loop {
            let locks = self.take(&wanted, run_id, deadline)?;
            let left_behind = journal::touching(self, &wanted)?;
            if left_behind.is_empty() {
                return Ok(RootLocks { locks, recovered });
            }
            // Its owner held one of these locks and does not any more. Its other roots may sort
            // before ours, so ours are given back first.
            drop(locks);
            for path in left_behind {
                match recover::settle_one(self, &path, deadline, &NoFaults)? {
                    Attempt::Done(run) => recovered.push(run),
                    Attempt::Gone => {}
                    Attempt::Busy => return Err(locked(&path, None)),
                }
            }
        }
    }

    /// Where a root really is and what its lock is called.
    fn locked_root(&self, root: &Path) -> Result<LockedRoot, Problem> {
        if !root.is_absolute() {
            let message = format!("{} is not an absolute path", root.display());
            return Err(fault::at(fault::invalid_path(message), root));
        }
        let real = real_path(root).map_err(|error| fault::io("look at", root, &error))?;
        let lock = self.home().lock(&real);
        Ok(LockedRoot {
            root: root.to_owned(),
            key: lock
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            real,
        })
    }

    /// Takes locks that are sorted by key.
    fn take(
        &self,
        wanted: &[LockedRoot],
        run_id: &str,
        deadline: Instant,
    ) -> Result<Vec<RootLock>, Problem> {
        let mut locks: Vec<RootLock> = Vec::with_capacity(wanted.len());
        for root in wanted {
            // Two names of one directory share a lock, which is held once.
            let file = match locks.last() {
                Some(last) if last.root.key == root.key => last._file.again(),
                _ => self.take_one(root, run_id, deadline)?,
            };
            locks.push(RootLock {
                root: root.clone(),
                _file: file,
            });
        }
        Ok(locks)
    }

    fn take_one(
        &self,
        root: &LockedRoot,
        run_id: &str,
        deadline: Instant,
    ) -> Result<HeldFile, Problem> {
        let path = self.home().locks().join(format!("{}.lock", root.key));
        let file = open_lock(&path)?;
        if !wait_for(
            &file,
            FlockOperation::NonBlockingLockExclusive,
            &path,
            deadline,
        )? {
            return Err(locked(&root.root, holder(&file)));
        }
        let held = HeldFile::new(file);
        held.sign(run_id)
            .map_err(|error| fault::io("write", &path, &error))?;
        Ok(held)
    }

    /// Takes the locks of a journal's roots. `None`: another process holds one of them until after
    /// the deadline.
    pub(crate) fn take_for_recovery(
        &self,
        roots: &[LockedRoot],
        run_id: &str,
        deadline: Instant,
    ) -> Result<Option<RootLocks>, Problem> {
        match self.take(roots, run_id, deadline) {
            Ok(locks) => Ok(Some(RootLocks {
                locks,
                recovered: Vec::new(),
            })),
            Err(problem) if is_locked(&problem) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The lock between those who store blobs (shared) and those who sweep them (exclusive).
    pub(crate) fn lock_blobs(&self, exclusive: bool) -> Result<File, Problem> {
        let operation = if exclusive {
            FlockOperation::NonBlockingLockExclusive
        } else {
            FlockOperation::NonBlockingLockShared
        };
        self.lock_store("blobs", operation)
    }

    /// The lock of `pack.json`.
    pub(crate) fn lock_remembered(&self) -> Result<File, Problem> {
        self.lock_store("pack", FlockOperation::NonBlockingLockExclusive)
    }

    fn lock_store(&self, name: &str, operation: FlockOperation) -> Result<File, Problem> {
        let path = self.home().locks().join(format!("{name}.lock"));
        let file = open_lock(&path)?;
        if wait_for(&file, operation, &path, Instant::now() + STORE_WAIT)? {
            return Ok(file);
        }
        Err(locked(&path, None))
    }
}

/// A lock file that says who holds it as long as it is held.
#[derive(Debug)]
struct HeldFile(std::sync::Arc<Signed>);

#[derive(Debug)]
struct Signed(File);

impl HeldFile {
    fn new(file: File) -> Self {
        Self(std::sync::Arc::new(Signed(file)))
    }

    fn again(&self) -> Self {
        Self(self.0.clone())
    }

    fn sign(&self, run_id: &str) -> io::Result<()> {
        let holder = Holder {
            pid: std::process::id(),
            run_id: run_id.to_owned(),
        };
        let mut file = &self.0.0;
        file.set_len(0)?;
        file.write_all(&serde_json::to_vec(&holder)?)
    }
}

impl Drop for Signed {
    fn drop(&mut self) {
        // Closing the file gives the lock back; a name that stays in it would only mislead.
        let _ = self.0.set_len(0);
    }
}

fn open_lock(path: &Path) -> Result<File, Problem> {
    let open = || {
        OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(PRIVATE)
            .open(path)
    };
    match open() {
        Err(error) if is_absent(&error) => {
            if let Some(directory) = path.parent() {
                create_private_dir(directory)
                    .map_err(|error| fault::io("create", directory, &error))?;
            }
            open()
        }
        opened => opened,
    }
    .map_err(|error| fault::io("open", path, &error))
}

/// Waits for a lock; `false` when the deadline passed. The kernel knows no lock with a time
/// limit, so it is asked again and again.
fn wait_for(
    file: &File,
    operation: FlockOperation,
    path: &Path,
    deadline: Instant,
) -> Result<bool, Problem> {
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(false);
                }
                std::thread::sleep(PAUSE.min(left));
            }
            Err(error) => return Err(fault::io("lock", path, &error.into())),
        }
    }
}

fn holder(mut file: &File) -> Option<Holder> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn locked(root: &Path, holder: Option<Holder>) -> Problem {
    let who = match &holder {
        Some(holder) => format!("process {} (run {})", holder.pid, holder.run_id),
        None => "another process".to_owned(),
    };
    let problem = fault::unexpected(
        "locked",
        &["wait_for_other_run", "retry_command"],
        format!(
            "{} is being written by {who}; try again when it has finished",
            root.display()
        ),
    )
    .with("root", root.display().to_string());
    match holder {
        Some(holder) => problem
            .with("pid", holder.pid)
            .with("run_id", holder.run_id),
        None => problem,
    }
}

fn is_locked(problem: &Problem) -> bool {
    problem
        .details()
        .get("reason_code")
        .is_some_and(|reason| reason == "locked")
}

/// A path with its symbolic links resolved as far as it exists.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if is_absent(&error) => match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok(real_path(parent)?.join(name)),
            _ => Err(error),
        },
        found => found,
    }
}
