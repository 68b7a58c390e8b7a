//! The files of a commit, written as plain files without a checkout.
//!
//! No attribute, filter or line-end rule applies: what is written is what was committed. Names
//! and links come from outside and must not lead out of the directory, so directories are
//! made first, then files that must be new, then links; nothing is ever written through a link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use windlass_ports::git::{Exported, GitError, Refused};

use crate::foreign::check_object_id;
use crate::program::GitProgram;
use crate::query::{batch, entries, path};

/// How much content is held at a time.
const CHUNK: u64 = 64 << 20;
/// No host takes larger files into a repository.
const LARGEST: u64 = 512 << 20;

impl GitProgram {
    pub(crate) fn do_export(
        &self,
        bare: &Path,
        commit: &str,
        directory: &Path,
    ) -> Result<Exported, GitError> {
        check_object_id(commit)?;
        self.program()?;
        let entries = self.tree(bare, commit)?;
        for entry in &entries {
            entry.check()?;
        }
        let io = |source| GitError::Io {
            action: "write the files of the commit".to_owned(),
            source,
        };
        if directory.symlink_metadata().is_ok() {
            return Err(io(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} exists", directory.display()),
            )));
        }
        let parent = match directory.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        fs_err::create_dir_all(parent).map_err(io)?;
        // Next to its destination, so that the last step is one rename; removed on any failure.
        let temporary = tempfile::Builder::new()
            .prefix(".export-")
            .tempdir_in(parent)
            .map_err(io)?;
        let exported = self.write_tree_to(bare, &entries, temporary.path())?;
        fs_err::rename(temporary.path(), directory).map_err(io)?;
        // Nothing is left at the temporary path.
        let _ = temporary.keep();
        Ok(exported)
    }

    /// Everything below a commit, in path order.
    pub(crate) fn tree(&self, repo: &Path, commit: &str) -> Result<Vec<Entry>, GitError> {
        if !self.is_commit(repo, commit)? {
            return Err(GitError::Missing {
                what: "commit",
                name: commit.to_owned(),
                place: repo.display().to_string(),
            });
        }
        let output = self
            .isolated(repo)
            .args(["ls-tree", "-r", "-z", "-l", "--full-tree", commit])
            .output()?;
        Ok(entries(&output).filter_map(Entry::read).collect())
    }

    fn write_tree_to(
        &self,
        bare: &Path,
        entries: &[Entry],
        root: &Path,
    ) -> Result<Exported, GitError> {
        let io = |entry: &Entry| {
            let path = entry.path.display().to_string();
            move |source| GitError::Io {
                action: format!("write `{path}` of the commit"),
                source,
            }
        };
        let (submodules, mut contents): (Vec<&Entry>, Vec<&Entry>) = entries
            .iter()
            .partition(|entry| entry.kind == Kind::Submodule);
        // Links after everything else.
        contents.sort_by_key(|entry| entry.kind == Kind::Symlink);
        for directory in directories(&contents) {
            fs_err::create_dir(root.join(directory)).map_err(|source| GitError::Io {
                action: format!("create the directory `{}`", directory.display()),
                source,
            })?;
        }
        let mut bytes = 0;
        for chunk in chunks(&contents) {
            let input: Vec<u8> = chunk
                .iter()
                .flat_map(|entry| [entry.id.as_bytes(), b"\n"].concat())
                .collect();
            let output = self
                .isolated(bare)
                .args(["cat-file", "--batch"])
                .input(input)
                .output()?;
            let mut objects = batch(&output);
            for entry in chunk {
                let Some(Some((b"blob", content))) = objects.next() else {
                    return Err(GitError::Missing {
                        what: "content of",
                        name: entry.path.display().to_string(),
                        place: bare.display().to_string(),
                    });
                };
                entry
                    .write(&root.join(&entry.path), content)
                    .map_err(io(entry))?;
                bytes += content.len() as u64;
            }
        }
        Ok(Exported {
            files: contents.len(),
            bytes,
            submodules: submodules
                .into_iter()
                .map(|entry| entry.path.clone())
                .collect(),
        })
    }
}

/// What an entry is, as its mode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Regular,
    Executable,
    Symlink,
    Submodule,
}

/// One entry of a commit.
#[derive(Debug)]
pub(crate) struct Entry {
    pub path: PathBuf,
    pub kind: Kind,
    id: String,
    size: u64,
}

#[cfg(test)]
impl Entry {
    pub fn of(path: PathBuf, kind: Kind) -> Self {
        Self {
            path,
            kind,
            id: String::new(),
            size: 0,
        }
    }
}

impl Entry {
    /// `<mode> <type> <id> <size, padded>` tab `<path>`; the size of a submodule is `-`.
    fn read(entry: &[u8]) -> Option<Self> {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let mut words = std::str::from_utf8(&entry[..tab])
            .ok()?
            .split_ascii_whitespace();
        let kind = match words.next()? {
            "100755" => Kind::Executable,
            "120000" => Kind::Symlink,
            "160000" => Kind::Submodule,
            _ => Kind::Regular,
        };
        Some(Self {
            path: path(&entry[tab + 1..]),
            kind,
            id: words.nth(1)?.to_owned(),
            size: words.next()?.parse().unwrap_or(0),
        })
    }

    fn check(&self) -> Result<(), Refused> {
        check_tree_path(self.path.as_os_str())?;
        if self.size > LARGEST {
            return Err(Refused {
                what: "file of the commit",
                value: self.path.display().to_string(),
                rule: "it is larger than 512 MiB",
            });
        }
        Ok(())
    }

    fn write(&self, place: &Path, content: &[u8]) -> io::Result<()> {
        if self.kind == Kind::Symlink {
            return fs_err::os::unix::fs::symlink(OsStr::from_bytes(content), place);
        }
        let executable = self.kind == Kind::Executable;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(if executable { 0o755 } else { 0o644 })
            .open(place)?;
        file.write_all(content)
    }
}

/// Allows a path of a tree that stays below the tree's top and out of a repository's own files.
pub(crate) fn check_tree_path(path: &OsStr) -> Result<(), Refused> {
    let bytes = path.as_bytes();
    let mut parts = bytes.split(|byte| *byte == b'/');
    let rule = if bytes.is_empty() || bytes.starts_with(b"/") {
        "it is empty or absolute"
    } else if bytes.contains(&0) {
        "it contains a NUL"
    } else if parts.any(|part| matches!(part, b"" | b"." | b"..")) {
        "a part of it is empty, `.` or `..`"
    } else if bytes
        .split(|byte| *byte == b'/')
        .any(|part| part.eq_ignore_ascii_case(b".git"))
    {
        "it leads into `.git`"
    } else {
        return Ok(());
    };
    Err(Refused {
        what: "path of a commit",
        value: path.to_string_lossy().into_owned(),
        rule,
    })
}

/// Every directory that is needed, parents first.
fn directories<'a>(entries: &[&'a Entry]) -> BTreeSet<&'a Path> {
    entries
        .iter()
        .flat_map(|entry| entry.path.ancestors().skip(1))
        .filter(|directory| *directory != Path::new(""))
        .collect()
}

/// The entries in groups that fit into memory.
fn chunks<'a>(entries: &'a [&'a Entry]) -> Vec<&'a [&'a Entry]> {
    let mut chunks = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (at, entry) in entries.iter().enumerate() {
        if at > start && size + entry.size > CHUNK {
            chunks.push(&entries[start..at]);
            (start, size) = (at, 0);
        }
        size += entry.size;
    }
    if start < entries.len() {
        chunks.push(&entries[start..]);
    }
    chunks
}
