//! Where a destination really is, and what has to happen before a file can be there.
//!
//! Symbolic links are looked at here and nowhere else. A directory between a root and a file may
//! be a link only if it stays inside the root. A destination that is a link is written through to
//! where it leads, if that is inside the user's home, the project or the root; the link itself is
//! never replaced. A root may be a link: it is the directory the user named. Links of a project
//! keep to its rule besides.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    fs::Metadata,
    io,
    path::{Path, PathBuf},
};

use windlass_pack_model::fault::{self, is_absent};
use windlass_types::Problem;

use crate::{
    links::LinkRule,
    state::lock::{LockedRoot, real_path},
};

/// A link that leads to a link that leads to a link: this many and no more.
const LINK_LIMIT: usize = 40;

/// Where a destination is.
#[derive(Debug)]
pub(crate) struct Destination {
    /// The path with every link resolved.
    pub(crate) real: PathBuf,
    /// What is there.
    pub(crate) found: Found,
    /// The directory for the staged file, when the destination's own is not there yet and cannot
    /// be made before the removals.
    pub(crate) staged_in: Option<PathBuf>,
    /// The grove it is in.
    pub(crate) grove: Option<usize>,
    /// The text of the link at the planned path.
    pub(crate) link: Option<PathBuf>,
}

/// What is at a destination.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// A regular file.
    File(Metadata),
    /// A directory.
    Directory,
    /// Something that pack neither writes nor removes.
    Special,
}

/// A directory between a root and a file, itself included.
#[derive(Clone, Debug)]
struct Directory {
    real: PathBuf,
    root: usize,
    presence: Presence,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Presence {
    /// It is there.
    There,
    /// It is made as part of a grove.
    Early(usize),
    /// It will be made after the removals; until then its files are staged here.
    Late(PathBuf),
}

/// Resolves the destinations of one transaction.
pub(crate) struct Resolver {
    roots: Vec<LockedRoot>,
    by_path: HashMap<PathBuf, usize>,
    bases: Vec<PathBuf>,
    links: LinkRule,
    removed: HashSet<PathBuf>,
    directories: HashMap<PathBuf, Directory>,
    last: Option<(PathBuf, Directory)>,
    /// Directories to make before the removals, parents first, each with its grove.
    pub(crate) early: Vec<(PathBuf, usize)>,
    /// Groves: missing directories whose parent is there, with everything to be made in them.
    pub(crate) groves: Vec<PathBuf>,
    grove_of: HashMap<OsString, usize>,
    /// Directories to make after the removals, parents first.
    pub(crate) late: Vec<PathBuf>,
}

impl Resolver {
    /// `write_through`: where links may lead; `links`: where those of a project may. `removed`: the paths the transaction removes.
    pub(crate) fn new(
        roots: Vec<LockedRoot>,
        write_through: &[PathBuf],
        links: LinkRule,
        removed: HashSet<PathBuf>,
    ) -> Self {
        Self {
            by_path: roots
                .iter()
                .enumerate()
                .map(|(index, root)| (root.root.clone(), index))
                .collect(),
            roots,
            bases: write_through
                .iter()
                .filter_map(|base| base.canonicalize().ok())
                .collect(),
            links,
            removed,
            directories: HashMap::new(),
            last: None,
            early: Vec::new(),
            groves: Vec::new(),
            grove_of: HashMap::new(),
            late: Vec::new(),
        }
    }

    /// Resolves one.
    pub(crate) fn resolve(&mut self, path: &Path) -> Result<Destination, Problem> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(outside(path));
        };
        let directory = match &self.last {
            // Compared as text: this happens for every file.
            Some((last, directory)) if last.as_os_str() == parent.as_os_str() => directory.clone(),
            _ => {
                let directory = self.directory(parent, path)?;
                self.last = Some((parent.to_owned(), directory.clone()));
                directory
            }
        };
        let real = directory.real.join(name);
        let destination = |found| Destination {
            real: real.clone(),
            found,
            staged_in: None,
            grove: None,
            link: None,
        };
        match directory.presence {
            Presence::Early(grove) => Ok(Destination {
                grove: Some(grove),
                ..destination(Found::Nothing)
            }),
            Presence::Late(staged_in) => Ok(Destination {
                staged_in: Some(staged_in),
                ..destination(Found::Nothing)
            }),
            Presence::There => match std::fs::symlink_metadata(&real) {
                Ok(metadata) if metadata.is_symlink() => self.follow(path, &real, directory.root),
                Ok(metadata) => Ok(destination(found(metadata))),
                Err(error) if is_absent(&error) => Ok(destination(Found::Nothing)),
                Err(error) => Err(fault::io("look at", &real, &error)),
            },
        }
    }

    /// Whether the transaction removes this file.
    pub(crate) fn removes(&self, path: &Path) -> bool {
        self.removed.contains(path)
    }

    /// A directory and everything above it, up to its root.
    fn directory(&mut self, path: &Path, file: &Path) -> Result<Directory, Problem> {
        if let Some(known) = self.directories.get(path) {
            return Ok(known.clone());
        }
        let directory = match self.by_path.get(path) {
            Some(&root) => self.root_directory(root)?,
            None => {
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(outside(file));
                };
                let above = self.directory(parent, file)?;
                let real = above.real.join(name);
                match above.presence {
                    Presence::Early(grove) => self.make_early(real, above.root, grove),
                    Presence::Late(staged_in) => self.make_late(real, above.root, staged_in),
                    Presence::There => self.look(path, real, above)?,
                }
            }
        };
        self.directories.insert(path.to_owned(), directory.clone());
        Ok(directory)
    }

    fn root_directory(&mut self, index: usize) -> Result<Directory, Problem> {
        self.links.check(&self.roots[index].root)?;
        let real = self.roots[index].real.clone();
        match std::fs::metadata(&real) {
            Ok(metadata) if metadata.is_dir() => {
                return Ok(Directory {
                    real,
                    root: index,
                    presence: Presence::There,
                });
            }
            Ok(_) => return Err(not_a_directory(&real)),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(fault::io("look at", &real, &error)),
        }
        let mut missing = vec![real.clone()];
        for directory in real.ancestors().skip(1) {
            match std::fs::metadata(directory) {
                Ok(metadata) if metadata.is_dir() => break,
                Ok(_) => return Err(not_a_directory(directory)),
                Err(error) if is_absent(&error) => missing.push(directory.to_owned()),
                Err(error) => return Err(fault::io("look at", directory, &error)),
            }
        }
        let grove = self.grove(missing.last().unwrap_or(&real));
        let above = missing.into_iter().rev().map(|path| (path, grove));
        self.early.extend(above);
        Ok(Directory {
            real,
            root: index,
            presence: Presence::Early(grove),
        })
    }

    /// The grove of a missing directory whose parent is there; two roots may share it.
    fn grove(&mut self, directory: &Path) -> usize {
        let next = self.groves.len();
        let name = directory.as_os_str().to_owned();
        let index = *self.grove_of.entry(name).or_insert(next);
        if index == next {
            self.groves.push(directory.to_owned());
        }
        index
    }

    fn make_early(&mut self, real: PathBuf, root: usize, grove: usize) -> Directory {
        // Reached from two roots it is listed twice, which does no harm.
        self.early.push((real.clone(), grove));
        Directory {
            real,
            root,
            presence: Presence::Early(grove),
        }
    }

    fn make_late(&mut self, real: PathBuf, root: usize, staged_in: PathBuf) -> Directory {
        self.late.push(real.clone());
        Directory {
            real,
            root,
            presence: Presence::Late(staged_in),
        }
    }

    fn look(&mut self, path: &Path, real: PathBuf, above: Directory) -> Result<Directory, Problem> {
        let there = |real| Directory {
            real,
            root: above.root,
            presence: Presence::There,
        };
        let metadata = match std::fs::symlink_metadata(&real) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => {
                let grove = self.grove(&real);
                return Ok(self.make_early(real, above.root, grove));
            }
            Err(error) => return Err(fault::io("look at", &real, &error)),
        };
        if metadata.is_dir() {
            return Ok(there(real));
        }
        if metadata.is_symlink() {
            let target = real
                .canonicalize()
                .map_err(|error| fault::io("follow", &real, &error))?;
            let root = &self.roots[above.root].real;
            if !target.starts_with(root) {
                return Err(fault::config_invalid(format!(
                    "{} is a symbolic link that leaves its root {}: it leads to {}. Replace the link by a directory, or name the directory it leads to as the root",
                    path.display(),
                    root.display(),
                    target.display()
                ))
                .with("path", path.display().to_string())
                .with("root", root.display().to_string())
                .with("link_target", target.display().to_string()));
            }
            self.links.check(path)?;
            return if target.is_dir() {
                Ok(there(target))
            } else {
                Err(not_a_directory(&real))
            };
        }
        if self.removed.contains(path) {
            return Ok(self.make_late(real, above.root, above.real));
        }
        Err(not_a_directory(&real))
    }

    /// A destination that is a symbolic link.
    fn follow(&self, path: &Path, link: &Path, root: usize) -> Result<Destination, Problem> {
        let text = std::fs::read_link(link).map_err(|error| fault::io("read", link, &error))?;
        let real = end_of(link).map_err(|error| fault::io("follow", link, &error))?;
        let allowed = |base: &PathBuf| real.starts_with(base);
        if self.links.is_in_project(path) {
            self.links.check(path)?;
        } else if !allowed(&self.roots[root].real) && !self.bases.iter().any(allowed) {
            return Err(fault::invalid_path(format!(
                "{} is a symbolic link to {}, which is outside the home and the project, so it is not written. Remove the link, or let it lead inside",
                path.display(),
                real.display()
            ))
            .with("path", path.display().to_string())
            .with("link_target", real.display().to_string()));
        }
        let found = match std::fs::symlink_metadata(&real) {
            Ok(metadata) => found(metadata),
            Err(error) if is_absent(&error) => Found::Nothing,
            Err(error) => return Err(fault::io("look at", &real, &error)),
        };
        Ok(Destination {
            real,
            found,
            staged_in: None,
            grove: None,
            link: Some(text),
        })
    }
}

/// Where a chain of links ends, even if nothing is there.
pub(crate) fn end_of(link: &Path) -> io::Result<PathBuf> {
    let mut path = link.to_owned();
    for _ in 0..LINK_LIMIT {
        match path.canonicalize() {
            Err(error) if is_absent(&error) => {}
            found => return found,
        }
        match std::fs::read_link(&path) {
            Ok(text) => {
                let parent = path.parent().unwrap_or(Path::new("/"));
                path = parent.join(text);
            }
            Err(_) => {
                // Nothing is there: the directory must be, or nothing can be written.
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(io::ErrorKind::NotFound.into());
                };
                return Ok(real_path(parent)?.join(name));
            }
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

fn found(metadata: Metadata) -> Found {
    if metadata.is_file() {
        Found::File(metadata)
    } else if metadata.is_dir() {
        Found::Directory
    } else {
        Found::Special
    }
}

fn outside(path: &Path) -> Problem {
    fault::config_invalid(format!(
        "{} is not inside a root of this run, so it is not touched",
        path.display()
    ))
    .with("path", path.display().to_string())
}

fn not_a_directory(path: &Path) -> Problem {
    fault::unexpected(
        "io_error",
        &["fix_path", "retry_command"],
        format!(
            "{} is not a directory, and files are to be written below it. Move it away and try again",
            path.display()
        ),
    )
    .with("path", path.display().to_string())
}
