//! The store's files under the home directory, made so that only their owner can read them.

use std::{
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use fs_err as fs;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn at(root: &Path) -> Self {
        Self(root.to_owned())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("windlass.db")
    }

    pub(crate) fn wal(&self) -> PathBuf {
        self.0.join("windlass.db-wal")
    }

    /// How far the history went, kept outside the log.
    pub(crate) fn mark(&self) -> PathBuf {
        self.0.join("windlass.mark")
    }

    /// How the last anchors were kept.
    pub(crate) fn anchor_states(&self) -> PathBuf {
        self.0.join("windlass.anchors")
    }

    /// Held while the store is made or migrated.
    pub(crate) fn making_lock(&self) -> PathBuf {
        self.0.join("windlass.lock")
    }

    /// Where a backup keeps the key that seals it.
    pub(crate) fn seal_key(&self) -> PathBuf {
        self.0.join("keys").join("store.key")
    }

    /// Space kept aside for a full disk.
    pub(crate) fn reserve(&self) -> PathBuf {
        self.0.join("windlass.reserve")
    }

    /// Where a process looks whether the disk takes writes.
    pub(crate) fn probe(&self, process: u32) -> PathBuf {
        self.0.join(format!("windlass.probe.{process}"))
    }

    pub(crate) fn drivers(&self) -> PathBuf {
        self.0.join("drivers")
    }

    pub(crate) fn driver(&self, id: u64) -> PathBuf {
        self.drivers().join(id.to_string())
    }

    /// Where a driver's passing notices are heard.
    pub(crate) fn socket(&self, id: u64) -> PathBuf {
        self.drivers().join(format!("{id}.sock"))
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.0.join("blobs")
    }

    pub(crate) fn blob_lock(&self) -> PathBuf {
        self.0.join("blobs.lock")
    }

    /// Makes what is missing. An existing home keeps its mode: it may be a directory that
    /// the user shares on purpose; the files in it are private either way.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        create_private_dir(&self.0)?;
        create_private_dir(&self.blobs())?;
        let database = self.database();
        match open_private().create_new(true).write(true).open(&database) {
            Ok(_) => sync_dir(&self.0)?,
            // Never opened here when it exists: closing any descriptor of a file drops the
            // process's POSIX locks on it, and SQLite's are among them.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => make_private(&database)?,
            Err(error) => return Err(named(error, &database)),
        }
        Ok(())
    }

    /// Writes a private file that does not exist yet.
    pub(crate) fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = open_private()
            .create_new(true)
            .write(true)
            .open(path)
            .map_err(|error| named(error, path))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Opens (and makes, if missing) a lock file.
    pub(crate) fn open_lock(&self, path: &Path) -> io::Result<std::fs::File> {
        open_private()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(path)
            .map_err(|error| named(error, path))
    }
}

fn open_private() -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(path)
        .map_err(|error| named(error, path))
}

pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, std::fs::Permissions::from_mode(FILE_MODE))?;
    }
    Ok(())
}

/// Makes a rename or a new name in the directory durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}
