//! The directories of a session, opened once. A path of a call is found beneath one of them.
//!
//! A path is taken apart as text, so `..` never reaches the system, and the rest is walked by
//! descriptors that follow no link (windlass-files). What was checked is what is used.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use windlass_files::{Directory, FileError};

use crate::{Code, Failure, protected};

/// Longer paths are refused by systems anyway.
const LONGEST: usize = 4_096;
/// Directories whose files are doors to other things.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The directories of a session.
#[derive(Debug)]
pub struct Places {
    roots: Vec<Root>,
    home: PathBuf,
    own_home: PathBuf,
}

/// A directory that is open.
#[derive(Debug)]
pub(crate) struct Root {
    pub directory: Directory,
    /// As the session named it, where that differs from its real path.
    spelled: PathBuf,
    may_write: bool,
}

/// Where a path of a call is.
#[derive(Debug)]
pub(crate) struct Located<'a> {
    /// Absolute, without `.` and `..`.
    pub absolute: PathBuf,
    inside: Option<(&'a Root, PathBuf)>,
}

/// The open directory that has something, and its name there.
#[derive(Debug)]
pub(crate) struct Held {
    pub parent: Directory,
    pub name: PathBuf,
    pub absolute: PathBuf,
}

impl Places {
    /// Opens the work tree. `home` is the user's, `own_home` is Windlass's.
    pub fn open(work_tree: &Path, home: &Path, own_home: &Path) -> Result<Self, FileError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self {
            roots: vec![Root::open(work_tree, true)?],
            home: real(home),
            own_home: real(own_home),
        })
    }

    /// And another directory that may be written, such as a temporary one.
    pub fn and_scratch(mut self, path: &Path) -> Result<Self, FileError> {
        self.roots.push(Root::open(path, true)?);
        Ok(self)
    }

    /// And another directory that may be read, such as the one with long outputs.
    pub fn and_readable(mut self, path: &Path) -> Result<Self, FileError> {
        self.roots.push(Root::open(path, false)?);
        Ok(self)
    }

    /// The real path of the work tree, where relative paths start.
    pub fn work_tree(&self) -> &Path {
        self.roots
            .first()
            .map_or(Path::new("/"), |root| root.directory.path())
    }

    /// Finds a path as a model wrote it. Opens nothing.
    pub(crate) fn locate(&self, text: &str) -> Result<Located<'_>, Failure> {
        let refuse = |why: &str| Err(Failure::new(Code::InvalidPath, format!("{text:?} {why}.")));
        if text.is_empty() {
            return refuse("is empty");
        }
        if text.len() > LONGEST {
            return Err(Failure::new(Code::InvalidPath, "The path is too long."));
        }
        if text.chars().any(char::is_control) {
            return refuse("has control characters");
        }
        let path = match text.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(rest.trim_start_matches('/')),
            _ => self.work_tree().join(text),
        };
        let absolute = plain(&path);
        let inside = self.roots.iter().find_map(|root| {
            let below = absolute
                .strip_prefix(root.directory.path())
                .or_else(|_| absolute.strip_prefix(&root.spelled))
                .ok()?;
            Some((root, below.to_owned()))
        });
        let absolute = match &inside {
            Some((root, below)) => plain(&root.directory.path().join(below)),
            None => absolute,
        };
        Ok(Located { absolute, inside })
    }

    /// The same for a path that is to be made, changed or removed.
    pub(crate) fn locate_to_write(&self, text: &str) -> Result<Located<'_>, Failure> {
        let located = self.locate(text)?;
        let refuse = |why: String| Err(Failure::new(Code::InvalidPath, why));
        let shown = located.absolute.display();
        let Some((root, below)) = located.inside.as_ref().filter(|(root, _)| root.may_write) else {
            return refuse(format!(
                "{shown} is outside the work tree ({}). Files are written only inside it.",
                self.work_tree().display()
            ));
        };
        if below.as_os_str().is_empty() {
            return refuse(format!("{shown} is the work tree itself."));
        }
        match self.protected(root.directory.path(), below) {
            Some(why) => refuse(format!("{shown} is not written. {why}")),
            None => Ok(located),
        }
    }

    /// Why a path below a root must stay as it is.
    pub(crate) fn protected(&self, root: &Path, below: &Path) -> Option<String> {
        protected::why(root, below, &self.home, &self.own_home)
    }
}

impl Root {
    fn open(path: &Path, may_write: bool) -> Result<Self, FileError> {
        let spelled = plain(path);
        let real = path.canonicalize().unwrap_or_else(|_| spelled.clone());
        Ok(Self {
            directory: Directory::open(&real)?,
            spelled,
            may_write,
        })
    }
}

impl Located<'_> {
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// The path as policy compares it.
    pub(crate) fn text(&self) -> String {
        self.absolute.display().to_string()
    }

    /// The root and the path below it, of a path inside.
    pub(crate) fn below(&self) -> Option<(&Directory, &Path)> {
        let (root, below) = self.inside.as_ref()?;
        Some((&root.directory, below))
    }

    /// Opens the directory that has it. A path outside is opened only where the call may read there.
    pub(crate) fn hold(&self, may_read_outside: bool) -> Result<Held, Failure> {
        let opened = |error| Failure::of_file(error, Code::ReadError);
        let name = self.absolute.file_name().map(OsString::from);
        let held = |parent, name: OsString| Held {
            parent,
            name: PathBuf::from(name),
            absolute: self.absolute.clone(),
        };
        let Some((root, below)) = &self.inside else {
            self.outside(may_read_outside)?;
            let above = self.absolute.parent().unwrap_or(Path::new("/"));
            let parent = Directory::open_exact(above).map_err(opened)?;
            return Ok(held(parent, name.unwrap_or_else(|| ".".into())));
        };
        let Some(name) = below.file_name() else {
            let same = root.directory.directory(Path::new(".")).map_err(opened)?;
            return Ok(held(same, ".".into()));
        };
        let above = Some(below.parent().unwrap_or(Path::new("")))
            .filter(|above| !above.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let parent = root.directory.directory(above).map_err(opened)?;
        Ok(held(parent, name.to_owned()))
    }

    fn outside(&self, may_read: bool) -> Result<(), Failure> {
        let shown = self.absolute.display();
        let why = if !may_read {
            "is outside the directories of this session"
        } else if SPECIAL.iter().any(|root| self.absolute.starts_with(root)) {
            "is no plain file but a door to the system; use a command"
        } else {
            return Ok(());
        };
        Err(Failure::new(Code::InvalidPath, format!("{shown} {why}.")))
    }
}

/// The path with `.`, `..` and doubled slashes resolved as text.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
