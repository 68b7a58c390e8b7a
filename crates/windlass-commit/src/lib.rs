//! Commit services behind the commit-service port: a repository on this machine, GitHub, GitLab,
//! or a commit service of the user's own.
//!
//! Each of them checks the allowed paths again, does every call so that repeating it does no harm,
//! and says in its faults whether repeating can help. Not here: what is committed and when (the
//! launch domain), how git is run (windlass-git) and which hosts may be called (windlass-net).

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
