//! A repository on this machine: a branch is made in it, and the pull request is a text.
//!
//! Nothing in use is touched: no index, work tree or checked-out branch. Git
//! calls block and run on a thread for that.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_files::{Access, Directory};
use windlass_ports::commit_service::{
    CommitRequest, CommitService, Committed, FoundBranch, OpenedPull, PathRule, PullRequest,
    ServiceAddress, ServiceFault, Stage,
};
use windlass_ports::git::{GitError, NewCommit};
use windlass_ports::{BoxFuture, Git};

use crate::guard::{branch_taken, check_branch, check_commit, fault};
use crate::percent;

/// Commits in a local repository.
pub struct LocalGit {
    place: Place,
    allowed: PathRule,
}

/// What the blocking work needs.
#[derive(Clone)]
struct Place {
    git: Arc<dyn Git>,
    repository: PathBuf,
    record_dir: PathBuf,
}

impl LocalGit {
    const NAME: &'static str = "local";

    /// Makes branches in the address's repository and texts in its record directory.
    pub fn new(git: Arc<dyn Git>, address: &ServiceAddress) -> Self {
        Self {
            place: Place {
                git,
                repository: address.repository.clone(),
                record_dir: address.record_dir.clone(),
            },
            allowed: Arc::clone(&address.allowed),
        }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        stage: Stage,
        work: impl FnOnce(&Place) -> Result<T, ServiceFault> + Send + 'static,
    ) -> Result<T, ServiceFault> {
        let place = self.place.clone();
        match tokio::task::spawn_blocking(move || work(&place)).await {
            Ok(done) => done,
            Err(_) => Err(fault(Self::NAME, stage, "the work was interrupted")),
        }
    }
}

impl Place {
    fn commit(&self, request: &CommitRequest) -> Result<Committed, ServiceFault> {
        let failed = |error| self.git_fault(Stage::Commit, &error);
        let branch = request.branch_name.as_str();
        if let Some(found) = self
            .git
            .branch_commit(&self.repository, branch)
            .map_err(failed)?
        {
            return self.reuse(request, found);
        }
        let commit_sha = self.make(request)?;
        match self
            .git
            .set_branch(&self.repository, branch, &commit_sha, None)
        {
            Ok(()) => Ok(Committed {
                commit_sha,
                reused: false,
            }),
            // Another process was faster.
            Err(GitError::Moved {
                found: Some(found), ..
            }) => self.reuse(request, found),
            Err(error) => Err(failed(error)),
        }
    }

    fn make(&self, request: &CommitRequest) -> Result<String, ServiceFault> {
        self.git
            .commit_files(
                &self.repository,
                &NewCommit {
                    base: &request.base_ref,
                    files: &request.files,
                    message: &request.message(),
                    author: &request.author,
                    time: request.time,
                },
            )
            .map_err(|error| self.git_fault(Stage::Commit, &error))
    }

    /// The commit a branch is at, if it is what would be made: the same files on the same base.
    fn reuse(&self, request: &CommitRequest, found: String) -> Result<Committed, ServiceFault> {
        let failed = |error| self.git_fault(Stage::Commit, &error);
        let wanted = self.make(request)?;
        let same = wanted == found || {
            let parent = self
                .git
                .commit_of(&self.repository, &format!("{found}^1"))
                .map_err(failed)?;
            parent.as_deref() == Some(request.base_ref.as_str())
                && self
                    .git
                    .diff_names(&self.repository, &wanted, Some(&found))
                    .map_err(failed)?
                    .is_empty()
        };
        if !same {
            return Err(branch_taken(LocalGit::NAME, &request.branch_name, &found));
        }
        Ok(Committed {
            commit_sha: found,
            reused: true,
        })
    }

    fn open_pr(&self, request: &PullRequest) -> Result<OpenedPull, ServiceFault> {
        let at = self
            .git
            .branch_commit(&self.repository, &request.branch_name)
            .map_err(|error| self.git_fault(Stage::OpenPr, &error))?;
        if at.as_deref() != Some(request.commit_sha.as_str()) {
            return Err(fault(
                LocalGit::NAME,
                Stage::OpenPr,
                format!(
                    "the branch `{}` is not at commit {}; create the commit again",
                    request.branch_name, request.commit_sha
                ),
            ));
        }
        let record = self.record(&request.branch_name);
        Directory::create(&self.record_dir, Access::Usual)
            .and_then(|records| {
                let name = record_name(&request.branch_name);
                records.write(name.as_ref(), text(request).as_bytes(), Access::Private)
            })
            .map_err(|error| record_fault("write", &error.into()))?;
        opened(&record)
    }

    fn find(&self, branch: &str) -> Result<Option<FoundBranch>, ServiceFault> {
        let found = self
            .git
            .branch_commit(&self.repository, branch)
            .map_err(|error| self.git_fault(Stage::Commit, &error))?;
        let Some(commit_sha) = found else {
            return Ok(None);
        };
        let record = self.record(branch);
        let pull = record.is_file().then(|| opened(&record)).transpose()?;
        Ok(Some(FoundBranch { commit_sha, pull }))
    }

    fn withdraw(&self, branch: &str, commit_sha: &str) -> Result<(), ServiceFault> {
        if self.record(branch).is_file() {
            Directory::open(&self.record_dir)
                .and_then(|records| records.remove_file(Path::new(&record_name(branch))))
                .map_err(|error| record_fault("remove", &error.into()))?;
        }
        match self.git.remove_branch(&self.repository, branch, commit_sha) {
            // It has moved on since and stays.
            Ok(()) | Err(GitError::Moved { .. }) => Ok(()),
            Err(error) => Err(self.git_fault(Stage::Commit, &error)),
        }
    }

    /// The text of the branch's pull request.
    fn record(&self, branch: &str) -> PathBuf {
        self.record_dir.join(record_name(branch))
    }

    /// What git says, without the places of this machine.
    fn git_fault(&self, stage: Stage, error: &GitError) -> ServiceFault {
        let message = match error {
            GitError::Failed { stderr, .. } => format!("git failed: {}", stderr.trim()),
            GitError::TimedOut { seconds, .. } => format!("git did not end within {seconds} s"),
            GitError::Missing { what, name, .. } => {
                format!("{what} `{name}` does not exist in the site's repository")
            }
            GitError::Io { action, source } => format!("cannot {action}: {}", source.kind()),
            other => other.to_string(),
        };
        let repository = self.repository.display().to_string();
        let mut fault = fault(
            LocalGit::NAME,
            stage,
            message.replace(&repository, "the site's repository"),
        );
        fault.retryable = matches!(error, GitError::TimedOut { .. });
        fault
    }
}

fn record_name(branch: &str) -> String {
    format!("{}.md", branch.replace('/', "-"))
}

fn record_fault(action: &str, error: &std::io::Error) -> ServiceFault {
    fault(
        LocalGit::NAME,
        Stage::OpenPr,
        format!(
            "cannot {action} the text of the pull request: {}",
            error.kind()
        ),
    )
}

fn opened(record: &Path) -> Result<OpenedPull, ServiceFault> {
    let place = fs_err::canonicalize(record).map_err(|error| record_fault("find", &error))?;
    Ok(OpenedPull {
        pr_url: format!("file://{}", percent::path(place.as_os_str().as_bytes())),
        pr_number: None,
    })
}

fn text(request: &PullRequest) -> String {
    let into = match &request.base_branch {
        Some(branch) => format!("`{branch}` (`{}`)", request.base_ref),
        None => format!("`{}`", request.base_ref),
    };
    let draft = if request.draft { " (draft)" } else { "" };
    format!(
        "# {}{draft}\n\n- branch: `{}`\n- commit: `{}`\n- into: {into}\n\n{}\n",
        request.pr_title.trim(),
        request.branch_name,
        request.commit_sha,
        request.pr_body.trim_end(),
    )
}

impl CommitService for LocalGit {
    fn adapter(&self) -> &'static str {
        Self::NAME
    }

    fn commit(&self, request: CommitRequest) -> BoxFuture<'_, Result<Committed, ServiceFault>> {
        Box::pin(async move {
            check_commit(Self::NAME, &self.allowed, &request)?;
            self.blocking(Stage::Commit, move |place| place.commit(&request))
                .await
        })
    }

    fn open_pr(&self, request: PullRequest) -> BoxFuture<'_, Result<OpenedPull, ServiceFault>> {
        Box::pin(async move {
            check_branch(Self::NAME, Stage::OpenPr, &request.branch_name)?;
            self.blocking(Stage::OpenPr, move |place| place.open_pr(&request))
                .await
        })
    }

    fn find<'a>(
        &'a self,
        _: &'a str,
        branch: &'a str,
    ) -> BoxFuture<'a, Result<Option<FoundBranch>, ServiceFault>> {
        Box::pin(async move {
            check_branch(Self::NAME, Stage::Commit, branch)?;
            let branch = branch.to_owned();
            self.blocking(Stage::Commit, move |place| place.find(&branch))
                .await
        })
    }

    fn withdraw<'a>(
        &'a self,
        _: &'a str,
        branch: &'a str,
        commit_sha: &'a str,
        _: Option<&'a OpenedPull>,
    ) -> BoxFuture<'a, Result<(), ServiceFault>> {
        Box::pin(async move {
            check_branch(Self::NAME, Stage::Commit, branch)?;
            let (branch, commit_sha) = (branch.to_owned(), commit_sha.to_owned());
            self.blocking(Stage::Commit, move |place| {
                place.withdraw(&branch, &commit_sha)
            })
            .await
        })
    }
}
