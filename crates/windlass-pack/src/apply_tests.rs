//! The effect of a run, and its undo, killed at every step on the disk: the next try brings it
//! to the same end. Deaths between steps of the engine are proven in `tests/suite/proofs.rs`.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use windlass_git::GitProgram;
use windlass_pack_deploy::state::{
    After, FileAction, Injected, ManifestWrite, Step as DiskStep, manifest_path,
};
use windlass_pack_model::{
    FileMode, ManagedFile, ManagedManifest, PackHome, RelPath, Snapshot, SnapshotFile, SnapshotOp,
    SnapshotRoot, Target,
};

use super::*;
use crate::PackEnvironment;

const RUN: &str = "run_1";
const SNAPSHOT: &str = "1700000000000000000";
const WHEN: (Timestamp, u128) = (Timestamp::EPOCH, 1_800_000_000_000_000_000);

/// Kills the process at one step.
struct KillAt {
    step: usize,
    seen: AtomicUsize,
}

impl KillAt {
    fn new(step: usize) -> Self {
        Self {
            step,
            seen: AtomicUsize::new(0),
        }
    }
}

impl FaultProbe for KillAt {
    fn at(&self, _: DiskStep, _: &Path) -> Result<(), Injected> {
        match self.seen.fetch_add(1, Ordering::SeqCst) == self.step {
            true => Err(Injected::Crash),
            false => Ok(()),
        }
    }
}

/// A root with files to update, delete and create, and the transaction as a run reads it back.
struct Scene {
    scratch: tempfile::TempDir,
    input: ApplyInput,
    frozen: Vec<u8>,
}

impl Scene {
    fn new() -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let scratch = scratch.unwrap();
        let root = scratch.path().join("root");
        fs_err::create_dir_all(root.join("old")).unwrap();
        fs_err::write(root.join("updated.md"), "one").unwrap();
        fs_err::write(root.join("old/deleted.md"), "old").unwrap();
        let manifest = |files: &[(&str, &str)], id: &str| {
            let files = files.iter().map(|(path, text)| ManagedFile {
                path: RelPath::new(*path).unwrap(),
                sha256: Digest::of(text.as_bytes()),
                module_ids: vec!["skill:a".to_owned()],
                mode: path.ends_with(".sh").then_some(FileMode::EXECUTABLE),
            });
            ManagedManifest {
                generated_at: "2026-01-01T00:00:00Z".to_owned(),
                tool: Target::Codex,
                snapshot_id: Some(id.to_owned()),
                managed_files: files.collect(),
                managed_keys: Vec::new(),
            }
            .render()
        };
        let before = manifest(&[("old/deleted.md", "old"), ("updated.md", "one")], "1");
        let written = [("new/run.sh", "#!/bin/sh"), ("updated.md", "two")];
        let after = manifest(&written, SNAPSHOT);
        let manifest_path = manifest_path(&root, Target::Codex);
        fs_err::write(&manifest_path, &before).unwrap();

        let action = |path: &str, before: Option<&str>, after: Option<(&str, bool)>| FileAction {
            target: Some(Target::Codex),
            path: root.join(path),
            before: before.map(|text| Digest::of(text.as_bytes())),
            after: after.map(|(text, executable)| After::of(text.as_bytes(), executable)),
            snapshot_op: match (before, after) {
                (None, _) => SnapshotOp::Create,
                (_, None) => SnapshotOp::Delete,
                _ => SnapshotOp::Update,
            },
            adopted: false,
        };
        let mut transaction = Transaction::new("");
        transaction.actions = vec![
            action("new/run.sh", None, Some(("#!/bin/sh", true))),
            action("updated.md", Some("one"), Some(("two", false))),
            action("old/deleted.md", Some("old"), None),
        ];
        let manifest_digest = Digest::of(after.as_bytes());
        transaction.manifests = vec![ManifestWrite {
            target: Target::Codex,
            path: manifest_path.clone(),
            before: Some(Digest::of(before.as_bytes())),
            after: Some(Arc::from(after.as_bytes())),
            snapshot_op: SnapshotOp::Update,
        }];
        let file = |(path, text): (&str, &str)| SnapshotFile {
            target: Target::Codex,
            path: root.join(path),
            sha256: Digest::of(text.as_bytes()),
            mode: path.ends_with(".sh").then_some(FileMode::EXECUTABLE),
        };
        transaction.snapshot = Some(Snapshot {
            kind: SnapshotKind::Deploy,
            id: SNAPSHOT.to_owned(),
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            targets: vec![Target::Codex],
            managed_files: written.map(file).to_vec(),
            changes: Vec::new(),
            rolled_back_to: None,
            lockfile_sha256: None,
            backup_root: PathBuf::new(),
            repo: Some(scratch.path().join("repo")),
            project_id: None,
            profile: None,
            roots: vec![SnapshotRoot {
                target: Target::Codex,
                root: root.clone(),
            }],
            manifests: vec![SnapshotFile {
                target: Target::Codex,
                path: manifest_path,
                sha256: manifest_digest,
                mode: None,
            }],
            run_id: None,
        });
        let frozen = FrozenTransactionV1::new(&transaction, &[root]).unwrap();
        Self {
            input: ApplyInput {
                links: LinkRule::default(),
                transaction: None,
                snapshot_id: SNAPSHOT.to_owned(),
                event: SnapshotKind::Deploy,
                pack_home: scratch.path().join("home"),
            },
            frozen: serde_json::to_vec(&frozen).unwrap(),
            scratch,
        }
    }

    fn carry_out(&self, probe: &dyn FaultProbe) -> Result<Value, Problem> {
        let frozen: FrozenTransactionV1 = serde_json::from_slice(&self.frozen).unwrap();
        let (transaction, roots) = frozen.thaw()?;
        carry_out(&self.input, Planned { transaction, roots }, RUN, probe)
    }

    fn take_back(&self, probe: &dyn FaultProbe) -> Result<(), Problem> {
        let pack = Pack {
            environment: PackEnvironment {
                pack_home: self.input.pack_home.clone(),
                home_dir: self.scratch.path().to_owned(),
                codex_home: None,
                machine_candidates: Vec::new(),
                fsync: false,
                link_destinations: Vec::new(),
                stat_cache: self.scratch.path().join("cache"),
                program: "windlass pack".to_owned(),
            },
            git: Arc::new(GitProgram::new([])),
            handoff: Handoff::default(),
        };
        take_back(&pack, &self.input, RUN, WHEN, probe)
    }

    /// Every file of the root with its mode; manifests without the event that wrote them.
    fn picture(&self) -> BTreeMap<String, String> {
        let mut picture = BTreeMap::new();
        let mut directories = vec![self.scratch.path().join("root")];
        while let Some(directory) = directories.pop() {
            for entry in fs_err::read_dir(directory).unwrap().map(Result::unwrap) {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                let name = entry.path().display().to_string();
                let name = name.replace(&self.scratch.path().display().to_string(), "");
                if entry.file_type().unwrap().is_dir() {
                    picture.insert(name, format!("{mode:o} directory"));
                    directories.push(entry.path());
                    continue;
                }
                let text = fs_err::read_to_string(entry.path()).unwrap();
                let text = match serde_json::from_str::<Value>(&text) {
                    Ok(manifest) => manifest["managed_files"].to_string(),
                    Err(_) => text,
                };
                picture.insert(name, format!("{mode:o} {text}"));
            }
        }
        picture
    }

    fn events(&self) -> Vec<SnapshotKind> {
        let state = PackState::open(PackHome::at(&self.input.pack_home));
        assert_eq!(windlass_pack_deploy::state::pending(&state).unwrap(), []);
        let ids = state.snapshot_ids().unwrap();
        ids.iter()
            .map(|id| state.snapshot(id).unwrap().kind)
            .collect()
    }
}

#[test]
fn an_apply_killed_anywhere_is_brought_to_its_end_by_the_next_try() {
    let undisturbed = Scene::new();
    let counter = KillAt::new(usize::MAX);
    let before = undisturbed.picture();
    undisturbed.carry_out(&counter).unwrap();
    let expected = undisturbed.picture();
    assert_ne!(expected, before);
    let steps = counter.seen.load(Ordering::SeqCst);
    assert!(steps > 10);
    for step in 0..steps {
        let scene = Scene::new();
        scene.carry_out(&KillAt::new(step)).unwrap_err();
        let output = scene.carry_out(&NoFaults).unwrap();
        assert_eq!(output["snapshot_id"], SNAPSHOT, "step {step}");
        assert_eq!(scene.picture(), expected, "step {step}");
        assert_eq!(scene.events(), [SnapshotKind::Deploy], "step {step}");
    }
}

#[test]
fn an_undo_killed_anywhere_is_brought_to_its_end_by_the_next_try() {
    let undisturbed = Scene::new();
    let before = undisturbed.picture();
    undisturbed.carry_out(&NoFaults).unwrap();
    let counter = KillAt::new(usize::MAX);
    undisturbed.take_back(&counter).unwrap();
    assert_eq!(undisturbed.picture(), before);
    let steps = counter.seen.load(Ordering::SeqCst);
    assert!(steps > 10);
    for step in 0..steps {
        let scene = Scene::new();
        scene.carry_out(&NoFaults).unwrap();
        scene.take_back(&KillAt::new(step)).unwrap_err();
        scene.take_back(&NoFaults).unwrap();
        assert_eq!(scene.picture(), before, "step {step}");
        let events = [SnapshotKind::Deploy, SnapshotKind::Undo];
        assert_eq!(scene.events(), events, "step {step}");
    }
}

#[test]
fn an_undo_is_last_in_history_also_when_the_clock_went_back() {
    let scene = Scene::new();
    scene.carry_out(&NoFaults).unwrap();
    let state = PackState::open(PackHome::at(&scene.input.pack_home));
    assert_eq!(after_all(&state, 7).unwrap(), 1_700_000_000_000_000_001);
    assert_eq!(after_all(&state, WHEN.1).unwrap(), WHEN.1);
}
