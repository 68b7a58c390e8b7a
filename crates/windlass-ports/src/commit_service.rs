//! Commit services: where the result of a run becomes a commit and a pull request.
//!
//! Plain data and two traits. Not here: how a service is called (windlass-commit), which
//! paths a run may change (a rule that comes with the address) and when the calls are made.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use windlass_types::{Secret, Timestamp};

pub use crate::git::{Author, FileChange};

/// A commit that is asked for.
#[derive(Clone, Debug)]
pub struct CommitRequest {
    /// The run it belongs to.
    pub run_id: String,
    /// The same on every try of this commit, and of no other.
    pub idempotency_key: String,
    /// The site's repository.
    pub repo_url: String,
    /// The commit to stand on, all digits.
    pub base_ref: String,
    /// The branch the commit is meant for, where it is known.
    pub base_branch: Option<String>,
    /// The branch to make.
    pub branch_name: String,
    /// The paths that may be changed, as the configuration has them.
    pub allowed_paths: Vec<String>,
    /// The first line of the message.
    pub commit_message: String,
    /// The rest of the message; may be empty.
    pub commit_body: String,
    /// Who it is by.
    pub author: Author,
    /// When it was made.
    pub time: Timestamp,
    /// What differs from the base, as whole files.
    pub files: Vec<FileChange>,
    /// The same as patches, for services that apply them themselves.
    pub patch_bundle: Value,
    /// Whether a base that is not exactly `base_ref` is a failure.
    pub require_clean_base: bool,
}

impl CommitRequest {
    /// Subject and body as git wants them.
    pub fn message(&self) -> String {
        let subject = self.commit_message.trim();
        let body = self.commit_body.trim();
        if body.is_empty() {
            format!("{subject}\n")
        } else {
            format!("{subject}\n\n{body}\n")
        }
    }
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub commit_sha: String,
    /// Whether it was there already.
    pub reused: bool,
}

/// A pull request that is asked for.
#[derive(Clone, Debug)]
pub struct PullRequest {
    /// The run it belongs to.
    pub run_id: String,
    /// The same on every try of this pull request, and of no other.
    pub idempotency_key: String,
    /// The site's repository.
    pub repo_url: String,
    /// The commit the branch stands on.
    pub base_ref: String,
    /// The branch to merge into; absent: the service's default branch.
    pub base_branch: Option<String>,
    /// The branch to merge.
    pub branch_name: String,
    /// The commit it is at.
    pub commit_sha: String,
    /// The title.
    pub pr_title: String,
    /// The text, Markdown.
    pub pr_body: String,
    /// Whether it is only to be looked at yet.
    pub draft: bool,
}

/// A pull request that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedPull {
    /// Where to look at it.
    pub pr_url: String,
    /// Its number, where the service has numbers.
    pub pr_number: Option<u64>,
}

/// What a service already has for a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundBranch {
    /// The commit the branch is at.
    pub commit_sha: String,
    /// Its pull request.
    pub pull: Option<OpenedPull>,
}

/// Which of the two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The commit.
    Commit,
    /// The pull request.
    OpenPr,
}

impl Stage {
    /// Its name in `details.stage`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::OpenPr => "open_pr",
        }
    }
}

/// Why a service did not do what was asked. Never holds a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ServiceFault {
    /// The service: `local`, `github`, `gitlab` or `http`.
    pub adapter: &'static str,
    /// The call that failed.
    pub stage: Stage,
    /// The HTTP status, where there was an answer.
    pub http_status: Option<u16>,
    /// The service's own code, where it gave one.
    pub service_code: Option<String>,
    /// What happened and what to do about it.
    pub message: String,
    /// Whether the same call can succeed later: no answer, 5xx and 429.
    pub retryable: bool,
    /// How long the service asked to be left alone.
    pub retry_after: Option<Duration>,
    /// The path that the allowed paths do not admit; the fault is then about it.
    pub path_not_allowed: Option<String>,
}

/// One service, for one site.
pub trait CommitService: Send + Sync {
    /// Its name: `local`, `github`, `gitlab` or `http`.
    fn adapter(&self) -> &'static str;

    /// Makes the commit and its branch. A branch with the same content on the same base is
    /// reused; one with other content is a fault.
    fn commit(&self, request: CommitRequest) -> BoxFuture<'_, Result<Committed, ServiceFault>>;

    /// Opens the pull request, or gives the one that is open for the branch.
    fn open_pr(&self, request: PullRequest) -> BoxFuture<'_, Result<OpenedPull, ServiceFault>>;

    /// What is there for a branch: after a crash, what the calls before it have done. A service
    /// that cannot be asked says `None`; its calls give their first answer again.
    fn find<'a>(
        &'a self,
        repo_url: &'a str,
        branch: &'a str,
    ) -> BoxFuture<'a, Result<Option<FoundBranch>, ServiceFault>>;

    /// Takes it back: closes the pull request and deletes the branch if it still is at
    /// `commit_sha`. Harmless when done already.
    fn withdraw<'a>(
        &'a self,
        repo_url: &'a str,
        branch: &'a str,
        commit_sha: &'a str,
        pull: Option<&'a OpenedPull>,
    ) -> BoxFuture<'a, Result<(), ServiceFault>>;
}

/// Which service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceKind {
    /// A repository on this machine.
    Local,
    /// GitHub's REST interface.
    GitHub,
    /// GitLab's REST interface.
    GitLab,
    /// A commit service of the user's own.
    Http,
}

/// Says whether a path may be changed.
pub type PathRule = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Where a service is and what it may do.
#[derive(Clone)]
pub struct ServiceAddress {
    /// Which service.
    pub kind: ServiceKind,
    /// Where its interface is; absent: the public one. Required for [`ServiceKind::Http`].
    pub endpoint_url: Option<String>,
    /// What it is to be asked with.
    pub token: Option<Secret<String>>,
    /// Local: the repository in which the branch is made, bare or not.
    pub repository: PathBuf,
    /// Local: the directory in which the text of the pull request is written.
    pub record_dir: PathBuf,
    /// The paths that may be changed; asked again by every service before it acts.
    pub allowed: PathRule,
}

impl fmt::Debug for ServiceAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServiceAddress")
            .field("kind", &self.kind)
            .field("endpoint_url", &self.endpoint_url)
            .field("token", &self.token)
            .field("repository", &self.repository)
            .field("record_dir", &self.record_dir)
            .finish_non_exhaustive()
    }
}

/// The services that can be had.
pub trait CommitServices: Send + Sync {
    /// A service at an address. Nothing is sent yet; an address that cannot work is a fault.
    fn open(&self, address: ServiceAddress) -> Result<Arc<dyn CommitService>, ServiceFault>;
}
