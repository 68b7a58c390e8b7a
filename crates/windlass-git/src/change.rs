//! Changes to a repository on this machine. Hooks run where the user has trusted it.

use std::path::Path;

use windlass_ports::git::{
    Author, GitError, Refused, SwitchTo, check_reference, check_revision, check_url,
};

use crate::program::{Call, GitProgram};
use crate::query::nul_separated;

impl GitProgram {
    pub(crate) fn do_init(&self, directory: &Path) -> Result<(), GitError> {
        self.program()?;
        fs_err::create_dir_all(directory).map_err(|source| GitError::Io {
            action: "create a directory for the repository".to_owned(),
            source,
        })?;
        self.change(directory).args(["init", "--quiet"]).success()
    }

    pub(crate) fn do_set_remote(
        &self,
        repo: &Path,
        remote: &str,
        url: &str,
    ) -> Result<(), GitError> {
        check_reference(remote)?;
        check_url(url)?;
        let names = self.change(repo).args(["remote"]).output()?;
        let exists = names
            .split(|byte| *byte == b'\n')
            .any(|name| name == remote.as_bytes());
        let verb = if exists { "set-url" } else { "add" };
        self.change(repo)
            .args(["remote", verb, "--", remote, url])
            .success()
    }

    pub(crate) fn do_create_branch(
        &self,
        repo: &Path,
        branch: &str,
        at: Option<&str>,
    ) -> Result<(), GitError> {
        check_branch(branch)?;
        at.map(check_revision).transpose()?;
        self.change(repo)
            .args(["branch", "--no-track", "--", branch])
            .args(at)
            .success()
    }

    pub(crate) fn do_switch(&self, repo: &Path, to: &SwitchTo) -> Result<(), GitError> {
        let call = self.change(repo).args(["switch", "--quiet"]);
        match to {
            SwitchTo::Branch(name) => {
                check_branch(name)?;
                call.args(["--no-guess", name])
            }
            SwitchTo::NewBranch(name) => {
                check_branch(name)?;
                call.args(["--no-track", "--create", name])
            }
            SwitchTo::Commit(revision) => {
                check_revision(revision)?;
                call.args(["--detach", revision])
            }
        }
        .success()
    }

    pub(crate) fn do_delete_branch(&self, repo: &Path, branch: &str) -> Result<(), GitError> {
        check_branch(branch)?;
        self.change(repo)
            .args(["branch", "--quiet", "--delete", "--force", "--", branch])
            .success()
    }

    pub(crate) fn do_commit_paths(
        &self,
        repo: &Path,
        paths: &[&Path],
        message: &str,
        author: Option<&Author>,
    ) -> Result<Option<String>, GitError> {
        if paths.is_empty() {
            return Ok(None);
        }
        check_message(message)?;
        let paths = nul_separated(paths)?;
        let committed = self.commit(repo, &paths, message, author);
        if committed.is_err() {
            // A hook said no, or there is no author: what was staged for it is staged no longer,
            // so that the caller can switch back. The first error is the one that matters.
            let _ = self
                .on_paths(repo, &paths, author)
                .unfiltered()
                .args(["reset", "--quiet"])
                .args(FROM_INPUT)
                .success();
        }
        committed
    }

    fn commit(
        &self,
        repo: &Path,
        paths: &[u8],
        message: &str,
        author: Option<&Author>,
    ) -> Result<Option<String>, GitError> {
        self.on_paths(repo, paths, author)
            .args(["add", "--all"])
            .args(FROM_INPUT)
            .success()?;
        // Says by its exit code whether there is something to commit, and runs no hook. No filter
        // applies to what was added; other files do not matter.
        let dry_run = self
            .on_paths(repo, paths, author)
            .unfiltered()
            .args(["commit", "--dry-run", "--porcelain", "--only"])
            .args(FROM_INPUT)
            .answer()?;
        match dry_run.code {
            Some(0) => {}
            Some(1) => return Ok(None),
            _ => return Err(dry_run.failed()),
        }
        self.on_paths(repo, paths, author)
            .unfiltered()
            .args(["commit", "--quiet", "--only"])
            .args([format!("--message={message}")])
            .args(FROM_INPUT)
            .success()?;
        self.ask_commit_of(repo, "HEAD")
    }

    fn on_paths<'a>(&'a self, repo: &'a Path, paths: &[u8], author: Option<&Author>) -> Call<'a> {
        let call = self
            .change(repo)
            // `*` in a path is a star and not every path.
            .env("GIT_LITERAL_PATHSPECS", "1")
            .input(paths.to_owned());
        match author {
            None => call,
            Some(Author { name, email }) => call
                .env("GIT_AUTHOR_NAME", name)
                .env("GIT_AUTHOR_EMAIL", email)
                .env("GIT_COMMITTER_NAME", name)
                .env("GIT_COMMITTER_EMAIL", email),
        }
    }
}

/// The paths come on the input, so that their number has no limit.
const FROM_INPUT: [&str; 2] = ["--pathspec-from-file=-", "--pathspec-file-nul"];

pub(crate) fn check_message(message: &str) -> Result<(), Refused> {
    if message.trim().is_empty() || message.contains('\0') {
        return Err(Refused {
            what: "commit message",
            value: message.escape_debug().to_string(),
            rule: "it is empty or contains a NUL",
        });
    }
    Ok(())
}

/// A branch's own name. `HEAD` would make git guess.
pub(crate) fn check_branch(name: &str) -> Result<(), Refused> {
    check_reference(name)?;
    if name == "HEAD" || name.starts_with("refs/") {
        return Err(Refused {
            what: "branch",
            value: name.to_owned(),
            rule: "a branch is not called `HEAD` and its name does not start with `refs/`",
        });
    }
    Ok(())
}
