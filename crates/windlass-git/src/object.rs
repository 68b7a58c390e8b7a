//! Commits made of contents: objects are added to a repository and nothing else is touched, not
//! its index, its HEAD, a work tree or a branch.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use windlass_ports::git::{Author, FileChange, GitError, NewCommit, Refused};

use crate::change::check_message;
use crate::export::{Entry, Kind, check_tree_path};
use crate::foreign::check_object_id;
use crate::program::GitProgram;
use crate::query::line;

impl GitProgram {
    pub(crate) fn do_commit_files(
        &self,
        repo: &Path,
        request: &NewCommit<'_>,
    ) -> Result<String, GitError> {
        check_object_id(request.base)?;
        check_message(request.message)?;
        check_author(request.author)?;
        self.program()?;
        let tree = self.tree(repo, request.base)?;
        let modes = plan(&tree, request.files)?;
        let scratch = tempfile::tempdir().map_err(scratch_failed)?;
        let ids = self.add_contents(repo, scratch.path(), request.files)?;
        let index = scratch.path().join("index");
        let on_index = || self.isolated(repo).env("GIT_INDEX_FILE", &index);
        on_index().args(["read-tree", request.base]).success()?;
        on_index()
            .args(["update-index", "-z", "--index-info"])
            .input(index_info(request, &modes, &ids))
            .success()?;
        let tree = on_index().args(["write-tree"]).output()?;
        let Author { name, email } = request.author;
        let date = format!("@{} +0000", request.time.as_seconds().max(0));
        let commit = self
            .isolated(repo)
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            .env("GIT_COMMITTER_DATE", &date)
            .args(["commit-tree", "--no-gpg-sign", "-p", request.base])
            .args(["-F", "-"])
            .args([line(tree)])
            .input(request.message.as_bytes().to_owned())
            .output()?;
        Ok(line(commit).to_string_lossy().into_owned())
    }

    /// Adds every content; the ids in the order of the files that have one. One process.
    fn add_contents(
        &self,
        repo: &Path,
        scratch: &Path,
        files: &[FileChange],
    ) -> Result<Vec<String>, GitError> {
        let mut input = Vec::new();
        for (number, content) in files.iter().filter_map(|f| f.content.as_ref()).enumerate() {
            let place = scratch.join(number.to_string());
            fs_err::write(&place, content).map_err(scratch_failed)?;
            input.extend_from_slice(place.as_os_str().as_bytes());
            input.push(b'\n');
        }
        if input.is_empty() {
            return Ok(Vec::new());
        }
        let output = self
            .isolated(repo)
            .args(["hash-object", "-w", "--no-filters", "--stdin-paths"])
            .input(input)
            .output()?;
        let output = String::from_utf8_lossy(&output);
        Ok(output.lines().map(str::to_owned).collect())
    }
}

fn scratch_failed(source: std::io::Error) -> GitError {
    GitError::Io {
        action: "write to the directory for temporary files".to_owned(),
        source,
    }
}

/// The mode of each changed file. Refuses a change that would touch any other path: git would
/// remove a file `a` without a word when `a/b` is added.
fn plan<'a>(tree: &[Entry], files: &'a [FileChange]) -> Result<BTreeMap<&'a str, Kind>, GitError> {
    let before: BTreeMap<&Path, Kind> = tree
        .iter()
        .map(|entry| (entry.path.as_path(), entry.kind))
        .collect();
    let mut modes = BTreeMap::new();
    let mut after: BTreeSet<&Path> = before.keys().copied().collect();
    for file in files {
        check_tree_path(OsStr::new(&file.path))?;
        let path = Path::new(&file.path);
        let kind = match (before.get(path), &file.content) {
            (Some(Kind::Submodule), _) => {
                return Err(refused(&file.path, "it is a submodule").into());
            }
            (None, None) => {
                return Err(GitError::Missing {
                    what: "file",
                    name: file.path.clone(),
                    place: "the commit it is to be removed from".to_owned(),
                });
            }
            (Some(Kind::Executable), _) => Kind::Executable,
            _ => Kind::Regular,
        };
        match file.content {
            Some(_) => after.insert(path),
            None => after.remove(path),
        };
        if modes.insert(file.path.as_str(), kind).is_some() {
            return Err(refused(&file.path, "it is changed twice").into());
        }
    }
    let directories: BTreeSet<&Path> = after
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .collect();
    for file in files.iter().filter(|file| file.content.is_some()) {
        let path = Path::new(&file.path);
        let is_below_a_file = path.ancestors().skip(1).any(|above| after.contains(above));
        if is_below_a_file || directories.contains(path) {
            return Err(refused(&file.path, "it would be both a file and a directory").into());
        }
    }
    Ok(modes)
}

/// `<mode> <id>` tab `<path>` NUL; mode 0 removes.
fn index_info(request: &NewCommit<'_>, modes: &BTreeMap<&str, Kind>, ids: &[String]) -> Vec<u8> {
    let nothing = "0".repeat(request.base.len());
    let mut ids = ids.iter();
    let mut info = Vec::new();
    for file in request.files {
        let (mode, id) = match (&file.content, modes.get(file.path.as_str())) {
            (None, _) => ("0", Some(&nothing)),
            (Some(_), Some(Kind::Executable)) => ("100755", ids.next()),
            (Some(_), _) => ("100644", ids.next()),
        };
        let id = id.map_or("", String::as_str);
        info.extend_from_slice(format!("{mode} {id}\t{}\0", file.path).as_bytes());
    }
    info
}

fn check_author(author: &Author) -> Result<(), Refused> {
    let unusable = |text: &str| {
        text.trim().is_empty() || text.contains(|c: char| c.is_control() || c == '<' || c == '>')
    };
    if unusable(&author.name) || unusable(&author.email) {
        return Err(Refused {
            what: "author",
            value: format!("{} <{}>", author.name, author.email)
                .escape_debug()
                .to_string(),
            rule: "name and address must not be empty or contain `<`, `>` or control characters",
        });
    }
    Ok(())
}

fn refused(path: &str, rule: &'static str) -> Refused {
    Refused {
        what: "path",
        value: path.to_owned(),
        rule,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn tree(paths: &[(&str, Kind)]) -> Vec<Entry> {
        paths
            .iter()
            .map(|(path, kind)| Entry::of(PathBuf::from(path), *kind))
            .collect()
    }

    fn change(path: &str, content: Option<&str>) -> FileChange {
        FileChange {
            path: path.to_owned(),
            content: content.map(|text| text.as_bytes().to_owned()),
        }
    }

    #[test]
    fn a_change_touches_its_own_path_alone() {
        let tree = tree(&[
            ("a", Kind::Regular),
            ("d.x", Kind::Regular),
            ("d/e", Kind::Executable),
            ("link", Kind::Symlink),
            ("sub", Kind::Submodule),
        ]);
        for (changes, rule) in [
            (
                vec![change("a/b", Some(""))],
                Some("both a file and a directory"),
            ),
            (
                vec![change("link/b", Some(""))],
                Some("both a file and a directory"),
            ),
            (
                vec![change("sub/b", Some(""))],
                Some("both a file and a directory"),
            ),
            (
                vec![change("d", Some(""))],
                Some("both a file and a directory"),
            ),
            (vec![change("sub", Some(""))], Some("submodule")),
            (vec![change("gone", None)], Some("does not exist")),
            (
                vec![change("a", Some("")), change("a", None)],
                Some("twice"),
            ),
            (vec![change("../a", Some(""))], Some("`..`")),
            (vec![change("d/.GIT/config", Some(""))], Some(".git")),
            (vec![change("/etc/x", Some(""))], Some("absolute")),
            (vec![change("a", None), change("a/b", Some(""))], None),
            (vec![change("d/e", None), change("d", Some(""))], None),
            (
                vec![change("d/e", Some("")), change("new/x", Some(""))],
                None,
            ),
            (vec![change("link", Some(""))], None),
        ] {
            let planned = plan(&tree, &changes);
            match (rule, &planned) {
                (None, Ok(_)) => {}
                (Some(rule), Err(error)) => {
                    assert!(error.to_string().contains(rule), "{changes:?}: {error}");
                }
                _ => panic!("{changes:?}: {planned:?}"),
            }
        }
        let changes = [change("d/e", Some("")), change("link", Some(""))];
        let modes = plan(&tree, &changes).unwrap();
        assert_eq!(
            (modes["d/e"], modes["link"]),
            (Kind::Executable, Kind::Regular)
        );
    }
}
