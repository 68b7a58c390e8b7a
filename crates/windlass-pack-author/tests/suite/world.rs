//! A user's home, a pack home, a config repository and a project in a temporary directory.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use windlass_git::GitProgram;
use windlass_pack_author::{Authored, GitCheckouts, ModuleSources, read_manifest};
use windlass_pack_deploy::{
    Adoption, DeployPlan, EventContext, LinkRule, OwnershipScope, PlanOptions, gather_disk,
    gather_owned, plan,
    render::{Places, RenderInput, render},
    state::{NoFaults, PackState, Transaction, commit},
};
use windlass_pack_model::{NoHashCache, PackHome, Project, next_actions::Caller};
use windlass_types::{Problem, Timestamp};

pub const MANIFEST: &str = "version: 1
profiles:
  default:
    include_tags: [base]
targets:
  codex: {mode: files, scope: both}
  claude_code: {mode: files, scope: both}
modules: []
";

pub struct World {
    root: PathBuf,
    variables: Vec<(OsString, OsString)>,
    pub git: GitProgram,
    pub home: PackHome,
    _directory: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // On some systems the temporary directory lies behind a link.
        let root = directory.path().canonicalize().unwrap();
        let variables = vec![
            ("HOME".into(), root.join("user").into()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ];
        let world = Self {
            git: GitProgram::new(variables.clone()),
            home: PackHome::at(root.join("pack")),
            root,
            variables,
            _directory: directory,
        };
        for below in ["user", "repo", "project"] {
            fs_err::create_dir(world.path(below)).unwrap();
        }
        world.write(
            "user/.gitconfig",
            "[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n\
             [protocol \"file\"]\n\tallow = always\n",
        );
        world
    }

    /// The same with a manifest.
    pub fn with_manifest(text: &str) -> Self {
        let world = Self::new();
        world.write("repo/agentpack.yaml", text);
        world
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    pub fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    pub fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, below: &str) -> String {
        fs_err::read_to_string(self.path(below)).unwrap()
    }

    /// Every file below a directory with its text.
    pub fn files(&self, below: &str) -> BTreeMap<String, String> {
        let top = self.path(below);
        let mut found = BTreeMap::new();
        let mut pending = vec![top.clone()];
        while let Some(directory) = pending.pop() {
            let Ok(entries) = fs_err::read_dir(&directory) else {
                continue;
            };
            for entry in entries {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    let name = path.strip_prefix(&top).unwrap().display().to_string();
                    let bytes = fs_err::read(&path).unwrap();
                    found.insert(name, String::from_utf8_lossy(&bytes).into_owned());
                }
            }
        }
        found
    }

    pub fn project(&self) -> Project {
        Project {
            root: self.path("project"),
            id: "0123456789abcdef".to_owned(),
            origin_url: None,
        }
    }

    pub fn places(&self) -> Places {
        Places {
            home_dir: self.path("user"),
            codex_home: None,
        }
    }

    /// Carries the writes of a verb out, as the domain does.
    pub fn apply<T>(&self, outcome: Authored<T>) -> T {
        self.try_apply(outcome).unwrap()
    }

    pub fn try_apply<T>(&self, outcome: Authored<T>) -> Result<T, Problem> {
        if outcome.writes.is_empty() {
            return Ok(outcome.data);
        }
        let state = PackState::open(self.home.clone());
        let locks = state.lock(&outcome.roots, "run", Duration::from_secs(5))?;
        let mut transaction = Transaction::new("run");
        transaction.actions = outcome.writes;
        commit(&state, &locks, transaction, &NoFaults)?;
        Ok(outcome.data)
    }

    /// What a deploy of a repository would change.
    pub fn plan(&self, repo: &str, profile: &str) -> DeployPlan {
        let repo = self.path(repo);
        let manifest = read_manifest(&repo).unwrap().manifest;
        let (project, places) = (self.project(), self.places());
        let checkouts = GitCheckouts::new(&self.home, &self.git);
        let desired = render(&RenderInput {
            repo: &repo,
            manifest: &manifest,
            profile,
            target: None,
            machine_id: "box",
            project: Some(&project),
            places: &places,
            checkouts: &checkouts,
            lockfile: None,
            hashes: &NoHashCache,
        })
        .unwrap();
        let scope = OwnershipScope {
            repo: &repo,
            project_id: Some(&project.id),
            target: None,
            roots: &desired.roots,
            possible: &[],
        };
        let owned = gather_owned(&PackState::open(self.home.clone()), &scope).unwrap();
        let disk = gather_disk(&desired, &owned, &NoHashCache);
        plan(&desired, &owned, &disk, &PlanOptions::default()).unwrap()
    }

    /// Deploys a repository; unmanaged files are taken over.
    pub fn deploy(&self, repo: &str, profile: &str) {
        let event = self.plan(repo, profile).approve(&Adoption::all()).unwrap();
        let project = self.project();
        let context = EventContext {
            run_id: "run".to_owned(),
            snapshot_id: "1700000000000000000".to_owned(),
            created_at: "2026-01-01T00:00:00.000000000Z".to_owned(),
            repo: self.path(repo),
            project: Some((project.id, project.root)),
            profile: Some(profile.to_owned()),
            lockfile_sha256: None,
            write_through: vec![self.root.clone()],
            links: LinkRule::default(),
            fsync: false,
        };
        let state = PackState::open(self.home.clone());
        let locks = state
            .lock(&event.directories(), "run", Duration::from_secs(5))
            .unwrap();
        commit(&state, &locks, event.transaction(&context), &NoFaults).unwrap();
    }

    /// Runs git itself; the trimmed output.
    pub fn run(&self, cwd: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(cwd)
            .env_clear()
            .envs(self.variables.iter().cloned())
            .args(args)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits everything in a directory, which becomes a repository if it is none.
    pub fn commit(&self, below: &str, message: &str) -> String {
        let repo = self.path(below);
        if !repo.join(".git").exists() {
            self.run(&repo, &["init", "--quiet"]);
        }
        self.run(&repo, &["add", "--all"]);
        self.run(
            &repo,
            &["commit", "--quiet", "--allow-empty", "-m", message],
        );
        self.run(&repo, &["rev-parse", "HEAD"])
    }

    pub fn url(&self, below: &str) -> String {
        format!("file://{}", self.path(below).display())
    }

    /// Calls a verb with the sources of the repository's manifest.
    pub fn with_sources<R>(
        &self,
        checkouts: &GitCheckouts<'_>,
        verb: impl FnOnce(&ModuleSources<'_>) -> R,
    ) -> R {
        let file = read_manifest(&self.repo()).unwrap();
        verb(&ModuleSources {
            repo: &self.repo(),
            manifest: &file.manifest,
            checkouts,
            hashes: &NoHashCache,
        })
    }
}

pub fn now() -> Timestamp {
    Timestamp::from_millis(1_700_000_000_123)
}

pub fn later() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

pub fn caller() -> Caller {
    Caller {
        program: "windlass pack".to_owned(),
        ..Caller::default()
    }
}

/// Code, reason and next actions of a failure, on one line.
pub fn code_and_next_steps(problem: &Problem) -> String {
    format!(
        "{} {} {}",
        problem.code().name,
        problem.details()["reason_code"].as_str().unwrap_or("?"),
        problem.next_actions().join(",")
    )
}
