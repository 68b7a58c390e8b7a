//! The git program: where it is, how it is called, and the port on top of it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use windlass_ports::git::{
    Author, Checkout, Exported, Git, GitError, Head, NewCommit, PullMode, RemoteHead, SwitchTo,
    TreeFile, hide_credentials,
};
use windlass_ports::{Runs, Standing, Trust, TrustNothing};
use windlass_process::Ended;
use windlass_types::Timestamp;

use crate::environment::{Environment, Scope};
use crate::guard::{self, Unfiltered};

/// How long a call may take by default.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The user's git, called as a program.
pub struct GitProgram {
    pub(crate) environment: Environment,
    timeout: Duration,
    program: OnceLock<Option<PathBuf>>,
    trust: Arc<dyn Trust>,
}

impl GitProgram {
    /// Calls the `git` of the given environment's `PATH`, with that environment. Nothing is
    /// looked up before the first call. No repository is trusted.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            environment: Environment::new(environment),
            timeout: DEFAULT_TIMEOUT,
            program: OnceLock::new(),
            trust: Arc::new(TrustNothing),
        }
    }

    /// The same with the user's decisions about repositories.
    #[must_use]
    pub fn with_trust(mut self, trust: Arc<dyn Trust>) -> Self {
        self.trust = trust;
        self
    }

    /// The same with another limit for each call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The program's path.
    pub(crate) fn program(&self) -> Result<&Path, GitError> {
        self.program
            .get_or_init(|| windlass_process::find("git", self.environment.get("PATH")?))
            .as_deref()
            .ok_or(GitError::NotInstalled)
    }

    /// A question about files or other repositories, which changes nothing and whose messages may
    /// be compared.
    pub(crate) fn ask<'a>(&'a self, cwd: &'a Path, scope: Scope) -> Call<'a> {
        self.call(cwd, scope, Guard::Whole(Unfiltered::AsIs))
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
    }

    /// A question about references, objects or settings alone: it opens no file of the work tree
    /// and reaches no other repository, so that few settings could name a program.
    pub(crate) fn ask_objects<'a>(&'a self, cwd: &'a Path, scope: Scope) -> Call<'a> {
        let mut call = self.ask(cwd, scope);
        call.guard = Guard::Fixed;
        call
    }

    /// A change, in the user's language. Hooks and helpers of a trusted repository run.
    pub(crate) fn change<'a>(&'a self, cwd: &'a Path) -> Call<'a> {
        self.call(cwd, Scope::Directory, Guard::Whole(Unfiltered::Refused))
    }

    /// Whether the user has trusted the repository around a directory.
    fn is_trusted(&self, directory: &Path) -> bool {
        repository_of(directory)
            .is_some_and(|it| self.trust.standing(&it, Runs::Git) == Standing::Trusted)
    }

    /// Programs of the repository that no call runs.
    fn ask_skipped(&self, repo: &Path) -> Result<Vec<String>, GitError> {
        let Some(top) = repository_of(repo).filter(|_| !self.is_trusted(repo)) else {
            return Ok(Vec::new());
        };
        let ask = |args: &[&str]| {
            self.ask_objects(repo, Scope::Directory)
                .args(args.iter().copied())
                .output()
        };
        let listed = ask(&["config", "--list", "--show-scope", "-z"])?;
        let attributes = fs_err::read_to_string(top.join(".gitattributes")).unwrap_or_default();
        let (hooks, mut programs) = guard::programs(&listed, &attributes);
        let folder = match hooks {
            Some(folder) => top.join(folder),
            None => {
                let common = ask(&["rev-parse", "--git-common-dir"])?;
                let common = String::from_utf8_lossy(&common);
                repo.join(common.trim_end_matches('\n')).join("hooks")
            }
        };
        let hooks = fs_err::read_dir(folder).into_iter().flatten().flatten();
        let is_run = |entry: &fs_err::DirEntry| {
            let mode = entry.path().metadata().map_or(0, |it| it.mode());
            entry.path().is_file() && mode & 0o111 != 0
        };
        let names = hooks.filter(is_run).map(|it| it.file_name());
        let names = names.map(|it| it.to_string_lossy().into_owned());
        let hooks = names.filter(|it| !it.ends_with(".sample"));
        programs.extend(hooks.map(|name| format!("hook {name}")));
        programs.sort();
        programs.dedup();
        Ok(programs)
    }

    /// An option that a repository gets unless the user has trusted it.
    pub(crate) fn unless_trusted(&self, repo: &Path, option: &'static str) -> Option<&'static str> {
        (!self.is_trusted(repo)).then_some(option)
    }

    fn call<'a>(&'a self, cwd: &'a Path, scope: Scope, guard: Guard) -> Call<'a> {
        let call = Call {
            git: self,
            cwd,
            scope,
            guard,
            is_isolated: false,
            is_transfer: false,
            args: Vec::new(),
            variables: Vec::new(),
            input: None,
            limit: self.timeout,
        };
        // Named outright, because a user may forbid that bare repositories are discovered.
        if scope == Scope::Directory && is_bare(cwd) {
            call.env("GIT_DIR", ".")
        } else {
            call
        }
    }
}

/// Whether the directory is a repository itself and not a work tree.
pub(crate) fn is_bare(directory: &Path) -> bool {
    !directory.join(".git").exists()
        && directory.join("HEAD").is_file()
        && directory.join("objects").is_dir()
}

/// The directory that git could take for the repository of another: the real one, whatever links
/// led to it. One that git would not take after all only costs trust.
fn repository_of(directory: &Path) -> Option<PathBuf> {
    let exists = |path: PathBuf| path.symlink_metadata().is_ok();
    let may_be_repository = |place: &&Path| {
        let holds = |name: &str| exists(place.join(name));
        holds(".git") || (holds("HEAD") && (holds("objects") || holds("commondir")))
    };
    let real = directory.canonicalize().ok()?;
    real.ancestors().find(may_be_repository).map(Path::to_owned)
}

/// What is done about programs that a repository names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    /// Settings that are the same for every repository.
    Fixed,
    /// These, and whatever the repository's settings need.
    Whole(Unfiltered),
}

/// One call of git, to be completed and run.
pub(crate) struct Call<'a> {
    git: &'a GitProgram,
    cwd: &'a Path,
    scope: Scope,
    guard: Guard,
    is_isolated: bool,
    is_transfer: bool,
    args: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    input: Option<Vec<u8>>,
    limit: Duration,
}

/// What a call that ended on its own left.
pub(crate) struct Answer {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    args: Vec<String>,
    cwd: PathBuf,
}

impl Call<'_> {
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// Takes content as it is where a filter is switched off.
    pub fn unfiltered(mut self) -> Self {
        self.guard = Guard::Whole(Unfiltered::AsIs);
        self
    }

    /// Guards it also where the repository is trusted: it is not about the user's own work.
    pub fn isolated(mut self) -> Self {
        self.is_isolated = true;
        self
    }

    /// Lets the user's credential helpers see the user's credentials of AWS: it reaches another
    /// repository. No other call needs them.
    pub fn transfer(mut self) -> Self {
        self.is_transfer = true;
        self
    }

    /// Lets it take several times as long.
    pub fn with_time_factor(mut self, times: u32) -> Self {
        self.limit = self.limit.saturating_mul(times);
        self
    }

    /// Runs it; any exit code is an answer.
    pub fn answer(self) -> Result<Answer, GitError> {
        if !self.is_isolated && self.git.is_trusted(self.cwd) {
            return self.run(Vec::new());
        }
        let mut settings = match self.guard {
            Guard::Fixed => Vec::new(),
            Guard::Whole(unfiltered) => self.instead_of_its_own(unfiltered)?,
        };
        let filters = match self.guard {
            Guard::Whole(Unfiltered::Refused) => guard::filters(&settings),
            Guard::Whole(Unfiltered::AsIs) | Guard::Fixed => Vec::new(),
        };
        settings.extend(guard::always());
        let mut variables = self.git.environment.guarding();
        variables.extend(self.git.environment.with_settings(&settings));
        let (is_isolated, cwd) = (self.is_isolated, self.cwd);
        let answer = self.run(variables)?;
        let is_named = |name: &String| answer.stderr.contains(&format!("'{name}'"));
        match filters.into_iter().find(is_named) {
            Some(filter) if answer.code != Some(0) && !is_isolated => Err(GitError::NotTrusted {
                repository: repository_of(cwd).unwrap_or_else(|| cwd.to_owned()),
                filter,
            }),
            _ => Ok(answer),
        }
    }

    /// What takes the place of settings of the repository.
    fn instead_of_its_own(
        &self,
        unfiltered: Unfiltered,
    ) -> Result<Vec<(String, String)>, GitError> {
        let list = |from: &[&str]| {
            let call = self.git.call(self.cwd, self.scope, Guard::Fixed);
            let call = call.args(["config", "--list", "-z"]);
            call.args(from.iter().copied()).run(Vec::new())
        };
        let listed = list(&["--show-scope"])?;
        if listed.code != Some(0) {
            return Err(listed.failed());
        }
        let modules = repository_of(self.cwd).map(|top| top.join(".gitmodules"));
        let submodules = match modules.filter(|file| file.is_file()) {
            Some(file) => list(&["--file", &file.to_string_lossy()])?.stdout,
            None => Vec::new(),
        };
        let settings = guard::instead_of(&listed.stdout, &submodules, unfiltered)?;
        Ok(settings)
    }

    fn run(self, guarding: Vec<(OsString, OsString)>) -> Result<Answer, GitError> {
        let mut command = windlass_process::command(self.git.program()?);
        let inherited = self.git.environment.seen_by_git(self.scope);
        let is_seen = |name: &OsStr| self.is_transfer || !name.as_bytes().starts_with(b"AWS_");
        command
            .current_dir(self.cwd)
            .env_clear()
            .envs(inherited.filter(|(name, _)| is_seen(name)))
            .envs(self.git.environment.hardening())
            .envs(guarding)
            .envs(self.variables)
            .args(&self.args);
        let args: Vec<String> = self
            .args
            .iter()
            .map(|arg| hide_credentials(&arg.to_string_lossy()))
            .collect();
        let cwd = self.cwd.to_owned();
        let failed = |source| GitError::Io {
            action: format!("run git in {}", self.cwd.display()),
            source,
        };
        let limit = self.limit;
        let ended = windlass_process::run(&mut command, self.input.as_deref(), limit);
        match ended.map_err(failed)? {
            Ended::Itself {
                code,
                mut stdout,
                mut stderr,
            } => Ok(Answer {
                code,
                stdout: stdout.all().map_err(failed)?,
                stderr: hide_credentials(&String::from_utf8_lossy(&stderr.all().map_err(failed)?)),
                args,
                cwd,
            }),
            Ended::Stopped => Err(GitError::TimedOut {
                args,
                cwd,
                seconds: limit.as_secs(),
            }),
        }
    }

    /// Runs it and expects exit code 0; returns the output.
    pub fn output(self) -> Result<Vec<u8>, GitError> {
        let answer = self.answer()?;
        match answer.code {
            Some(0) => Ok(answer.stdout),
            _ => Err(answer.failed()),
        }
    }

    /// Runs it and expects exit code 0.
    pub fn success(self) -> Result<(), GitError> {
        self.output().map(drop)
    }
}

impl Answer {
    pub fn failed(self) -> GitError {
        GitError::Failed {
            args: self.args,
            cwd: self.cwd,
            stderr: self.stderr,
            code: self.code,
        }
    }
}

impl Git for GitProgram {
    fn toplevel(&self, directory: &Path) -> Result<Option<PathBuf>, GitError> {
        self.ask_toplevel(directory)
    }

    fn remote_url(&self, repo: &Path, remote: &str) -> Result<Option<String>, GitError> {
        self.ask_remote_url(repo, remote)
    }

    fn user_name(&self, repo: &Path) -> Result<Option<String>, GitError> {
        self.ask_user_name(repo)
    }

    fn head(&self, repo: &Path) -> Result<Head, GitError> {
        self.ask_head(repo)
    }

    fn commit_of(&self, repo: &Path, revision: &str) -> Result<Option<String>, GitError> {
        self.ask_commit_of(repo, revision)
    }

    fn commit_time(&self, repo: &Path, commit: &str) -> Result<Timestamp, GitError> {
        self.ask_commit_time(repo, commit)
    }

    fn changed_paths(&self, repo: &Path) -> Result<Vec<PathBuf>, GitError> {
        self.ask_changed_paths(repo)
    }

    fn init(&self, directory: &Path) -> Result<(), GitError> {
        self.do_init(directory)
    }

    fn set_remote(&self, repo: &Path, remote: &str, url: &str) -> Result<(), GitError> {
        self.do_set_remote(repo, remote, url)
    }

    fn create_branch(&self, repo: &Path, branch: &str, at: Option<&str>) -> Result<(), GitError> {
        self.do_create_branch(repo, branch, at)
    }

    fn switch(&self, repo: &Path, to: &SwitchTo) -> Result<(), GitError> {
        self.do_switch(repo, to)
    }

    fn delete_branch(&self, repo: &Path, branch: &str) -> Result<(), GitError> {
        self.do_delete_branch(repo, branch)
    }

    fn commit_paths(
        &self,
        repo: &Path,
        paths: &[&Path],
        message: &str,
        author: Option<&Author>,
    ) -> Result<Option<String>, GitError> {
        self.do_commit_paths(repo, paths, message, author)
    }

    fn skipped(&self, repo: &Path) -> Result<Vec<String>, GitError> {
        self.ask_skipped(repo)
    }

    fn resolve(&self, url: &str, reference: &str) -> Result<String, GitError> {
        self.ask_remote_commit(url, reference)
    }

    fn checkout(&self, checkout: &Checkout<'_>) -> Result<(), GitError> {
        self.do_checkout(checkout)
    }

    fn blobs(
        &self,
        repo: &Path,
        revision: &str,
        paths: &[&Path],
    ) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        self.ask_blobs(repo, revision, paths)
    }

    fn files_at(&self, repo: &Path, revision: &str) -> Result<Vec<TreeFile>, GitError> {
        self.ask_files_at(repo, revision)
    }

    fn diff_names(
        &self,
        repo: &Path,
        from: &str,
        to: Option<&str>,
    ) -> Result<Vec<PathBuf>, GitError> {
        self.ask_diff_names(repo, from, to)
    }

    fn is_ignored(&self, repo: &Path, paths: &[&Path]) -> Result<Vec<bool>, GitError> {
        self.ask_ignored(repo, paths)
    }

    fn pull(
        &self,
        repo: &Path,
        remote: &str,
        branch: &str,
        mode: PullMode,
    ) -> Result<(), GitError> {
        self.do_pull(repo, remote, branch, mode)
    }

    fn push(&self, repo: &Path, remote: &str, refspec: &str) -> Result<(), GitError> {
        self.do_push(repo, remote, refspec)
    }

    fn fetch_commit(&self, bare: &Path, url: &str, commit: &str) -> Result<(), GitError> {
        self.do_fetch_commit(bare, url, commit)
    }

    fn head_of(&self, url: &str) -> Result<RemoteHead, GitError> {
        self.ask_head_of(url)
    }

    fn latest_release_tag(&self, url: &str) -> Result<Option<String>, GitError> {
        self.ask_latest_release_tag(url)
    }

    fn export(&self, bare: &Path, commit: &str, directory: &Path) -> Result<Exported, GitError> {
        self.do_export(bare, commit, directory)
    }

    fn commit_files(&self, repo: &Path, request: &NewCommit<'_>) -> Result<String, GitError> {
        self.do_commit_files(repo, request)
    }

    fn branch_commit(&self, repo: &Path, branch: &str) -> Result<Option<String>, GitError> {
        self.ask_branch_commit(repo, branch)
    }

    fn set_branch(
        &self,
        repo: &Path,
        branch: &str,
        commit: &str,
        expected_old: Option<&str>,
    ) -> Result<(), GitError> {
        self.do_set_branch(repo, branch, commit, expected_old)
    }

    fn remove_branch(&self, repo: &Path, branch: &str, expected: &str) -> Result<(), GitError> {
        self.do_remove_branch(repo, branch, expected)
    }
}
