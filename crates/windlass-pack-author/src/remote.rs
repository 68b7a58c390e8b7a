//! `remote set`: where a config repository is shared.

use std::path::Path;

use serde::Serialize;
use windlass_pack_model::fault;
use windlass_ports::git::{Git, GitError, check_reference, check_url, hide_credentials};
use windlass_types::Problem;

use crate::{authored::shown, git_fault::git_problem};

/// The `data` of `remote set`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoteData {
    /// The repository.
    pub repo: String,
    /// The same with `/`.
    pub repo_posix: String,
    /// The name of the remote.
    pub remote: String,
    /// Its address, without credentials.
    pub url: String,
}

/// Sets a remote of the repository, which becomes a git repository if it is none. A dry run only
/// checks the values.
pub fn set_remote(
    git: &dyn Git,
    repo: &Path,
    remote: &str,
    url: &str,
    dry_run: bool,
) -> Result<RemoteData, Problem> {
    check_url(url)
        .and_then(|()| check_reference(remote))
        .map_err(|refused| {
            fault::unexpected("invalid_arguments", &["retry_command"], refused.to_string())
                .with("value", refused.value)
                .with("expected", refused.rule)
        })?;
    let shown_url = hide_credentials(url);
    if !dry_run {
        let failed = |error: GitError| {
            git_problem(
                &error,
                repo,
                &["remote", "set-url", "--", remote, &shown_url],
            )
        };
        if !repo.join(".git").exists() {
            git.init(repo).map_err(failed)?;
        }
        git.set_remote(repo, remote, url).map_err(failed)?;
    }
    Ok(RemoteData {
        repo: shown(repo),
        repo_posix: fault::posix(repo),
        remote: remote.to_owned(),
        url: shown_url,
    })
}
