//! Contents under their SHA-256: small ones as rows, large ones as files.
//!
//! A file is written under a temporary name, flushed, renamed and the directory flushed, so
//! that a name either leads to the whole content or does not exist.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use fs_err as fs;
use futures::future::BoxFuture;
use rusqlite::{Connection, OptionalExtension};
use windlass_ports::{BlobError, BlobStore, CommitError};
use windlass_types::Digest;

use crate::{
    append::Work,
    error::{Result, blob_error},
    home::{Home, create_private_dir, sync_dir},
    open::SqliteStore,
};

/// Contents up to this size are rows.
const INLINE_LIMIT: usize = 64 * 1024;
/// How the names of files begin that are being written.
const UNFINISHED: &str = ".new-";

impl BlobStore for SqliteStore {
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Digest, BlobError>> {
        Box::pin(async move {
            let writer = self
                .writer()
                .map_err(|error| BlobError::Io(error.to_string()))?;
            if bytes.len() > INLINE_LIMIT {
                let home = self.home.clone();
                return off_thread(move || {
                    let digest = Digest::of(&bytes);
                    write_file(&home, digest, &bytes)
                        .map_err(|error| blob_error(error.into(), digest))?;
                    Ok(digest)
                })
                .await;
            }
            let digest = Digest::of(&bytes);
            match writer.write(Work::Content { digest, bytes }).await {
                Ok(_) => Ok(digest),
                Err(CommitError::Store(error)) => Err(blob_error(error.into(), digest)),
                Err(other) => Err(BlobError::Io(other.to_string())),
            }
        })
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        Box::pin(async move {
            let row = self
                .readers
                .read(move |connection| row(connection, digest))
                .await;
            if let Some(bytes) = row.map_err(|error| blob_error(error.into(), digest))? {
                return checked(digest, bytes);
            }
            let path = path_of(&self.home, digest);
            off_thread(move || match fs::read(path) {
                Ok(bytes) => checked(digest, bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Err(BlobError::Missing(digest))
                }
                Err(error) => Err(BlobError::Io(error.to_string())),
            })
            .await
        })
    }
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| {
            Err(BlobError::Io(format!(
                "content work was interrupted: {error}"
            )))
        })
}

fn checked(digest: Digest, bytes: Vec<u8>) -> Result<Vec<u8>, BlobError> {
    if Digest::of(&bytes) == digest {
        Ok(bytes)
    } else {
        Err(BlobError::Altered(digest))
    }
}

/// A content kept as a row, unchecked.
pub(crate) fn row(connection: &Connection, digest: Digest) -> Result<Option<Vec<u8>>> {
    Ok(connection
        .prepare_cached("SELECT bytes FROM blobs WHERE sha256 = ?1")?
        .query_row([digest.as_bytes()], |row| row.get(0))
        .optional()?)
}

/// Where the content would be as a file.
pub(crate) fn path_of(home: &Home, digest: Digest) -> PathBuf {
    let name = digest.to_string();
    let (shelf, rest) = name.split_at(2);
    home.blobs().join(shelf).join(rest)
}

/// The digest a file's place stands for; `None` for files that are no contents.
fn digest_of(shelf: &Path, file: &Path) -> Option<Digest> {
    let name = format!(
        "{}{}",
        shelf.file_name()?.to_str()?,
        file.file_name()?.to_str()?
    );
    name.parse().ok()
}

/// A content kept as a file.
pub(crate) struct ContentFile {
    pub(crate) path: PathBuf,
    pub(crate) digest: Digest,
}

/// Every content kept as a file.
pub(crate) fn files(home: &Home) -> Result<Vec<ContentFile>> {
    let mut files = Vec::new();
    for shelf in list(&home.blobs())? {
        for path in list(&shelf)? {
            if let Some(digest) = digest_of(&shelf, &path) {
                files.push(ContentFile { path, digest });
            }
        }
    }
    Ok(files)
}

fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if is_no_directory(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn is_no_directory(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn write_file(home: &Home, digest: Digest, bytes: &[u8]) -> io::Result<()> {
    let path = path_of(home, digest);
    // Shared with other writers; prune, which removes files, takes it alone.
    let lock = home.open_lock(&home.blob_lock())?;
    lock.lock_shared()?;
    if fs::read(&path).is_ok_and(|stored| Digest::of(&stored) == digest) {
        // Its age is reset, so that prune leaves it to its new user.
        return rustix::fs::utimensat(
            rustix::fs::CWD,
            &path,
            &rustix::fs::Timestamps {
                last_access: rustix::fs::Timespec {
                    tv_sec: 0,
                    tv_nsec: rustix::fs::UTIME_NOW,
                },
                last_modification: rustix::fs::Timespec {
                    tv_sec: 0,
                    tv_nsec: rustix::fs::UTIME_NOW,
                },
            },
            rustix::fs::AtFlags::empty(),
        )
        .map_err(io::Error::from);
    }
    let shelf = path.parent().unwrap_or_else(|| home.root()).to_owned();
    let is_new_shelf = !shelf.exists();
    create_private_dir(&shelf)?;
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(&shelf)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    sync_dir(&shelf)?;
    if is_new_shelf {
        sync_dir(&home.blobs())?;
    }
    Ok(())
}

/// Removes the file of a content. The caller holds the lock alone.
pub(crate) fn remove_file(file: &ContentFile) -> Result<u64> {
    let length = fs::metadata(&file.path)?.len();
    fs::remove_file(&file.path)?;
    Ok(length)
}

/// Removes what processes left that ended while they wrote. The caller holds the lock
/// alone, so nobody is writing now.
pub(crate) fn remove_unfinished(home: &Home) -> Result<()> {
    for shelf in list(&home.blobs())? {
        for path in list(&shelf)? {
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with(UNFINISHED)) {
                fs::remove_file(&path)?;
            }
        }
    }
    Ok(())
}
