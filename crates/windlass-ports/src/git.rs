//! Git repositories: what a domain may ask and change, as plain data.
//!
//! Calls block; async callers move them to a blocking thread. Not here: how it is done
//! (windlass-git) and which of it becomes which public error (the domains). The rules for
//! addresses and names are here, so that input can be checked before anything runs.

use std::path::{Path, PathBuf};

use windlass_types::Timestamp;

/// Why a git operation did not happen or did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git program; nothing was done.
    #[error("git is not installed or not on the PATH")]
    NotInstalled,
    /// git ran and reported a failure.
    #[error("{}", failed(.args, .cwd, *.code, .stderr))]
    Failed {
        /// The arguments; credentials in addresses are hidden.
        args: Vec<String>,
        /// Where it ran.
        cwd: PathBuf,
        /// What git said; credentials in addresses are hidden.
        stderr: String,
        /// Its exit code; `None` when a signal ended it.
        code: Option<i32>,
    },
    /// git did not end in time and was stopped, with everything it had started.
    #[error("`git {}` in {} did not end within {seconds} s and was stopped", .args.join(" "), .cwd.display())]
    TimedOut {
        /// The arguments; credentials in addresses are hidden.
        args: Vec<String>,
        /// Where it ran.
        cwd: PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// A value that is not passed to git; nothing was done.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A revision, branch or tag that does not exist.
    #[error("{what} `{name}` does not exist in {place}")]
    Missing {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// The repository; credentials are hidden.
        place: String,
    },
    /// A branch is not where the caller expected it; nothing was changed.
    #[error("{}", moved(.branch, .expected.as_deref(), .found.as_deref()))]
    Moved {
        /// The branch.
        branch: String,
        /// The commit it was expected at; `None`: it was expected not to exist.
        expected: Option<String>,
        /// The commit it is at; `None` when it does not exist.
        found: Option<String>,
    },
    /// A filter that the change needs is off, because the user has not trusted the repository.
    #[error("the filter {filter} of {} was not run, because the repository is not trusted", .repository.display())]
    NotTrusted {
        /// The repository.
        repository: PathBuf,
        /// The filter's name.
        filter: String,
    },
    /// Files or processes failed around git.
    #[error("cannot {action}")]
    Io {
        /// What was tried.
        action: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

fn failed(args: &[String], cwd: &Path, code: Option<i32>, stderr: &str) -> String {
    let end = match code {
        Some(code) => format!("exit code {code}"),
        None => "a signal".to_owned(),
    };
    let said = stderr.trim();
    let said = if said.is_empty() { "no message" } else { said };
    format!(
        "`git {}` in {} ended with {end}: {said}",
        args.join(" "),
        cwd.display()
    )
}

fn moved(branch: &str, expected: Option<&str>, found: Option<&str>) -> String {
    let place = |commit: Option<&str>| match commit {
        Some(commit) => format!("at {commit}"),
        None => "absent".to_owned(),
    };
    format!(
        "branch `{branch}` is {} and was expected {}",
        place(found),
        place(expected)
    )
}

/// A value that git must not see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{value}` is refused: {rule}")]
pub struct Refused {
    /// What kind of value.
    pub what: &'static str,
    /// The value; credentials are hidden.
    pub value: String,
    /// The rule it breaks, and what to write instead.
    pub rule: &'static str,
}

/// Where a repository stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The branch; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The commit; `None` on a branch without commits.
    pub commit: Option<String>,
}

/// What to switch to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchTo {
    /// An existing branch.
    Branch(String),
    /// A new branch at the current commit, also where there is no commit yet.
    NewBranch(String),
    /// A commit, without a branch.
    Commit(String),
}

/// Who a commit is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
}

/// How changes of a remote branch are brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullMode {
    /// As the user's configuration says.
    Configured,
    /// Own commits on top.
    Rebase,
    /// Only when there is nothing to combine.
    FastForward,
}

/// A checkout of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout<'a> {
    /// Where from.
    pub url: &'a str,
    /// The commit, all 40 digits.
    pub commit: &'a str,
    /// Whether to ask for that commit alone first.
    pub shallow: bool,
    /// The directory to make. Nothing is done when it exists; it never exists half made.
    pub directory: &'a Path,
}

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Relative to the directory that was asked about, with `/`.
    pub path: PathBuf,
    /// What it is.
    pub kind: TreeKind,
    /// The id of its content.
    pub id: String,
}

/// What an entry of a commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// A file.
    Regular,
    /// A file that may be executed.
    Executable,
    /// A symbolic link.
    Symlink,
    /// Another repository.
    Submodule,
}

/// The branch a remote repository offers first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteHead {
    /// The branch; `None` when its HEAD is detached or not announced.
    pub branch: Option<String>,
    /// The commit.
    pub commit: String,
}

/// What an export wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many files and symbolic links.
    pub files: usize,
    /// How many bytes of content.
    pub bytes: u64,
    /// Submodules, which are left out, in path order.
    pub submodules: Vec<PathBuf>,
}

/// One file of a commit that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the top of the tree, with `/`.
    pub path: String,
    /// The whole new content; `None` removes the file.
    pub content: Option<Vec<u8>>,
}

/// A commit that is to be made of contents, without a work tree.
#[derive(Clone, Copy, Debug)]
pub struct NewCommit<'a> {
    /// The commit it stands on, all digits.
    pub base: &'a str,
    /// What differs from the base. A file that is executable there stays so.
    pub files: &'a [FileChange],
    /// The message, subject and body.
    pub message: &'a str,
    /// Who it is by; the committer too.
    pub author: &'a Author,
    /// When it was made, as it is written into the commit (whole seconds, UTC).
    pub time: Timestamp,
}

/// Repositories on this machine and what can be reached from it.
///
/// `repo` is a directory inside a work tree. Paths are relative to it unless they say otherwise.
/// Every value from outside is checked before git sees it, and every call has a time limit.
pub trait Git: Send + Sync {
    /// The top of the work tree around a directory, as `git rev-parse --show-toplevel` gives
    /// it; `None` outside of work trees.
    fn toplevel(&self, directory: &Path) -> Result<Option<PathBuf>, GitError>;

    /// A remote's address, as `git remote get-url` gives it; `None` without such a remote.
    fn remote_url(&self, repo: &Path, remote: &str) -> Result<Option<String>, GitError>;

    /// The name that commits here would have as their author; `None` where none is set.
    fn user_name(&self, repo: &Path) -> Result<Option<String>, GitError>;

    /// Branch and commit.
    fn head(&self, repo: &Path) -> Result<Head, GitError>;

    /// Paths that are changed, staged or untracked, relative to the top of the work tree.
    fn changed_paths(&self, repo: &Path) -> Result<Vec<PathBuf>, GitError>;

    /// Whether nothing is changed, staged or untracked.
    fn is_clean(&self, repo: &Path) -> Result<bool, GitError> {
        Ok(self.changed_paths(repo)?.is_empty())
    }

    /// Makes a directory a repository; harmless where it is one already.
    fn init(&self, directory: &Path) -> Result<(), GitError>;

    /// Sets a remote's address, adding the remote if needed.
    fn set_remote(&self, repo: &Path, remote: &str, url: &str) -> Result<(), GitError>;

    /// Makes a branch at a revision (default: the current commit) without switching to it.
    fn create_branch(&self, repo: &Path, branch: &str, at: Option<&str>) -> Result<(), GitError>;

    /// Switches; local changes that would be lost are a failure.
    fn switch(&self, repo: &Path, to: &SwitchTo) -> Result<(), GitError>;

    /// Deletes a local branch, merged or not.
    fn delete_branch(&self, repo: &Path, branch: &str) -> Result<(), GitError>;

    /// Commits exactly these paths, with additions and deletions below them; the user's hooks
    /// run. Returns the commit, or `None` when there was nothing to commit. After a failure
    /// nothing of these paths is staged.
    fn commit_paths(
        &self,
        repo: &Path,
        paths: &[&Path],
        message: &str,
        author: Option<&Author>,
    ) -> Result<Option<String>, GitError>;

    /// Programs of the repository that no call runs, because the user has not trusted it: hooks,
    /// filters, the file system monitor. Empty where it is trusted.
    fn skipped(&self, _repo: &Path) -> Result<Vec<String>, GitError> {
        Ok(Vec::new())
    }

    /// The commit that a branch or tag of a remote repository names. An annotated tag comes
    /// first, then a branch, then a plain tag. 40 hex digits are their own answer.
    fn resolve(&self, url: &str, reference: &str) -> Result<String, GitError>;

    /// Makes a checkout of a commit, without hooks.
    fn checkout(&self, checkout: &Checkout<'_>) -> Result<(), GitError>;

    /// The contents of files at a revision, in the order asked; `None` where there is no such
    /// file. One process for all of them.
    fn blobs(
        &self,
        repo: &Path,
        revision: &str,
        paths: &[&Path],
    ) -> Result<Vec<Option<Vec<u8>>>, GitError>;

    /// The content of one file at a revision.
    fn blob(&self, repo: &Path, revision: &str, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        Ok(self.blobs(repo, revision, &[path])?.pop().flatten())
    }

    /// The commit a revision names; `None` when there is none.
    fn commit_of(&self, repo: &Path, revision: &str) -> Result<Option<String>, GitError>;

    /// All files at a revision below `repo`, in path order.
    fn files_at(&self, repo: &Path, revision: &str) -> Result<Vec<TreeFile>, GitError>;

    /// Paths that differ between two revisions, or between a revision and the work tree
    /// (untracked files apart), relative to the top of the work tree.
    fn diff_names(
        &self,
        repo: &Path,
        from: &str,
        to: Option<&str>,
    ) -> Result<Vec<PathBuf>, GitError>;

    /// For each path whether ignore rules leave it out. Tracked files never are.
    fn is_ignored(&self, repo: &Path, paths: &[&Path]) -> Result<Vec<bool>, GitError>;

    /// Brings a remote's branch into the current one.
    fn pull(&self, repo: &Path, remote: &str, branch: &str, mode: PullMode)
    -> Result<(), GitError>;

    /// Pushes a refspec to a remote, given by name or address.
    fn push(&self, repo: &Path, remote: &str, refspec: &str) -> Result<(), GitError>;

    // The calls below are for repositories that are not trusted. No hook, filter, submodule or
    // configured program of theirs is run, also where `repo` is such a repository itself.

    /// Brings one commit (40 or 64 hex digits) into our own bare repository, which is made if
    /// needed: alone where the other side allows it, else with all branches and tags. Done
    /// already: nothing happens. `Missing` when the other side has no such commit.
    fn fetch_commit(&self, bare: &Path, url: &str, commit: &str) -> Result<(), GitError>;

    /// The default branch of a remote repository and the commit it is at. `Missing` when the
    /// repository is empty.
    fn head_of(&self, url: &str) -> Result<RemoteHead, GitError>;

    /// The tag of a remote repository with the highest version (`v1.2.3`, `release-2.0`);
    /// pre-releases count only where there is no release.
    fn latest_release_tag(&self, url: &str) -> Result<Option<String>, GitError>;

    /// When a commit was made, as its committer says.
    fn commit_time(&self, repo: &Path, commit: &str) -> Result<Timestamp, GitError>;

    /// Writes the files of a commit as plain files, byte for byte as they were committed.
    /// Symbolic links stay links. The directory must not exist; it never exists half made.
    fn export(&self, bare: &Path, commit: &str, directory: &Path) -> Result<Exported, GitError>;

    /// Makes a commit, and nothing else: no branch, index or work tree is touched. The same
    /// request gives the same commit.
    fn commit_files(&self, repo: &Path, request: &NewCommit<'_>) -> Result<String, GitError>;

    /// The commit a branch is at; `None` when there is no such branch.
    fn branch_commit(&self, repo: &Path, branch: &str) -> Result<Option<String>, GitError>;

    /// Puts a branch at a commit if it still is at `expected_old` (`None`: does not exist), else
    /// `Moved`. A branch that is checked out anywhere is refused.
    fn set_branch(
        &self,
        repo: &Path,
        branch: &str,
        commit: &str,
        expected_old: Option<&str>,
    ) -> Result<(), GitError>;

    /// Removes a branch if it still is at `expected`, else `Moved`; harmless when it does not
    /// exist. A branch that is checked out anywhere is refused.
    fn remove_branch(&self, repo: &Path, branch: &str, expected: &str) -> Result<(), GitError>;
}

/// Allows https, ssh, git, file and `user@host:path` addresses, and nothing that git could take
/// for an option or hand to another program.
pub fn check_url(url: &str) -> Result<(), Refused> {
    let refuse = |rule| {
        Err(Refused {
            what: "git address",
            value: hide_credentials(url),
            rule,
        })
    };
    if url.is_empty() {
        return refuse("it is empty");
    }
    if url.starts_with('-') {
        return refuse("it starts with `-`");
    }
    if url.chars().any(char::is_control) {
        return refuse("it contains a control character");
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        let host = rest.split('/').next().unwrap_or_default();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        return match scheme {
            "file" if rest.starts_with('/') && rest.len() > 1 => Ok(()),
            "file" => refuse("a file address is `file:///` and an absolute path"),
            "https" | "ssh" | "git" if host.is_empty() => refuse("it names no host"),
            "https" | "ssh" | "git" if host.starts_with('-') => refuse("its host starts with `-`"),
            "https" | "ssh" | "git" => Ok(()),
            "http" => refuse("http is not encrypted; use https"),
            _ => refuse("only https, ssh, git, file and `user@host:path` are allowed"),
        };
    }
    let scp_like = url.split_once(':').filter(|(host, path)| {
        // `ext::…` and the like start programs; `c:\…` and `./a:b` are paths.
        let drive = host.len() == 1;
        !host.is_empty() && !drive && !host.contains('/') && !path.starts_with(':')
    });
    match scp_like {
        Some((host, path)) => {
            let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
            if name.is_empty() || path.is_empty() {
                refuse("it is not `user@host:path`")
            } else if name.starts_with('-') || path.starts_with('-') {
                refuse("its host or path starts with `-`")
            } else if host.contains(char::is_whitespace) {
                refuse("its host contains a blank")
            } else {
                Ok(())
            }
        }
        None if url.contains("::") => {
            refuse("only https, ssh, git, file and `user@host:path` are allowed")
        }
        None => refuse(
            "a path is not an address; write `file:///` and the absolute path of the repository",
        ),
    }
}

/// Allows what git allows as the name of a branch or tag, full names (`refs/heads/x`) included.
pub fn check_reference(name: &str) -> Result<(), Refused> {
    let rule = if name.is_empty() {
        "it is empty"
    } else if name.starts_with('-') {
        "it starts with `-`"
    } else if name
        .chars()
        .any(|c| c.is_control() || " ~^:?*[\\".contains(c))
    {
        "it contains a blank, a control character or one of ~ ^ : ? * [ \\"
    } else if name.contains("..") || name.contains("@{") || name == "@" {
        "it contains `..` or `@{`, or is `@`"
    } else if name
        .split('/')
        .any(|part| part.is_empty() || part.starts_with('.') || part.ends_with(".lock"))
    {
        "a part of it is empty, starts with `.` or ends with `.lock`"
    } else if name.ends_with('.') {
        "it ends with `.`"
    } else {
        return Ok(());
    };
    Err(Refused {
        what: "git reference",
        value: name.to_owned(),
        rule,
    })
}

/// Allows anything that names a commit (`HEAD~2`, `v1^{}`) and cannot be taken for an option, a
/// range or a path.
pub fn check_revision(revision: &str) -> Result<(), Refused> {
    let rule = if revision.is_empty() {
        "it is empty"
    } else if revision.starts_with('-') {
        "it starts with `-`"
    } else if revision.contains(|c: char| c.is_control() || c.is_whitespace() || c == ':') {
        "it contains a blank, a control character or `:`"
    } else if revision.contains("..") {
        "it is a range"
    } else {
        return Ok(());
    };
    Err(Refused {
        what: "git revision",
        value: revision.to_owned(),
        rule,
    })
}

/// Whether a text is a full commit id.
pub fn is_commit_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a text is the full id of an object, of either of git's two lengths.
pub fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The text with the credentials of every address in it replaced by `***`.
pub fn hide_credentials(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + "://".len());
        shown.push_str(head);
        let end = tail
            .find(|c: char| c == '/' || c == '\'' || c == '"' || c.is_whitespace())
            .unwrap_or(tail.len());
        match tail[..end].rfind('@') {
            // A lone user name (`ssh://git@host`) is no secret and helps to find the cause.
            Some(user_end) if head.ends_with("ssh://") && !tail[..user_end].contains(':') => {
                shown.push_str(&tail[..end]);
            }
            Some(user_end) => {
                shown.push_str("***");
                shown.push_str(&tail[user_end..end]);
            }
            None => shown.push_str(&tail[..end]),
        }
        rest = &tail[end..];
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
