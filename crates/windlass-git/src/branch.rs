//! Branches moved by comparing first: no hook runs, and no branch that is checked out
//! is touched.

use std::path::Path;

use windlass_ports::git::{GitError, Refused};

use crate::change::check_branch;
use crate::foreign::check_object_id;
use crate::program::GitProgram;
use crate::query::line;

impl GitProgram {
    pub(crate) fn ask_branch_commit(
        &self,
        repo: &Path,
        branch: &str,
    ) -> Result<Option<String>, GitError> {
        check_branch(branch)?;
        self.ask_reference(repo, &full_name(branch))
    }

    /// What a reference with a full name is at.
    pub(crate) fn ask_reference(
        &self,
        repo: &Path,
        name: &str,
    ) -> Result<Option<String>, GitError> {
        let answer = self
            .isolated(repo)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options", name])
            .answer()?;
        match answer.code {
            Some(0) => Ok(Some(line(answer.stdout).to_string_lossy().into_owned())),
            Some(1) => Ok(None),
            _ => Err(answer.failed()),
        }
    }

    pub(crate) fn do_set_branch(
        &self,
        repo: &Path,
        branch: &str,
        commit: &str,
        expected_old: Option<&str>,
    ) -> Result<(), GitError> {
        check_object_id(commit)?;
        expected_old.map(check_object_id).transpose()?;
        self.check_free(repo, branch)?;
        // All zeros say that it must not exist.
        let nothing = "0".repeat(commit.len());
        let name = full_name(branch);
        let answer = self
            .isolated(repo)
            .args(["update-ref", "--no-deref", "--", &name, commit])
            .args([expected_old.unwrap_or(&nothing)])
            .answer()?;
        match answer.code {
            Some(0) => Ok(()),
            _ => Err(self.why_not_moved(repo, branch, expected_old, answer.failed())?),
        }
    }

    pub(crate) fn do_remove_branch(
        &self,
        repo: &Path,
        branch: &str,
        expected: &str,
    ) -> Result<(), GitError> {
        check_object_id(expected)?;
        self.check_free(repo, branch)?;
        if self.ask_branch_commit(repo, branch)?.is_none() {
            return Ok(());
        }
        let name = full_name(branch);
        let answer = self
            .isolated(repo)
            .args(["update-ref", "--no-deref", "-d", "--", &name, expected])
            .answer()?;
        match answer.code {
            Some(0) => Ok(()),
            _ => Err(self.why_not_moved(repo, branch, Some(expected), answer.failed())?),
        }
    }

    /// Whether the branch had moved, or the failure is another one.
    fn why_not_moved(
        &self,
        repo: &Path,
        branch: &str,
        expected: Option<&str>,
        failure: GitError,
    ) -> Result<GitError, GitError> {
        let found = self.ask_branch_commit(repo, branch)?;
        if found.as_deref() == expected {
            return Ok(failure);
        }
        Ok(GitError::Moved {
            branch: branch.to_owned(),
            expected: expected.map(str::to_owned),
            found,
        })
    }

    /// Refuses a branch that is checked out in any work tree of the repository.
    fn check_free(&self, repo: &Path, branch: &str) -> Result<(), GitError> {
        check_branch(branch)?;
        let output = self
            .isolated(repo)
            .args(["worktree", "list", "--porcelain"])
            .output()?;
        let own_line = format!("branch {}", full_name(branch));
        if output
            .split(|byte| *byte == b'\n')
            .any(|line| line == own_line.as_bytes())
        {
            return Err(GitError::Refused(Refused {
                what: "branch",
                value: branch.to_owned(),
                rule: "it is checked out; its commits would no longer match the files there",
            }));
        }
        Ok(())
    }
}

fn full_name(branch: &str) -> String {
    format!("refs/heads/{branch}")
}
