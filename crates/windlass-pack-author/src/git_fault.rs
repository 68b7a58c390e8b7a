//! What a failure of git is called in public.

use std::path::Path;

use windlass_pack_model::fault;
use windlass_ports::{git::GitError, trust};
use windlass_types::{Problem, code};

/// The public form of a failure of git. `cwd` and `args` say what was tried, for the failures
/// that do not know themselves.
pub fn git_problem(error: &GitError, cwd: &Path, args: &[&str]) -> Problem {
    let message = chain(error);
    match error {
        GitError::NotInstalled => {
            located(fault::git_not_found(message), cwd).with("args", args.to_vec())
        }
        GitError::Failed {
            args,
            cwd,
            stderr,
            code,
        } => located(failed(message), cwd)
            .with("args", args.clone())
            .with("stderr", stderr.trim())
            .with("exit_code", *code),
        GitError::TimedOut { args, cwd, seconds } => located(failed(message), cwd)
            .with("args", args.clone())
            .with("timeout_s", *seconds),
        GitError::Missing { what, name, .. } => located(failed(message), cwd)
            .with("args", args.to_vec())
            .with("missing", format!("{what} {name}")),
        GitError::Moved { branch, .. } => located(failed(message), cwd)
            .with("args", args.to_vec())
            .with("branch", branch.as_str()),
        GitError::NotTrusted { repository, .. } => not_trusted(error, repository),
        GitError::Refused(refused) => fault::config_invalid(message)
            .with("value", refused.value.as_str())
            .with("expected", refused.rule),
        GitError::Io { source, .. } => match fault::io("run git in", cwd, source) {
            problem if problem.code().name == "E_UNEXPECTED" => {
                fault::unexpected("io_error", &["retry_command"], message)
            }
            problem => problem,
        },
    }
}

/// A change that needs a program of a repository that is not trusted.
pub(crate) fn not_trusted(error: &GitError, repository: &Path) -> Problem {
    located(Problem::new(&code::NOT_TRUSTED, chain(error)), repository)
        .with("reason_code", "not_trusted")
        .next(trust::review(repository))
}

fn failed(message: String) -> Problem {
    fault::unexpected(
        "git_command_failed",
        &["inspect_git_error", "retry_command"],
        message,
    )
}

fn located(problem: Problem, cwd: &Path) -> Problem {
    problem
        .with("cwd", cwd.display().to_string())
        .with("cwd_posix", fault::posix(cwd))
}

/// A failure with all its causes.
pub(crate) fn chain(error: &GitError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
