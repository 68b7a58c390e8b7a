//! The scratch directory: the only place the demo can touch, opened as a capability.
//!
//! Every access goes through the one writer of files, which leaves the directory by no `..`,
//! absolute path or symbolic link.

use std::{
    io::ErrorKind,
    path::{Component, Path},
};

use windlass_files::{Access, Directory, FileError};
use windlass_types::{Problem, Shortage, code};

const LARGEST_FILE: u64 = 1 << 20;

/// A directory and nothing above it.
pub(crate) struct Scratch {
    dir: Directory,
    path: String,
}

impl Scratch {
    /// Opens an existing directory.
    pub(crate) fn open(path: &str) -> Result<Self, Problem> {
        let missing = |error: std::io::Error| {
            let message = format!("the directory {path:?} cannot be opened: {error}");
            match Shortage::of_io(&error) {
                Some(shortage) => {
                    shortage.note(Problem::new(&code::STEP_FAILED, message).with("field", "dir"))
                }
                None => Problem::new(&code::NOT_FOUND, message)
                    .with("field", "dir")
                    .next(format!("mkdir -p {path}")),
            }
        };
        let absolute = Path::new(path).canonicalize().map_err(missing)?;
        let dir = Directory::open_exact(&absolute).map_err(|error| missing(error.into()))?;
        let path = absolute
            .to_str()
            .ok_or_else(|| {
                Problem::invalid("dir", "utf-8", "the directory's path is not valid UTF-8")
            })?
            .to_owned();
        Ok(Self { dir, path })
    }

    /// Opens the directory of a plan, whose path has no symbolic links. One that has now leads
    /// somewhere that no rule was asked about.
    pub(crate) fn open_planned(path: &str) -> Result<Self, Problem> {
        let opened = Self::open(path)?;
        if opened.path == path {
            return Ok(opened);
        }
        let message = format!(
            "the directory {path:?} was replaced: it leads to {:?}",
            opened.path
        );
        Err(Problem::new(&code::PATH_ESCAPE, message).with("field", "dir"))
    }

    /// The absolute path.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A file's content, or none when there is no such file.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Problem> {
        self.check(path)?;
        self.dir
            .read(Path::new(path), LARGEST_FILE)
            .map_err(|error| refuse(path, "read", error))
    }

    /// The parent directories of a path that do not exist yet, outermost first.
    pub(crate) fn missing_parents(&self, path: &str) -> Result<Vec<String>, Problem> {
        self.check(path)?;
        let mut missing: Vec<String> = Path::new(path)
            .ancestors()
            .skip(1)
            .filter(|parent| {
                !parent.as_os_str().is_empty() && !matches!(self.dir.kind(parent), Ok(Some(_)))
            })
            .filter_map(|parent| parent.to_str().map(str::to_owned))
            .collect();
        missing.reverse();
        Ok(missing)
    }

    /// Replaces a file atomically. `temp` names the temporary file, the same on every attempt,
    /// so that one that died leaves nothing behind that the next one does not replace.
    pub(crate) fn write(&self, path: &str, content: &[u8], temp: &str) -> Result<(), Problem> {
        self.check(path)?;
        self.dir
            .write_by(Path::new(path), content, Access::Usual, &temp_name(temp))
            .map_err(|error| refuse(path, "write", error))
    }

    /// Removes a file; removing what is gone is fine.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Problem> {
        self.check(path)?;
        self.dir
            .remove_file(Path::new(path))
            .and_then(|_| self.dir.flush(Path::new(path)))
            .map_err(|error| refuse(path, "remove", error))
    }

    /// Removes directories that are empty, innermost first; others stay.
    pub(crate) fn remove_empty(&self, directories: &[String]) {
        for directory in directories.iter().rev() {
            // Not empty means that something else was put there, which is kept.
            let _ = self.dir.remove_directory(Path::new(directory));
        }
    }

    /// Refuses paths that are not plainly inside, and those in which something is a symbolic link,
    /// so that a plan means what it says.
    fn check(&self, path: &str) -> Result<(), Problem> {
        let escape = |why: &str| {
            Err(Problem::new(&code::PATH_ESCAPE, format!("{path:?} {why}"))
                .with("field", "files")
                .with("path", path))
        };
        let plain = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        // Spelled in another way than its components: a trailing slash, `a/./b`, `a//b`.
        let spelled = Path::new(path)
            .components()
            .collect::<std::path::PathBuf>()
            .as_os_str()
            == path;
        if path.is_empty() || path.contains('\0') || !plain || !spelled {
            return escape("is not a plain relative path");
        }
        // Other failures are told by what is done with it.
        if let Err(FileError::Link { .. }) = self.dir.check(Path::new(path)) {
            return escape("goes through a symbolic link");
        }
        Ok(())
    }
}

fn temp_name(key: &str) -> String {
    format!(".windlass-{}.tmp", &key[..key.len().min(16)])
}

fn refuse(path: &str, verb: &str, error: FileError) -> Problem {
    let error = match error {
        FileError::Io { source, .. } => source,
        FileError::NotAFile { .. } => {
            let message = format!("{path:?} is not a regular file");
            return Problem::invalid("files", "regular file", message);
        }
        other => return other.into_problem(|error| Problem::internal("scratch", error)),
    };
    match error.kind() {
        ErrorKind::FileTooLarge => {
            Problem::invalid("files", "size", format!("{path:?} is larger than 1 MiB"))
        }
        ErrorKind::StorageFull => {
            Problem::new(&code::STORE_FULL, format!("no space to {verb} {path:?}"))
                .with("path", path)
        }
        _ => {
            let problem = Problem::new(
                &code::STEP_FAILED,
                format!("cannot {verb} {path:?}: {error}"),
            )
            .with("path", path);
            match Shortage::of_io(&error) {
                Some(shortage) => shortage.note(problem),
                None => problem,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_paths_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let inside = home.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        std::os::unix::fs::symlink(home.path(), inside.join("link")).unwrap();
        let scratch = Scratch::open(inside.to_str().unwrap()).unwrap();
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/..",
            "./a",
            "a/./b",
            "a//b",
            "link",
            "link/x",
            "a\0b",
            "a/",
        ] {
            let error = scratch.write(path, b"x", "key").unwrap_err();
            assert_eq!(error.code().name, "PATH_ESCAPE", "{path:?}: {error}");
        }
        assert!(!home.path().join("x").exists());
    }

    #[test]
    fn writes_replace_and_leave_no_temporary_file() {
        let home = tempfile::tempdir().unwrap();
        let scratch = Scratch::open(home.path().to_str().unwrap()).unwrap();
        scratch.write("a/b/c.txt", b"1", "key").unwrap();
        scratch.write("a/b/c.txt", b"2", "key").unwrap();
        assert_eq!(scratch.read("a/b/c.txt").unwrap().unwrap(), b"2");
        assert_eq!(
            std::fs::read_dir(home.path().join("a/b")).unwrap().count(),
            1
        );
        scratch.remove("a/b/c.txt").unwrap();
        scratch.remove("a/b/c.txt").unwrap();
        scratch.remove_empty(&["a".into(), "a/b".into()]);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }
}
