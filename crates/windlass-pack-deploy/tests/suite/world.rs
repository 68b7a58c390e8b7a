//! A home, a repository and projects in a temporary directory, and the commands as functions.

use std::{
    cell::Cell,
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use windlass_pack_deploy::{
    Adoption, DeployPlan, DriftReport, EventContext, EventPlan, LinkRule, Owned, OwnershipScope,
    PlanOptions, Purpose, RollbackRequest, UndoRequest, drift, gather_disk, gather_owned, plan,
    rollback, scan_extras,
    state::{NoFaults, PackState, commit},
    undo, uninstall,
};
use windlass_pack_model::{
    Body, Desired, DesiredFile, DesiredKey, Form, KeyFormat, Layer, NoHashCache, Origin, PackHome,
    RelPath, RootScope, Target, TargetRoot,
};
use windlass_types::{Digest, Problem};

pub struct World {
    pub temp: tempfile::TempDir,
    pub state: PackState,
    pub project: String,
    next: Cell<u64>,
}

/// One file that is wanted.
#[derive(Clone, Debug)]
pub struct Want {
    pub target: Target,
    pub path: String,
    pub text: String,
    pub executable: bool,
    pub module: String,
}

pub fn want(target: Target, path: &str, text: &str) -> Want {
    Want {
        target,
        path: path.to_owned(),
        text: text.to_owned(),
        executable: false,
        module: "skill:demo".to_owned(),
    }
}

impl World {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let state = PackState::open(PackHome::at(temp.path().join("home/.agentpack")));
        fs_err::create_dir_all(temp.path().join("repo")).unwrap();
        fs_err::create_dir_all(temp.path().join("home")).unwrap();
        Self {
            temp,
            state,
            project: "a".to_owned(),
            next: Cell::new(1_700_000_000_000_000_000),
        }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs_err::read_to_string(self.path(path)).ok()
    }

    pub fn chmod(&self, path: &str, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        fs_err::set_permissions(self.path(path), permissions).unwrap();
    }

    pub fn mode(&self, path: &str) -> u32 {
        fs_err::metadata(self.path(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    }

    pub fn root(&self, target: Target, path: &str) -> TargetRoot {
        TargetRoot {
            target,
            path: self.path(path),
            scan_extras: true,
            scope: match path.starts_with("home") {
                true => RootScope::User,
                false => RootScope::Project,
            },
        }
    }

    pub fn desired(&self, roots: &[(Target, &str)], wants: &[Want]) -> Desired {
        let mut roots: Vec<TargetRoot> = roots
            .iter()
            .map(|(target, path)| self.root(*target, path))
            .collect();
        roots.sort();
        let mut files: Vec<DesiredFile> = wants
            .iter()
            .map(|want| DesiredFile {
                target: want.target,
                path: self.path(&want.path),
                digest: Digest::of(want.text.as_bytes()),
                len: want.text.len() as u64,
                executable: want.executable,
                body: Body::Memory(Arc::from(want.text.as_bytes())),
                module_ids: vec![want.module.clone()],
                origins: Vec::new(),
                form: Form::Verbatim,
            })
            .collect();
        files.sort_by(|left, right| (left.target, &left.path).cmp(&(right.target, &right.path)));
        Desired {
            roots,
            files,
            keys: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub fn key(&self, target: Target, path: &str, pointer: &str, value: Value) -> DesiredKey {
        DesiredKey {
            target,
            path: self.path(path),
            format: match path.ends_with(".toml") {
                true => KeyFormat::Toml,
                false => KeyFormat::Json,
            },
            pointer: pointer.to_owned(),
            digest: Digest::of_json(&value),
            value,
            module_ids: vec!["mcp_server:demo".to_owned()],
            origin: Origin {
                module_id: "mcp_server:demo".to_owned(),
                module_type: "mcp_server".to_owned(),
                module_path: RelPath::new("server.yaml").unwrap(),
                layer: Layer::Upstream,
            },
        }
    }

    pub fn owned(&self, desired: &Desired, target: Option<Target>) -> Owned {
        let repo = self.path("repo");
        gather_owned(
            &self.state,
            &OwnershipScope {
                repo: &repo,
                project_id: Some(&self.project),
                target,
                roots: &desired.roots,
                possible: &[],
            },
        )
        .unwrap()
    }

    pub fn plan(&self, desired: &Desired) -> DeployPlan {
        self.try_plan(desired, Purpose::Deploy, None).unwrap()
    }

    pub fn try_plan(
        &self,
        desired: &Desired,
        purpose: Purpose,
        target: Option<Target>,
    ) -> Result<DeployPlan, Problem> {
        let owned = self.owned(desired, target);
        let disk = gather_disk(desired, &owned, &NoHashCache);
        let options = PlanOptions {
            purpose,
            ..PlanOptions::default()
        };
        plan(desired, &owned, &disk, &options)
    }

    pub fn context(&self) -> EventContext {
        let id = self.next.get();
        self.next.set(id + 1);
        EventContext {
            run_id: format!("run_{id}"),
            snapshot_id: id.to_string(),
            created_at: "2026-01-01T00:00:00.000000000Z".to_owned(),
            repo: self.path("repo"),
            project: Some((self.project.clone(), self.path(&self.project))),
            profile: Some("default".to_owned()),
            lockfile_sha256: None,
            write_through: vec![self.temp.path().to_owned()],
            links: LinkRule::default(),
            fsync: false,
        }
    }

    /// Carries an event out and gives the id of its snapshot.
    pub fn apply(&self, event: &EventPlan) -> String {
        self.try_apply(event).unwrap()
    }

    pub fn try_apply(&self, event: &EventPlan) -> Result<String, Problem> {
        let context = self.context();
        let locks = self.state.lock(
            &event.directories(),
            &context.run_id,
            Duration::from_secs(5),
        )?;
        let transaction = event.transaction(&context);
        commit(&self.state, &locks, transaction, &NoFaults)?;
        Ok(context.snapshot_id)
    }

    /// Plans and applies, adopting nothing.
    pub fn deploy(&self, desired: &Desired) -> String {
        self.deploy_with(desired, &Adoption::none())
    }

    pub fn deploy_with(&self, desired: &Desired, adoption: &Adoption) -> String {
        let approved = self.plan(desired).approve(adoption).unwrap();
        self.apply(&approved)
    }

    pub fn bootstrap(&self, desired: &Desired) -> String {
        let plan = self.try_plan(desired, Purpose::Bootstrap, None).unwrap();
        self.apply(&plan.approve(&Adoption::none()).unwrap())
    }

    pub fn status(&self, desired: &Desired) -> DriftReport {
        let owned = self.owned(desired, None);
        let disk = gather_disk(desired, &owned, &NoHashCache);
        let scanned = scan_extras(desired, &owned, &NoHashCache).unwrap();
        drift(desired, &owned, &disk, &scanned, &PlanOptions::default()).unwrap()
    }

    pub fn plan_rollback(&self, to: &str, target: Option<Target>) -> Result<EventPlan, Problem> {
        let to = self.state.snapshot(to)?;
        let repo = self.path("repo");
        let request = RollbackRequest {
            to: &to,
            repo: &repo,
            target,
        };
        rollback(&self.state, &request, &NoHashCache)
    }

    pub fn rollback(&self, to: &str) -> String {
        self.apply(&self.plan_rollback(to, None).unwrap())
    }

    pub fn undo(&self, id: &str) -> String {
        let event = self.state.snapshot(id).unwrap();
        let request = UndoRequest {
            event: &event,
            only: &[],
        };
        self.apply(&undo(&self.state, &request, &NoHashCache).unwrap())
    }

    pub fn uninstall(&self, desired: &Desired, restore_originals: bool) -> String {
        let owned = self.owned(desired, None);
        let event = uninstall(&self.state, &owned, restore_originals, &NoHashCache).unwrap();
        self.apply(&event)
    }

    /// Every file below a directory with its text, manifests left out.
    pub fn tree(&self, directory: &str) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let top = self.path(directory);
        collect(&top, &top, &mut files);
        files.retain(|path, _| !path.contains(".agentpack"));
        files
    }
}

fn collect(top: &Path, directory: &Path, files: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs_err::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            collect(top, &path, files);
        } else {
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs_err::read_to_string(&path).unwrap());
        }
    }
}

/// `op path` per change, relative to the world.
pub fn lines(world: &World, changes: &[windlass_pack_deploy::PlanChange]) -> Vec<String> {
    changes
        .iter()
        .map(|change| {
            let path = change.path.strip_prefix(world.temp.path()).unwrap();
            let kind = change
                .update_kind
                .map(|kind| format!(" {}", kind.as_str()))
                .unwrap_or_default();
            format!(
                "{} {}{kind}: {}",
                change.op.as_str(),
                path.display(),
                change.reason.as_str()
            )
        })
        .collect()
}

/// A value as pretty JSON, with the world's own path left out.
pub fn json(world: &World, value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value)
        .unwrap()
        .replace(world.temp.path().to_str().unwrap(), "…")
}
