//! A home, two roots and helpers for them.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use windlass_pack_deploy::state::{
    After, Committed, FaultProbe, FileAction, Injected, ManifestWrite, NoFaults, PackState,
    RootLocks, Step, Transaction, commit, is_temp_name,
};
use windlass_pack_model::{
    PackHome, Snapshot, SnapshotFile, SnapshotKind, SnapshotOp, SnapshotRoot, Target,
};
use windlass_types::{Digest, Problem};

/// A directory with a pack home and a user's home that holds two roots.
pub struct World {
    _kept: tempfile::TempDir,
    directory: PathBuf,
    pub state: PackState,
}

/// What is below a directory: path, mode, and content or where a link leads.
pub type Picture = BTreeMap<String, String>;

impl World {
    pub fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let directory = kept.path().canonicalize().unwrap();
        let state = PackState::open(PackHome::at(directory.join("pack")));
        fs_err::create_dir(directory.join("user")).unwrap();
        Self {
            _kept: kept,
            directory,
            state,
        }
    }

    /// The user's home.
    pub fn user(&self) -> PathBuf {
        self.directory.join("user")
    }

    /// A place outside the user's home.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub fn codex(&self) -> PathBuf {
        self.user().join(".codex")
    }

    pub fn claude(&self) -> PathBuf {
        self.user().join(".claude")
    }

    pub fn lock(&self) -> RootLocks {
        self.try_lock("run-1").unwrap()
    }

    pub fn try_lock(&self, run: &str) -> Result<RootLocks, Problem> {
        let roots = [self.codex(), self.claude()];
        self.state.lock(&roots, run, Duration::ZERO)
    }

    pub fn commit(&self, transaction: Transaction) -> Result<Committed, Problem> {
        self.commit_with(transaction, &NoFaults)
    }

    pub fn commit_with(
        &self,
        transaction: Transaction,
        probe: &dyn FaultProbe,
    ) -> Result<Committed, Problem> {
        let locks = self.try_lock(&transaction.run_id)?;
        commit(&self.state, &locks, transaction, probe)
    }

    /// A transaction with a snapshot.
    pub fn transaction(&self, id: &str, actions: Vec<FileAction>) -> Transaction {
        let mut transaction = Transaction::new(format!("run-{id}"));
        transaction.write_through = vec![self.user()];
        transaction.snapshot = Some(self.snapshot(id, &actions));
        transaction.actions = actions;
        transaction
    }

    pub fn snapshot(&self, id: &str, actions: &[FileAction]) -> Snapshot {
        let managed = actions.iter().filter_map(|action| {
            Some(SnapshotFile {
                target: action.target?,
                path: action.path.clone(),
                sha256: action.after.as_ref()?.digest,
                mode: None,
            })
        });
        Snapshot {
            kind: SnapshotKind::Deploy,
            id: id.to_owned(),
            created_at: "2026-01-02T03:04:05.000000006Z".to_owned(),
            targets: vec![Target::Codex],
            managed_files: managed.collect(),
            changes: Vec::new(),
            rolled_back_to: None,
            lockfile_sha256: None,
            backup_root: PathBuf::new(),
            repo: None,
            project_id: None,
            profile: None,
            roots: vec![
                root(Target::ClaudeCode, self.claude()),
                root(Target::Codex, self.codex()),
            ],
            manifests: Vec::new(),
            run_id: None,
        }
    }

    /// Everything in the user's home.
    pub fn picture(&self) -> Picture {
        picture(&self.user())
    }

    /// No journal, no staged file, no unfinished blob.
    pub fn assert_tidy(&self, when: &str) {
        let left: Vec<_> = picture(&self.directory)
            .into_keys()
            .filter(|path| {
                (path.starts_with("pack/state/journal/") && !path.ends_with('/'))
                    || path.contains(".new")
                    || path.split('/').any(is_temp_name)
            })
            .collect();
        assert_eq!(left, Vec::<String>::new(), "{when}");
    }

    /// The snapshots that hold.
    pub fn snapshots(&self) -> Vec<String> {
        self.state.snapshot_ids().unwrap()
    }
}

pub fn root(target: Target, root: PathBuf) -> SnapshotRoot {
    SnapshotRoot { target, root }
}

pub fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// Writes a file and the directories above it.
pub fn put(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

pub fn read(path: &Path) -> String {
    fs_err::read_to_string(path).unwrap()
}

pub fn chmod(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().mode() & 0o7777
}

pub fn create(path: PathBuf, text: &str) -> FileAction {
    action(path, None, Some((text, false)))
}

pub fn update(path: PathBuf, before: &str, after: &str) -> FileAction {
    action(path, Some(before), Some((after, false)))
}

pub fn delete(path: PathBuf, before: &str) -> FileAction {
    action(path, Some(before), None)
}

pub fn action(path: PathBuf, before: Option<&str>, after: Option<(&str, bool)>) -> FileAction {
    FileAction {
        target: Some(Target::Codex),
        path,
        before: before.map(digest),
        snapshot_op: op(before.is_some(), after.is_some()),
        after: after.map(|(text, executable)| After::of(text.as_bytes(), executable)),
        adopted: false,
    }
}

pub fn manifest(
    target: Target,
    path: PathBuf,
    before: Option<&str>,
    after: Option<&str>,
) -> ManifestWrite {
    ManifestWrite {
        target,
        path,
        before: before.map(digest),
        snapshot_op: op(before.is_some(), after.is_some()),
        after: after.map(|text| text.as_bytes().into()),
    }
}

fn op(before: bool, after: bool) -> SnapshotOp {
    match (before, after) {
        (false, _) => SnapshotOp::Create,
        (true, true) => SnapshotOp::Update,
        (true, false) => SnapshotOp::Delete,
    }
}

fn picture(directory: &Path) -> Picture {
    fn visit(root: &Path, directory: &Path, into: &mut Picture) {
        for entry in fs_err::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let metadata = fs_err::symlink_metadata(&path).unwrap();
            let mode = metadata.mode() & 0o7777;
            if metadata.is_dir() {
                into.insert(format!("{name}/"), format!("{mode:04o}"));
                visit(root, &path, into);
            } else if metadata.is_symlink() {
                let to = fs_err::read_link(&path).unwrap();
                into.insert(name, format!("-> {}", to.display()));
            } else {
                let bytes = fs_err::read(&path).unwrap();
                into.insert(
                    name,
                    format!("{mode:04o} {}", String::from_utf8_lossy(&bytes)),
                );
            }
        }
    }
    let mut picture = Picture::new();
    visit(directory, directory, &mut picture);
    picture
}

/// The files of contents that are stored together.
pub fn containers(world: &World) -> Vec<PathBuf> {
    let directory = world.state.home().blobs().join("containers");
    let Ok(entries) = fs_err::read_dir(directory) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Counts the steps and remembers them.
#[derive(Default)]
pub struct Counter {
    pub steps: RefCell<Vec<Step>>,
}

impl Counter {
    pub fn count(&self) -> usize {
        self.steps.borrow().len()
    }

    pub fn of(&self, step: Step) -> usize {
        let steps = self.steps.borrow();
        steps.iter().filter(|other| **other == step).count()
    }
}

impl FaultProbe for Counter {
    fn at(&self, step: Step, _: &Path) -> Result<(), Injected> {
        self.steps.borrow_mut().push(step);
        Ok(())
    }
}

/// What happens at one step, or from it on.
pub enum Fault {
    /// That step fails.
    Fail,
    /// The process dies there.
    Crash,
    /// The disk is full from there on.
    FullDisk,
}

/// Does it at the n-th step.
pub struct At {
    pub fault: Fault,
    pub step: usize,
    seen: Cell<usize>,
}

impl At {
    pub fn new(fault: Fault, step: usize) -> Self {
        Self {
            fault,
            step,
            seen: Cell::new(0),
        }
    }
}

impl FaultProbe for At {
    fn at(&self, step: Step, _: &Path) -> Result<(), Injected> {
        let now = self.seen.get();
        self.seen.set(now + 1);
        match self.fault {
            Fault::Fail if now == self.step => Err(full()),
            Fault::Crash if now >= self.step => Err(Injected::Crash),
            Fault::FullDisk if now >= self.step && takes_space(step) => Err(full()),
            _ => Ok(()),
        }
    }
}

fn takes_space(step: Step) -> bool {
    matches!(
        step,
        Step::WriteBlob
            | Step::FlushContainer
            | Step::WriteJournal
            | Step::CreateDirectory
            | Step::WriteTemp
            | Step::WriteSnapshot
            | Step::WriteRemembered
    )
}

fn full() -> Injected {
    Injected::Fail(io::Error::from_raw_os_error(28))
}

pub fn reason(problem: &Problem) -> String {
    let reason = problem.details().get("reason_code");
    reason
        .and_then(|reason| reason.as_str())
        .unwrap_or_default()
        .to_owned()
}
