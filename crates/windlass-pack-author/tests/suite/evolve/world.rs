//! A config repository under git, a home and a project, and the operations as functions.

use std::{
    cell::Cell,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use windlass_git::GitProgram;
use windlass_pack_author::evolve::{
    Context, EditRequest, EditedOverlay, Proposal, ProposeRequest, RebaseRequest, RebasedOverlay,
    Scope, commit_proposal, edit_overlay, propose, rebase_overlay,
};
use windlass_pack_deploy::{
    Owned, gather_disk,
    render::{Checkouts, Places, RenderInput, render},
    state::{FileAction, NoFaults, PackState, Transaction, commit},
};
use windlass_pack_model::{
    Body, Desired, GitSource, Manifest, NoHashCache, PackHome, Project, Target,
    next_actions::Caller, parse::parse_manifest,
};
use windlass_ports::git::{Checkout, Git};
use windlass_testkit::TrustEverything;
use windlass_types::Problem;

pub const NOW: &str = "2026-01-02T03:04:05.000006789Z";

pub struct World {
    dir: tempfile::TempDir,
    pub manifest: Manifest,
    pub project: Option<Project>,
    places: Places,
    pub target: Option<Target>,
    caller: Caller,
    variables: Vec<(OsString, OsString)>,
    run: Cell<u32>,
}

/// Checkouts made by git, below a cache.
pub struct Cache {
    git: GitProgram,
    dir: PathBuf,
}

impl Checkouts for Cache {
    fn checkout(
        &self,
        _: &str,
        source: &GitSource,
        locked_commit: Option<&str>,
    ) -> Result<PathBuf, Problem> {
        let commit = match locked_commit {
            Some(commit) => commit.to_owned(),
            None => self.git.resolve(&source.url, &source.reference).unwrap(),
        };
        let directory = self.dir.join(&commit);
        let checkout = Checkout {
            url: &source.url,
            commit: &commit,
            shallow: false,
            directory: &directory,
        };
        self.git.checkout(&checkout).unwrap();
        Ok(directory)
    }
}

impl World {
    /// A repository with this manifest, below its `version` and `profiles`.
    pub fn new(targets_and_modules: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for sub in ["repo", "home", "project"] {
            fs_err::create_dir(root.join(sub)).unwrap();
        }
        fs_err::write(
            root.join("home/.gitconfig"),
            "[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n",
        )
        .unwrap();
        let text = format!(
            "version: 1\nprofiles:\n  default: {{include_tags: [base]}}\n{targets_and_modules}"
        );
        let world = Self {
            manifest: parse_manifest(&text).unwrap().manifest,
            project: Some(Project {
                root: root.join("project"),
                id: "0123456789abcdef".into(),
                origin_url: None,
            }),
            places: Places {
                home_dir: root.join("home"),
                codex_home: None,
            },
            target: None,
            caller: Caller {
                program: "agentpack".into(),
                ..Caller::default()
            },
            variables: vec![
                ("HOME".into(), root.join("home").into()),
                ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ],
            run: Cell::new(0),
            dir,
        };
        world.file("agentpack.yaml", &text);
        world
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    pub fn state(&self) -> PackState {
        PackState::open(PackHome::at(self.root().join("pack")))
    }

    /// git, with a repository whose hooks the user has trusted.
    pub fn git(&self) -> GitProgram {
        GitProgram::new(self.variables.clone()).with_trust(Arc::new(TrustEverything))
    }

    /// git, with a repository that nobody has trusted.
    pub fn wary_git(&self) -> GitProgram {
        GitProgram::new(self.variables.clone())
    }

    /// Writes a file of the repository.
    pub fn file(&self, path: &str, text: &str) -> &Self {
        write(&self.repo().join(path), text);
        self
    }

    /// The text of a file of the repository; `-` when there is none.
    pub fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.repo().join(path)).unwrap_or_else(|_| "-".to_owned())
    }

    /// Runs git in a directory below the root; the trimmed output.
    pub fn git_in(&self, dir: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.root().join(dir))
            .env_clear()
            .envs(self.variables.iter().cloned())
            .args(args)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits everything in the repository, making it one first.
    pub fn committed(&self) -> &Self {
        self.git_in("repo", &["init", "--quiet"]);
        self.git_in("repo", &["add", "--all"]);
        self.git_in(
            "repo",
            &["commit", "--quiet", "--allow-empty", "-m", "step"],
        );
        self
    }

    pub fn with<T>(&self, call: impl FnOnce(&Context<'_>) -> T) -> T {
        let (repo, git) = (self.repo(), self.git());
        let checkouts = Cache {
            git: self.git(),
            dir: self.root().join("cache"),
        };
        call(&Context {
            input: RenderInput {
                repo: &repo,
                manifest: &self.manifest,
                profile: "default",
                target: self.target,
                machine_id: "box",
                project: self.project.as_ref(),
                places: &self.places,
                checkouts: &checkouts,
                lockfile: None,
                hashes: &NoHashCache,
            },
            git: &git,
            caller: &self.caller,
            now: NOW,
        })
    }

    pub fn desired(&self) -> Desired {
        self.try_desired().unwrap()
    }

    pub fn try_desired(&self) -> Result<Desired, Problem> {
        self.with(|context| render(&context.input))
    }

    /// Writes every output as it is wanted.
    pub fn deployed(&self) -> &Self {
        for file in self.desired().files {
            let bytes = match &file.body {
                Body::Memory(bytes) => bytes.to_vec(),
                Body::File(path) => fs_err::read(path).unwrap(),
            };
            fs_err::create_dir_all(file.path.parent().unwrap()).unwrap();
            fs_err::write(&file.path, bytes).unwrap();
        }
        self
    }

    /// Replaces a text in a file below the root.
    pub fn change(&self, path: &str, from: &str, to: &str) -> &Self {
        let path = self.root().join(path);
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from:?} is not in {text:?}");
        fs_err::write(path, text.replace(from, to)).unwrap();
        self
    }

    pub fn try_propose(&self, request: ProposeRequest<'_>) -> Result<Proposal, Problem> {
        let desired = self.desired();
        let disk = gather_disk(&desired, &Owned::default(), &NoHashCache);
        self.with(|context| propose(context, &desired, &disk, request))
    }

    pub fn propose(&self, scope: Scope) -> Proposal {
        self.try_propose(ProposeRequest {
            scope,
            ..ProposeRequest::default()
        })
        .unwrap()
    }

    /// Carries out actions as the program does: locked and journalled.
    pub fn write(&self, actions: &[FileAction]) -> Result<(), Problem> {
        let state = self.state();
        self.run.set(self.run.get() + 1);
        let run = format!("run-{}", self.run.get());
        let locks = state.lock(&[self.repo()], &run, Duration::ZERO)?;
        let mut transaction = Transaction::new(run);
        transaction.actions = actions.to_vec();
        commit(&state, &locks, transaction, &NoFaults).map(drop)
    }

    pub fn commit_proposal(&self, proposal: &Proposal) -> Result<String, Problem> {
        commit_proposal(
            &self.git(),
            &self.repo(),
            &proposal.branch,
            &proposal.writes,
            windlass_pack_author::evolve::COMMIT_MESSAGE,
            |actions| self.write(actions),
        )
    }

    pub fn try_edit(&self, request: EditRequest<'_>) -> Result<EditedOverlay, Problem> {
        self.with(|context| edit_overlay(context, request))
    }

    /// Makes an overlay.
    pub fn edit(&self, request: EditRequest<'_>) -> EditedOverlay {
        let edited = self.try_edit(request).unwrap();
        self.write(&edited.writes).unwrap();
        edited
    }

    pub fn try_rebase(&self, request: RebaseRequest<'_>) -> Result<RebasedOverlay, Problem> {
        self.with(|context| rebase_overlay(context, request))
    }

    /// Rebases an overlay; the report in one line.
    pub fn rebase(&self, request: RebaseRequest<'_>) -> String {
        let rebased = self.try_rebase(request).unwrap();
        self.write(&rebased.writes).unwrap();
        let report = &rebased.report;
        format!(
            "{} files: updated {:?} deleted {:?} skipped {:?} conflicts {:?}",
            report.summary.processed_files,
            report.updated,
            report.deleted,
            report.skipped,
            report.conflicts
        )
    }

    /// A text with the temporary directory left out.
    pub fn shorten(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "$ROOT")
    }

    pub fn json(&self, value: &serde_json::Value) -> String {
        self.shorten(&serde_json::to_string_pretty(value).unwrap())
    }

    /// Code, message and details of a problem.
    pub fn show(&self, problem: &Problem) -> String {
        let details = serde_json::to_string_pretty(problem.details()).unwrap();
        self.shorten(&format!("{problem}\n{details}"))
    }

    /// Candidates, skipped items and files, one per line.
    pub fn listing(&self, proposal: &Proposal) -> String {
        let mut lines = Vec::new();
        for candidate in &proposal.candidates {
            lines.push(format!(
                "+ {} {} {}",
                candidate.module_id,
                candidate.target,
                candidate.path.display()
            ));
        }
        for item in &proposal.skipped {
            lines.push(format!(
                "- {} {} {} {}",
                item.reason.as_str(),
                item.module_ids.join("+"),
                item.target,
                item.path.display()
            ));
        }
        lines.extend(proposal.files.iter().map(|file| format!("> {file}")));
        lines.extend(proposal.warnings.iter().map(|text| format!("! {text}")));
        self.shorten(&lines.join("\n"))
    }
}

pub fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

/// A module line of a manifest.
pub fn module(id: &str, kind: &str, path: &str) -> String {
    format!(
        "  - {{id: '{id}', type: {kind}, tags: [base], source: {{local_path: {{path: '{path}'}}}}}}\n"
    )
}

pub fn edit(module_id: &str) -> EditRequest<'_> {
    EditRequest {
        module_id,
        scope: Scope::Global,
        kind: None,
        sparse: false,
        materialize: false,
    }
}

pub fn rebase(module_id: &str) -> RebaseRequest<'_> {
    RebaseRequest {
        module_id,
        scope: Scope::Global,
        sparsify: false,
        dry_run: false,
    }
}
