//! The scratch directory: the only place the demo can touch, opened as a capability.
//!
//! Every access goes through one directory handle that refuses to leave the directory, by `..`,
//! absolute path or symbolic link. Writes are temp file → fsync → rename.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    path::{Component, Path},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use windlass_types::{Problem, code};

const LARGEST_FILE: u64 = 1 << 20;

/// A directory and nothing above it.
pub(crate) struct Scratch {
    dir: Dir,
    path: String,
}

impl Scratch {
    /// Opens an existing directory.
    pub(crate) fn open(path: &str) -> Result<Self, Problem> {
        let missing = |error: std::io::Error| {
            Problem::new(
                &code::NOT_FOUND,
                format!("the directory {path:?} cannot be opened: {error}"),
            )
            .with("field", "dir")
            .next(format!("mkdir -p {path}"))
        };
        let absolute = Path::new(path).canonicalize().map_err(missing)?;
        let dir = Dir::open_ambient_dir(&absolute, ambient_authority()).map_err(missing)?;
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
        let file = match self.dir.open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refuse(path, "read", &error)),
        };
        let size = file
            .metadata()
            .map_err(|error| refuse(path, "read", &error))?;
        if !size.is_file() {
            return Err(Problem::invalid(
                "files",
                "regular file",
                format!("{path:?} is not a regular file"),
            ));
        }
        if size.len() > LARGEST_FILE {
            return Err(Problem::invalid(
                "files",
                "size",
                format!("{path:?} is larger than 1 MiB"),
            ));
        }
        let mut content = Vec::new();
        file.take(LARGEST_FILE + 1)
            .read_to_end(&mut content)
            .map_err(|error| refuse(path, "read", &error))?;
        Ok(Some(content))
    }

    /// The parent directories of a path that do not exist yet, outermost first.
    pub(crate) fn missing_parents(&self, path: &str) -> Result<Vec<String>, Problem> {
        self.check(path)?;
        let mut missing: Vec<String> = Path::new(path)
            .ancestors()
            .skip(1)
            .filter(|parent| !parent.as_os_str().is_empty() && !self.dir.exists(parent))
            .filter_map(|parent| parent.to_str().map(str::to_owned))
            .collect();
        missing.reverse();
        Ok(missing)
    }

    /// Replaces a file atomically. `temp` names the temporary file, the same on every attempt,
    /// so that one that died leaves nothing behind that the next one does not replace.
    pub(crate) fn write(&self, path: &str, content: &[u8], temp: &str) -> Result<(), Problem> {
        self.check(path)?;
        let failed = |error: std::io::Error| refuse(path, "write", &error);
        let parent = Path::new(path)
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            self.dir.create_dir_all(parent).map_err(failed)?;
        }
        let temp_path = parent.unwrap_or(Path::new("")).join(temp_name(temp));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let mut file = self.dir.open_with(&temp_path, &options).map_err(failed)?;
        file.write_all(content)
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        self.dir
            .rename(&temp_path, &self.dir, path)
            .map_err(failed)?;
        self.sync(parent).map_err(failed)
    }

    /// Removes a file; removing what is gone is fine.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Problem> {
        self.check(path)?;
        match self.dir.remove_file(path) {
            Ok(()) => {
                let parent = Path::new(path)
                    .parent()
                    .filter(|parent| !parent.as_os_str().is_empty());
                self.sync(parent)
                    .map_err(|error| refuse(path, "remove", &error))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(refuse(path, "remove", &error)),
        }
    }

    /// Removes directories that are empty, innermost first; others stay.
    pub(crate) fn remove_empty(&self, directories: &[String]) {
        for directory in directories.iter().rev() {
            // Not empty means that something else was put there, which is kept.
            let _ = self.dir.remove_dir(directory);
        }
    }

    /// Makes a rename or removal durable.
    fn sync(&self, parent: Option<&Path>) -> std::io::Result<()> {
        // Opened as a file: the handle of a directory capability cannot be flushed.
        self.dir.open(parent.unwrap_or(Path::new(".")))?.sync_all()
    }

    /// Refuses paths that are not plainly inside. The directory handle would refuse to leave as
    /// well; symbolic links that stay inside are refused too, so that a plan means what it says.
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
        for part in Path::new(path)
            .ancestors()
            .filter(|part| !part.as_os_str().is_empty())
        {
            if self
                .dir
                .symlink_metadata(part)
                .is_ok_and(|found| found.is_symlink())
            {
                return escape("goes through a symbolic link");
            }
        }
        Ok(())
    }
}

fn temp_name(key: &str) -> String {
    format!(".windlass-{}.tmp", &key[..key.len().min(16)])
}

fn refuse(path: &str, verb: &str, error: &std::io::Error) -> Problem {
    match error.kind() {
        // What cap-std answers when a path would leave the directory.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Problem::new(
            &code::PATH_ESCAPE,
            format!("{path:?} leads out of the directory"),
        )
        .with("path", path),
        ErrorKind::StorageFull => {
            Problem::new(&code::STORE_FULL, format!("no space to {verb} {path:?}"))
                .with("path", path)
        }
        _ => Problem::new(
            &code::STEP_FAILED,
            format!("cannot {verb} {path:?}: {error}"),
        )
        .with("path", path),
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
