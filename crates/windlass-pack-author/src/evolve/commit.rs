//! Puts a proposal on a new branch and leaves the repository where it was.
//!
//! Whatever goes wrong, the repository is on its original branch (or commit) afterwards, with
//! the files of before, and the new branch is gone; where even that fails, the problem says how
//! the repository stands.

use std::path::Path;

use windlass_pack_deploy::state::FileAction;
use windlass_pack_model::fault;
use windlass_ports::git::{Git, GitError, Head, SwitchTo};
use windlass_types::Problem;

use crate::{
    evolve::{
        branch::check_branch,
        fault_git,
        writes::{Originals, relative_files},
    },
    git_fault::chain,
};

/// The message of a proposal's commit.
pub const COMMIT_MESSAGE: &str = "chore(evolve): propose overlay updates";

/// How many paths a message lists.
const SAMPLE: usize = 20;

/// Commits actions on a new branch and returns to where the repository was. `write` carries out
/// actions; it is called for these, and again to undo them if the commit fails.
/// Returns the commit.
pub fn commit_proposal(
    git: &dyn Git,
    repo: &Path,
    branch: &str,
    actions: &[FileAction],
    message: &str,
    mut write: impl FnMut(&[FileAction]) -> Result<(), Problem>,
) -> Result<String, Problem> {
    check_branch(branch)?;
    let original = check_repository(git, repo)?;
    let files = relative_files(repo, actions);
    let paths: Vec<&Path> = files.iter().map(Path::new).collect();
    refuse_ignored(git, repo, &paths)?;
    let originals = Originals::keep(actions)?;
    let visit = Visit {
        git,
        repo,
        branch,
        original,
    };

    let entered = git.switch(repo, &SwitchTo::NewBranch(branch.to_owned()));
    if let Err(error) = entered {
        let problem = fault_git::problem(&error, repo).with("branch", branch);
        // A hook that runs after switching can fail when all is done.
        return Err(match git.head(repo) {
            Ok(head) if visit.is_there(&head) => visit.leave(problem),
            _ => problem,
        });
    }
    if let Err(problem) = write(actions) {
        return Err(visit.leave(problem));
    }
    let problem = match git.commit_paths(repo, &paths, message, None) {
        Ok(Some(commit)) => return visit.back().map(|()| commit),
        Ok(None) => fault::unexpected(
            "git_command_failed",
            &["retry_command"],
            format!(
                "git found nothing to commit in {}: the overlays hold the edits already",
                repo.display()
            ),
        ),
        Err(error) => fault_git::problem(&error, repo),
    };
    let problem = problem.with("branch", branch);
    let taken_back = originals.bring_back().and_then(|undo| write(&undo));
    Err(match taken_back {
        Ok(()) => visit.leave(problem),
        Err(undoing) => visit.stuck(&problem, undoing.message()),
    })
}

/// Where the repository stands, if a proposal can be made there.
fn check_repository(git: &dyn Git, repo: &Path) -> Result<Head, Problem> {
    let failed = |error: GitError| fault_git::problem(&error, repo);
    let described = |problem: Problem, hint: &str| {
        problem
            .with("command", "evolve propose")
            .with("repo", repo.display().to_string())
            .with("repo_posix", fault::posix(repo))
            .with("hint", hint)
    };
    let top = git.toplevel(repo).map_err(failed)?;
    let is_repository = match &top {
        Some(top) => same_directory(top, repo),
        None => false,
    };
    if !is_repository {
        return Err(described(
            fault::git_repo_required(format!(
                "{} is not a git repository; evolve propose needs one for its branch",
                repo.display()
            )),
            "run git init in the config repository and commit it, then retry",
        ));
    }
    let changed = git.changed_paths(repo).map_err(failed)?;
    if !changed.is_empty() {
        let sample: Vec<String> = changed
            .iter()
            .take(SAMPLE)
            .map(|path| fault::posix(path))
            .collect();
        return Err(described(
            fault::git_worktree_dirty(format!(
                "{} has changes that are not committed ({}); commit or stash them first",
                repo.display(),
                sample.join(", ")
            )),
            "commit or stash the changes, then retry",
        )
        .with("sample_paths", sample));
    }
    let head = git.head(repo).map_err(failed)?;
    if head.commit.is_none() {
        return Err(described(
            fault::git_repo_required(format!(
                "{} has no commit yet, so there is nothing to branch off",
                repo.display()
            )),
            "commit the config repository once, then retry",
        ));
    }
    Ok(head)
}

fn same_directory(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

/// What git ignores cannot be on a branch, and would stay behind.
fn refuse_ignored(git: &dyn Git, repo: &Path, paths: &[&Path]) -> Result<(), Problem> {
    let ignored = git
        .is_ignored(repo, paths)
        .map_err(|error| fault_git::problem(&error, repo))?;
    let ignored: Vec<String> = paths
        .iter()
        .zip(ignored)
        .filter(|(_, ignored)| *ignored)
        .map(|(path, _)| fault::posix(path))
        .collect();
    if ignored.is_empty() {
        return Ok(());
    }
    Err(fault::config_invalid(format!(
        "git ignores {} in {}; overlays belong into the repository, so change the ignore rule",
        ignored.join(", "),
        repo.display()
    ))
    .with("repo", repo.display().to_string())
    .with("repo_posix", fault::posix(repo))
    .with("ignored_paths", ignored))
}

/// A stay on the new branch.
struct Visit<'a> {
    git: &'a dyn Git,
    repo: &'a Path,
    branch: &'a str,
    original: Head,
}

impl Visit<'_> {
    fn is_there(&self, head: &Head) -> bool {
        head.branch.as_deref() == Some(self.branch) && head.branch != self.original.branch
    }

    /// Returns; the branch stays.
    fn back(&self) -> Result<(), Problem> {
        self.return_to_original().map_err(|error| {
            fault_git::problem(&error, self.repo)
                .with("branch", self.branch)
                .with(
                    "hint",
                    format!(
                        "the proposal is committed on {}, but the repository is still on that branch; switch back by hand",
                        self.branch
                    ),
                )
        })
    }

    /// Returns and removes the branch; the problem is why.
    fn leave(&self, problem: Problem) -> Problem {
        let left = self
            .return_to_original()
            .and_then(|()| self.git.delete_branch(self.repo, self.branch));
        match left {
            Ok(()) => problem,
            Err(error) => self.stuck(&problem, &chain(&error)),
        }
    }

    fn return_to_original(&self) -> Result<(), GitError> {
        let to = match (&self.original.branch, &self.original.commit) {
            (Some(branch), _) => SwitchTo::Branch(branch.clone()),
            (None, Some(commit)) => SwitchTo::Commit(commit.clone()),
            // There is a commit: it was asked for at the start.
            (None, None) => return Ok(()),
        };
        match self.git.switch(self.repo, &to) {
            Ok(()) => Ok(()),
            // A hook that runs after switching can fail when all is done.
            Err(error) => match self.git.head(self.repo) {
                Ok(head) if head.branch == self.original.branch && !self.is_there(&head) => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// The problem when the way back is blocked as well.
    fn stuck(&self, problem: &Problem, cause: &str) -> Problem {
        let original = match (&self.original.branch, &self.original.commit) {
            (Some(branch), _) => branch.as_str(),
            (None, Some(commit)) => commit.as_str(),
            (None, None) => "where it was",
        };
        let mut stuck = Problem::new(
            problem.code(),
            format!(
                "{}; going back failed too: {cause}. Switch {} back to {original} and delete the branch {} by hand",
                problem.message(),
                self.repo.display(),
                self.branch
            ),
        );
        for (key, value) in problem.details() {
            stuck = stuck.with(key, value.clone());
        }
        for action in problem.next_actions() {
            stuck = stuck.next(action.clone());
        }
        stuck
            .with("recovery_error", cause)
            .with("branch", self.branch)
    }
}
