//! Removes a directory with everything in it, by descriptors: a link in it goes, what it leads to
//! stays.

use std::{ffi::OsStr, os::fd::AsFd as _, path::Path};

use rustix::fs::FileType;

use crate::{Directory, FileError, walk::kind_of};

/// Deeper trees are not made by anything here; the limit keeps the stack small.
const DEEPEST: usize = 256;

impl Directory {
    /// Removes a directory below this one with everything in it; one that is gone is fine. Says
    /// whether it was there.
    pub fn remove_tree(&self, below: &Path) -> Result<bool, FileError> {
        match self.kind(below)? {
            None => Ok(false),
            Some(FileType::Directory) => {
                self.directory(below)?.empty(DEEPEST)?;
                self.remove_directory(below)
            }
            Some(_) => self.remove_file(below),
        }
    }

    fn empty(&self, deeper: usize) -> Result<(), FileError> {
        for name in self.names()? {
            let path = Path::new(&name);
            match self.kind_here(&name)? {
                Some(FileType::Directory) if deeper > 0 => {
                    self.directory(path)?.empty(deeper - 1)?;
                    self.remove_directory(path)?;
                }
                _ => {
                    self.remove_file(path)?;
                }
            }
        }
        Ok(())
    }

    fn kind_here(&self, name: &OsStr) -> Result<Option<FileType>, FileError> {
        kind_of(self.fd().as_fd(), name)
            .map_err(|error| FileError::io("look at", &self.path().join(name), error))
    }
}
