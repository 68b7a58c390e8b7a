//! Questions about a repository on this machine; nothing is changed.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use windlass_ports::git::{
    GitError, Head, Refused, TreeFile, TreeKind, check_reference, check_revision,
};

use crate::environment::Scope;
use crate::program::{GitProgram, is_bare};
use crate::shortcut::{self, Certainty};

/// A repository in a submodule has settings of its own.
const WITHOUT_SUBMODULES: &str = "--ignore-submodules=dirty";

impl GitProgram {
    pub(crate) fn ask_toplevel(&self, directory: &Path) -> Result<Option<PathBuf>, GitError> {
        self.program()?;
        let scope = Scope::AsGitSeesIt;
        if let Certainty::Certain(answer) = shortcut::toplevel(&self.environment, scope, directory)
        {
            return Ok(answer);
        }
        let answer = self
            .ask_objects(directory, scope)
            .args(["rev-parse", "--show-toplevel"])
            .answer()?;
        match answer.code {
            Some(0) => Ok(Some(PathBuf::from(line(answer.stdout)))),
            _ if is_outside(&answer.stderr) => Ok(None),
            _ => Err(answer.failed()),
        }
    }

    pub(crate) fn ask_user_name(&self, repo: &Path) -> Result<Option<String>, GitError> {
        let answer = self
            .ask_objects(repo, Scope::AsGitSeesIt)
            .args(["config", "--get", "user.name"])
            .answer()?;
        match answer.code {
            Some(0) => Ok(Some(
                String::from_utf8_lossy(line(answer.stdout).as_bytes()).into_owned(),
            )),
            // Its exit code for a key that is not set.
            Some(1) => Ok(None),
            _ => Err(answer.failed()),
        }
    }

    pub(crate) fn ask_remote_url(
        &self,
        repo: &Path,
        remote: &str,
    ) -> Result<Option<String>, GitError> {
        check_reference(remote)?;
        let program = self.program()?;
        let scope = Scope::AsGitSeesIt;
        if let Certainty::Certain(answer) =
            shortcut::remote_url(&self.environment, scope, program, repo, remote)
        {
            return Ok(answer);
        }
        let answer = self
            .ask_objects(repo, scope)
            .args(["remote", "get-url", "--", remote])
            .answer()?;
        match answer.code {
            Some(0) => Ok(Some(
                String::from_utf8_lossy(line(answer.stdout).as_bytes()).into_owned(),
            )),
            // Its own exit code for a remote that does not exist; older versions only say so.
            Some(2) => Ok(None),
            _ if answer.stderr.contains("No such remote") => Ok(None),
            _ if is_outside(&answer.stderr) => Ok(None),
            _ => Err(answer.failed()),
        }
    }

    pub(crate) fn ask_head(&self, repo: &Path) -> Result<Head, GitError> {
        self.program()?;
        let scope = Scope::Directory;
        if let Certainty::Certain(head) = shortcut::head(&self.environment, scope, repo) {
            return Ok(head);
        }
        let answer = self
            .ask_objects(repo, scope)
            .args(["symbolic-ref", "--quiet", "HEAD"])
            .answer()?;
        let branch = match answer.code {
            Some(0) => {
                let name = line(answer.stdout).to_string_lossy().into_owned();
                let short = name.strip_prefix("refs/heads/").map(str::to_owned);
                Some(short.unwrap_or(name))
            }
            Some(1) => None,
            _ => return Err(answer.failed()),
        };
        let commit = self.ask_commit_of(repo, "HEAD")?;
        Ok(Head { branch, commit })
    }

    /// The commit that a revision names, if it exists.
    pub(crate) fn ask_commit_of(
        &self,
        repo: &Path,
        revision: &str,
    ) -> Result<Option<String>, GitError> {
        let answer = self
            .ask_objects(repo, Scope::Directory)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .args([format!("{revision}^{{commit}}")])
            .answer()?;
        match answer.code {
            Some(0) => Ok(Some(line(answer.stdout).to_string_lossy().into_owned())),
            Some(1) => Ok(None),
            _ => Err(answer.failed()),
        }
    }

    pub(crate) fn ask_changed_paths(&self, repo: &Path) -> Result<Vec<PathBuf>, GitError> {
        let output = self
            .ask(repo, Scope::Directory)
            .args(["status", "--porcelain=v1", "-z", "--no-renames"])
            // Whatever the user likes to see: an untracked file is not a clean tree.
            .args(["--untracked-files=normal"])
            .args(self.unless_trusted(repo, WITHOUT_SUBMODULES))
            .output()?;
        // Two letters and a blank precede each path.
        Ok(entries(&output)
            .filter_map(|entry| entry.get(3..))
            .map(path)
            .collect())
    }

    pub(crate) fn ask_blobs(
        &self,
        repo: &Path,
        revision: &str,
        paths: &[&Path],
    ) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        check_revision(revision)?;
        let bare = is_bare(repo);
        let mut input = format!("{revision}^{{commit}}\n").into_bytes();
        for path in paths {
            check_path(path)?;
            // `./` makes the path relative to `repo` and not to the top of the work tree.
            input.extend_from_slice(revision.as_bytes());
            input.extend_from_slice(if bare { b":" } else { b":./" });
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(b'\n');
        }
        let output = self
            .ask_objects(repo, Scope::Directory)
            .args(["cat-file", "--batch"])
            .input(input)
            .output()?;
        let mut objects = batch(&output);
        if !matches!(objects.next(), Some(Some(_))) {
            return Err(missing_revision(repo, revision));
        }
        Ok(paths
            .iter()
            .map(|_| {
                let (kind, content) = objects.next().flatten()?;
                (kind == b"blob").then(|| content.to_owned())
            })
            .collect())
    }

    pub(crate) fn ask_files_at(
        &self,
        repo: &Path,
        revision: &str,
    ) -> Result<Vec<TreeFile>, GitError> {
        check_revision(revision)?;
        let Some(commit) = self.ask_commit_of(repo, revision)? else {
            return Err(missing_revision(repo, revision));
        };
        let output = self
            .ask_objects(repo, Scope::Directory)
            .args(["ls-tree", "-r", "-z", commit.as_str()])
            .output()?;
        Ok(entries(&output).filter_map(tree_file).collect())
    }

    pub(crate) fn ask_diff_names(
        &self,
        repo: &Path,
        from: &str,
        to: Option<&str>,
    ) -> Result<Vec<PathBuf>, GitError> {
        check_revision(from)?;
        to.map(check_revision).transpose()?;
        let output = self
            .ask(repo, Scope::Directory)
            .args(["diff", "--name-only", "-z", "--no-renames", "--no-relative"])
            .args(["--no-ext-diff", "--no-textconv"])
            .args(self.unless_trusted(repo, WITHOUT_SUBMODULES))
            .args([from])
            .args(to)
            .args(["--"])
            .output()?;
        Ok(entries(&output).map(path).collect())
    }

    pub(crate) fn ask_ignored(&self, repo: &Path, paths: &[&Path]) -> Result<Vec<bool>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let answer = self
            .ask_objects(repo, Scope::Directory)
            .args(["check-ignore", "-z", "--stdin"])
            .input(nul_separated(paths)?)
            .answer()?;
        // 1 says that none is ignored.
        if !matches!(answer.code, Some(0 | 1)) {
            return Err(answer.failed());
        }
        let ignored: HashSet<&[u8]> = entries(&answer.stdout).collect();
        Ok(paths
            .iter()
            .map(|path| ignored.contains(path.as_os_str().as_bytes()))
            .collect())
    }
}

/// Whether git says that there is no work tree here.
fn is_outside(stderr: &str) -> bool {
    stderr.contains("not a git repository") || stderr.contains("must be run in a work tree")
}

fn missing_revision(repo: &Path, revision: &str) -> GitError {
    GitError::Missing {
        what: "revision",
        name: revision.to_owned(),
        place: repo.display().to_string(),
    }
}

/// Paths for git's input. Only ones below the repository, and none that git would see as
/// something else.
pub(crate) fn nul_separated(paths: &[&Path]) -> Result<Vec<u8>, GitError> {
    let mut bytes = Vec::new();
    for path in paths {
        check_path(path)?;
        bytes.extend_from_slice(path.as_os_str().as_bytes());
        bytes.push(0);
    }
    Ok(bytes)
}

fn check_path(path: &Path) -> Result<(), Refused> {
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let rule = if path.as_os_str().is_empty() {
        "it is empty"
    } else if !inside {
        "it is absolute or contains `..`"
    } else if path.as_os_str().as_bytes().contains(&b'\n') {
        "it contains a line break"
    } else {
        return Ok(());
    };
    Err(Refused {
        what: "path",
        value: path.display().to_string(),
        rule,
    })
}

/// The answer without the newline that ends it.
pub(crate) fn line(mut output: Vec<u8>) -> OsString {
    if output.last() == Some(&b'\n') {
        output.pop();
    }
    OsString::from_vec(output)
}

pub(crate) fn entries(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
}

pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// `<mode> <type> <id>` tab `<path>`.
fn tree_file(entry: &[u8]) -> Option<TreeFile> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&entry[..tab]).ok()?.split(' ');
    let kind = match words.next()? {
        "100755" => TreeKind::Executable,
        "120000" => TreeKind::Symlink,
        "160000" => TreeKind::Submodule,
        _ => TreeKind::Regular,
    };
    Some(TreeFile {
        path: path(&entry[tab + 1..]),
        kind,
        id: words.nth(1)?.to_owned(),
    })
}

/// The objects of `cat-file --batch`: type and content, or `None` for one that does not exist.
pub(crate) fn batch(mut rest: &[u8]) -> impl Iterator<Item = Option<(&[u8], &[u8])>> {
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let (header, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        // `<id> <type> <size>`; anything else says why there is no object.
        let mut words = header.rsplit(|byte| *byte == b' ');
        let size = words
            .next()
            .and_then(|word| std::str::from_utf8(word).ok())
            .and_then(|word| word.parse::<usize>().ok());
        let (Some(size), Some(kind)) = (size, words.next()) else {
            return Some(None);
        };
        let content = after.get(..size)?;
        rest = after.get(size + 1..)?;
        Some(Some((kind, content)))
    })
}
