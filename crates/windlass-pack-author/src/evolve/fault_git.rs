//! What a failure of git is called in public.

use std::path::Path;

use windlass_pack_model::fault;
use windlass_ports::git::GitError;
use windlass_types::Problem;

use crate::git_fault::{chain, not_trusted};

/// The problem of a git call in a directory.
pub(crate) fn problem(error: &GitError, cwd: &Path) -> Problem {
    match error {
        GitError::NotInstalled => fault::git_not_found(
            "git is not installed or not on the PATH; install it and try again",
        )
        .with("args", Vec::<String>::new())
        .with("cwd", cwd.display().to_string())
        .with("cwd_posix", fault::posix(cwd)),
        GitError::Refused(refused) => fault::config_invalid(refused.to_string())
            .with("value", refused.value.as_str())
            .with("hint", refused.rule),
        GitError::Failed { args, stderr, .. } => failed(error, cwd)
            .with("args", args.clone())
            .with("stderr", stderr.as_str()),
        GitError::TimedOut { args, .. } => failed(error, cwd).with("args", args.clone()),
        GitError::NotTrusted { repository, .. } => not_trusted(error, repository),
        GitError::Missing { .. } | GitError::Moved { .. } | GitError::Io { .. } => {
            failed(error, cwd)
        }
    }
}

fn failed(error: &GitError, cwd: &Path) -> Problem {
    fault::unexpected("git_command_failed", &["retry_command"], chain(error))
        .with("cwd", cwd.display().to_string())
        .with("cwd_posix", fault::posix(cwd))
}
