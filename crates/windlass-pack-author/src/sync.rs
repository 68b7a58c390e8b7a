//! `sync`: brings a config repository and its remote together: pull, then push.

use std::path::Path;

use serde::Serialize;
use windlass_pack_model::fault;
use windlass_ports::git::{Git, GitError, PullMode};
use windlass_types::Problem;

use crate::{authored::shown, git_fault::git_problem};

/// What to bring together.
#[derive(Clone, Copy, Debug)]
pub struct SyncRequest<'a> {
    /// The repository.
    pub repo: &'a Path,
    /// The name of the remote.
    pub remote: &'a str,
    /// Whether own commits are rebased onto the remote's.
    pub rebase: bool,
    /// Whether only to say what would be run.
    pub dry_run: bool,
}

/// The `data` of `sync`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SyncData {
    /// The repository.
    pub repo: String,
    /// The same with `/`.
    pub repo_posix: String,
    /// The remote.
    pub remote: String,
    /// The branch.
    pub branch: String,
    /// Whether own commits were rebased.
    pub rebase: bool,
    /// The commands that were run.
    pub commands: Vec<String>,
}

/// Pulls and pushes the current branch of a clean work tree.
pub fn sync(git: &dyn Git, request: &SyncRequest<'_>) -> Result<SyncData, Problem> {
    let SyncRequest { repo, remote, .. } = *request;
    let branch = ready(git, repo, remote)?;
    let (mode, pull) = match request.rebase {
        true => (
            PullMode::Rebase,
            ["pull", "--rebase", remote, &branch].as_slice().join(" "),
        ),
        false => (
            PullMode::Configured,
            ["pull", remote, &branch].as_slice().join(" "),
        ),
    };
    let pull = format!("git {pull}");
    let push = format!("git push {remote} {branch}");
    let mut commands = Vec::new();
    if request.dry_run {
        commands.extend([pull, push]);
    } else {
        match git.pull(repo, remote, &branch, mode) {
            Ok(()) => commands.push(pull),
            // The first time there is nothing to pull yet.
            Err(GitError::Failed { .. }) if !remote_has(git, repo, remote, &branch) => {}
            Err(error) => return Err(stuck(&error, repo, &["pull", "--", remote, &branch])),
        }
        git.push(repo, remote, &branch)
            .map_err(|error| git_problem(&error, repo, &["push", "--", remote, &branch]))?;
        commands.push(push);
    }
    Ok(SyncData {
        repo: shown(repo),
        repo_posix: fault::posix(repo),
        remote: remote.to_owned(),
        branch,
        rebase: request.rebase,
        commands,
    })
}

/// The branch, if everything is as it must be.
fn ready(git: &dyn Git, repo: &Path, remote: &str) -> Result<String, Problem> {
    let about = |problem: Problem, hint: &str| {
        problem
            .with("command", "sync")
            .with("repo", shown(repo))
            .with("repo_posix", fault::posix(repo))
            .with("hint", hint)
    };
    let at = repo.display();
    // A directory inside another repository is not meant: pushing would push all of that.
    if !repo.join(".git").exists() {
        return Err(about(
            fault::git_repo_required(format!(
                "the config repository {at} is not a git repository"
            )),
            "run init --git, or git init",
        ));
    }
    let clean = git
        .is_clean(repo)
        .map_err(|error| git_problem(&error, repo, &["status", "--porcelain"]))?;
    if !clean {
        return Err(about(
            fault::git_worktree_dirty(format!(
                "the config repository {at} has changes that are not committed"
            )),
            "commit or stash them, then sync again",
        ));
    }
    let head = git
        .head(repo)
        .map_err(|error| git_problem(&error, repo, &["symbolic-ref", "HEAD"]))?;
    let Some(branch) = head.branch else {
        return Err(about(
            fault::git_detached_head(format!("the config repository {at} is not on a branch")),
            "switch to a branch, then sync again",
        ));
    };
    let url = git
        .remote_url(repo, remote)
        .map_err(|error| git_problem(&error, repo, &["remote", "get-url", "--", remote]))?;
    if url.is_none() {
        return Err(about(
            fault::git_remote_missing(format!(
                "the config repository {at} has no remote {remote:?}; set it with remote set"
            )),
            "set it with remote set <url>",
        )
        .with("remote", remote));
    }
    Ok(branch)
}

/// Whether the remote has the branch; in doubt it has.
fn remote_has(git: &dyn Git, repo: &Path, remote: &str, branch: &str) -> bool {
    match git.remote_url(repo, remote) {
        Ok(Some(url)) => {
            let reference = format!("refs/heads/{branch}");
            !matches!(git.resolve(&url, &reference), Err(GitError::Missing { .. }))
        }
        _ => true,
    }
}

/// A pull that failed may have stopped half way; then the work tree says what is to be done.
fn stuck(error: &GitError, repo: &Path, args: &[&str]) -> Problem {
    git_problem(error, repo, args)
        .with("repo", shown(repo))
        .with("repo_posix", fault::posix(repo))
        .with(
            "hint",
            "see git status in the config repository: resolve conflicts and continue, or abort, then sync again",
        )
}
