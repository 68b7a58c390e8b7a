//! Commit services behind the commit-service port: a repository on this machine, GitHub, GitLab,
//! or a commit service of the user's own.
//!
//! Each of them checks the allowed paths again, does every call so that repeating it does no harm,
//! and says in its faults whether repeating can help. Not here: what is committed and when (the
//! launch domain), how git is run (windlass-git) and which hosts may be called (windlass-net).

/// The port for a service whose calls are methods of its own.
macro_rules! commit_service {
    ($service:ty) => {
        impl CommitService for $service {
            fn adapter(&self) -> &'static str {
                Self::NAME
            }

            fn commit(
                &self,
                request: CommitRequest,
            ) -> BoxFuture<'_, Result<Committed, ServiceFault>> {
                Box::pin(self.do_commit(request))
            }

            fn open_pr(
                &self,
                request: PullRequest,
            ) -> BoxFuture<'_, Result<OpenedPull, ServiceFault>> {
                Box::pin(self.do_open_pr(request))
            }

            fn find<'a>(
                &'a self,
                repo_url: &'a str,
                branch: &'a str,
            ) -> BoxFuture<'a, Result<Option<FoundBranch>, ServiceFault>> {
                Box::pin(self.do_find(repo_url, branch))
            }

            fn withdraw<'a>(
                &'a self,
                repo_url: &'a str,
                branch: &'a str,
                commit_sha: &'a str,
                pull: Option<&'a OpenedPull>,
            ) -> BoxFuture<'a, Result<(), ServiceFault>> {
                Box::pin(self.do_withdraw(repo_url, branch, commit_sha, pull))
            }
        }
    };
}

mod answer;
mod exchange;
mod github;
mod gitlab;
mod guard;
mod http_service;
mod local;
mod percent;
mod project;
mod services;

pub use github::GitHub;
pub use gitlab::GitLab;
pub use http_service::HttpService;
pub use local::LocalGit;
pub use services::Services;
