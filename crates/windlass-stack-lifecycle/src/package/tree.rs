//! Files of a folder, in an order that does not depend on the disk, never from outside the
//! project.

use std::path::{Path, PathBuf};

use fs_err as fs;

/// Folders nobody packages: history, caches, virtual environments.
const NEVER: [&str; 9] = [
    ".git",
    ".hg",
    ".windlass",
    ".stacktape",
    "__pycache__",
    ".venv",
    ".mypy_cache",
    ".pytest_cache",
    ".DS_Store",
];

/// What becomes of symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// What they lead to takes their place; it must be in the project.
    Followed,
    /// They stay links.
    Kept,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A file.
    File {
        /// Where its contents are.
        source: PathBuf,
        /// Whether it may be run.
        executable: bool,
    },
    /// A link.
    Link {
        /// Where it leads.
        target: String,
    },
}

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Below the folder, with `/`.
    pub path: String,
    /// What it is.
    pub node: Node,
}

/// A walk through a folder.
pub struct Walk<'a> {
    /// Nothing outside is ever read. Canonical.
    pub project: &'a Path,
    /// What becomes of symbolic links.
    pub links: Links,
    /// Which paths below the folder are looked at; a folder that is not is not entered.
    pub wanted: &'a dyn Fn(&str, Kind) -> bool,
}

/// What a path is, before it is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file.
    File,
}

/// Whether a path has a folder nobody packages.
pub(crate) fn is_never_packaged(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| NEVER.contains(&name))
}

impl Walk<'_> {
    /// All files below a folder, sorted by path; the failure is a sentence.
    pub fn files(&self, folder: &Path) -> Result<Vec<Found>, String> {
        let mut found = Vec::new();
        let start = fs::canonicalize(folder).map_err(|error| error.to_string())?;
        self.enter(&start, "", &mut vec![start.clone()], &mut found)?;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn enter(
        &self,
        folder: &Path,
        prefix: &str,
        above: &mut Vec<PathBuf>,
        found: &mut Vec<Found>,
    ) -> Result<(), String> {
        for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(format!(
                    "the name of {} is not UTF-8",
                    entry.path().display()
                ));
            };
            let path = match prefix {
                "" => name.to_owned(),
                _ => format!("{prefix}/{name}"),
            };
            let kind = entry.file_type().map_err(|error| error.to_string())?;
            if kind.is_symlink() {
                self.link(&entry.path(), path, above, found)?;
            } else if kind.is_dir() {
                if (self.wanted)(&path, Kind::Folder) {
                    above.push(entry.path());
                    self.enter(&entry.path(), &path, above, found)?;
                    above.pop();
                }
            } else if (self.wanted)(&path, Kind::File) {
                found.push(file(path, &entry.path())?);
            }
        }
        Ok(())
    }

    fn link(
        &self,
        link: &Path,
        path: String,
        above: &mut Vec<PathBuf>,
        found: &mut Vec<Found>,
    ) -> Result<(), String> {
        if self.links == Links::Kept {
            if (self.wanted)(&path, Kind::File) {
                let target = fs::read_link(link).map_err(|error| error.to_string())?;
                let target = target.to_string_lossy().into_owned();
                found.push(Found {
                    path,
                    node: Node::Link { target },
                });
            }
            return Ok(());
        }
        // What is not wanted may lead anywhere.
        let target = fs::canonicalize(link);
        let kind = match &target {
            Ok(target) if target.is_dir() => Kind::Folder,
            _ => Kind::File,
        };
        if !(self.wanted)(&path, kind) {
            return Ok(());
        }
        let Ok(target) = target else {
            return Err(format!("the link {path} leads nowhere"));
        };
        if !target.starts_with(self.project) {
            return Err(format!("the link {path} leads out of the project"));
        }
        match kind {
            Kind::File => found.push(file(path, &target)?),
            // A link to a folder it is in would never end.
            Kind::Folder if above.contains(&target) => {
                return Err(format!("the link {path} leads to a folder it is in"));
            }
            Kind::Folder => {
                above.push(target.clone());
                self.enter(&target, &path, above, found)?;
                above.pop();
            }
        }
        Ok(())
    }
}

/// A regular file as it was found.
pub(crate) fn file(path: String, source: &Path) -> Result<Found, String> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = fs::metadata(source).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err(format!("{path} is neither a file nor a folder"));
    }
    Ok(Found {
        path,
        node: Node::File {
            source: source.to_owned(),
            executable: metadata.permissions().mode() & 0o111 != 0,
        },
    })
}

/// A path of a config: below `base`, and inside the project wherever links lead.
pub(crate) fn inside(project: &Path, base: &Path, written: &str) -> Result<PathBuf, String> {
    let place =
        fs::canonicalize(base.join(written)).map_err(|_| format!("there is no {written}"))?;
    if place.starts_with(project) {
        Ok(place)
    } else {
        Err(format!("{written} is outside the project"))
    }
}
