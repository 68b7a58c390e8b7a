//! What is done to destinations: each by the descriptor of its directory, which is opened through
//! no link. Paths are those the transaction resolved; one that leads elsewhere by now is refused.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use windlass_files::{Access, Directory, FileError};
use windlass_pack_model::fault::is_absent;

/// Makes a directory that must not be there yet.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    with(path, Directory::create_directory)
}

/// Makes a directory and everything above it that is missing.
pub(crate) fn create_dirs(path: &Path) -> io::Result<()> {
    let there = |path: &&Path| std::fs::symlink_metadata(path).is_ok();
    let existing = path.ancestors().find(there).unwrap_or(Path::new("/"));
    let opened = Directory::open_exact(existing).map_err(FileError::into_source)?;
    match path.strip_prefix(existing) {
        Ok(rest) if !rest.as_os_str().is_empty() => opened
            .make_directory(rest, Access::Usual)
            .map(drop)
            .map_err(FileError::into_source),
        _ => Ok(()),
    }
}

/// Removes a file; one that is not there is fine.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match with(path, Directory::remove_file) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file that is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match with(path, Directory::remove_file)? {
        true => Ok(()),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Removes a directory if it is empty. Says whether it is gone.
pub(crate) fn remove_empty_dir(path: &Path) -> io::Result<bool> {
    match with(path, Directory::remove_directory) {
        Ok(_) => Ok(true),
        Err(error) if is_absent(&error) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        // Some systems say so of a directory that is not empty.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a directory with everything in it; one that is not there is fine.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    match with(path, Directory::remove_tree) {
        Err(error) if !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Gives a file another name; what had it is replaced.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (to, to_name) = split(to)?;
    with(from, |from, name| from.rename(name, &to, &to_name))
}

/// Gives a file another name, which nothing may have yet.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (to, to_name) = split(to)?;
    with(from, |from, name| from.rename_new(name, &to, &to_name))
}

/// Makes a symbolic link.
pub(crate) fn link(text: &Path, path: &Path) -> io::Result<()> {
    with(path, |parent, name| parent.link(text, name))
}

/// The directories that were opened last, for a tree that is being made: its files are made one
/// after the other in the same ones. They stay the same directories under whatever name.
#[derive(Default)]
pub(crate) struct OpenDirectories(Vec<Directory>);

impl OpenDirectories {
    /// The newest is last.
    const MOST: usize = 4;

    /// Makes a file that must not be there yet.
    pub(crate) fn create_new(&mut self, path: &Path, mode: u32) -> io::Result<File> {
        let (parent, name) = self.split(path)?;
        parent
            .create_new(name, mode)
            .map_err(FileError::into_source)
    }

    /// Makes a directory that must not be there yet.
    pub(crate) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.split(path)?;
        parent
            .create_directory(name)
            .map_err(FileError::into_source)
    }

    fn split<'a>(&mut self, path: &'a Path) -> io::Result<(&Directory, &'a Path)> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        // Compared as text: this happens for every file.
        let known = |open: &Directory| open.path().as_os_str() == parent.as_os_str();
        let open = match self.0.iter().position(known) {
            Some(index) => self.0.remove(index),
            None => {
                if self.0.len() == Self::MOST {
                    self.0.remove(0);
                }
                Directory::open_exact(parent).map_err(FileError::into_source)?
            }
        };
        self.0.push(open);
        let open = self.0.last().ok_or(io::ErrorKind::NotFound)?;
        Ok((open, Path::new(name)))
    }
}

fn with<T>(
    path: &Path,
    act: impl FnOnce(&Directory, &Path) -> Result<T, FileError>,
) -> io::Result<T> {
    let (parent, name) = split(path)?;
    act(&parent, &name).map_err(FileError::into_source)
}

fn split(path: &Path) -> io::Result<(Directory, PathBuf)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = Directory::open_exact(parent).map_err(FileError::into_source)?;
    Ok((parent, PathBuf::from(name)))
}
