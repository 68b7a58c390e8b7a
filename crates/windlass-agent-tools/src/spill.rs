//! Long output in files: whole, private, with secrets hidden.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use windlass_files::{Access, Directory, FileError};

/// The directory for long outputs of a session.
#[derive(Debug)]
pub struct Spills {
    directory: Directory,
    next: AtomicU64,
}

impl Spills {
    /// Opens the directory, or makes it for its owner alone.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        Ok(Self {
            directory: Directory::create(path, Access::Private)?,
            next: AtomicU64::new(1),
        })
    }

    /// A new file; `what` is a part of its name.
    pub(crate) fn file(&self, what: &str) -> Result<(File, PathBuf), FileError> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let name = format!("{number:05}-{what}.txt");
            match self.directory.create_new(Path::new(&name), 0o600) {
                // From before a restart.
                Err(error) if error.io_kind() == Some(std::io::ErrorKind::AlreadyExists) => {}
                made => return Ok((made?, self.directory.path().join(name))),
            }
        }
    }
}
