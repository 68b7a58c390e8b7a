//! Looks at the disk for the planner: which paths matter, what is there.
//!
//! The only reading this crate does for a plan. Digests of files that have not changed since they
//! were last read come from the cache; writers read again.

use std::{
    collections::HashSet,
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use windlass_pack_model::{
    Desired, FileMode, HashCache,
    fault::{self, is_absent},
};
use windlass_types::{Digest, Problem};

use crate::{
    disk::{Disk, FoundFile, OnDisk},
    owned::Owned,
    state::read_known,
};

/// From this many files on, several threads look.
const PARALLEL_FROM: usize = 1024;
/// More threads than this only wait for the disk.
const MAX_THREADS: usize = 8;

/// Looks at every path a plan or a drift report needs.
pub fn gather_disk(desired: &Desired, owned: &Owned, hashes: &dyn HashCache) -> Disk {
    let mut whole: Vec<PathBuf> = Vec::with_capacity(desired.files.len());
    whole.extend(desired.files.iter().map(|file| file.path.clone()));
    let mut keyed: HashSet<PathBuf> = desired.keys.iter().map(|key| key.path.clone()).collect();
    for root in &owned.roots {
        whole.extend(root.files.iter().map(|file| file.path.under(&root.path)));
        keyed.extend(root.keys.iter().map(|key| key.path.under(&root.path)));
    }
    let mut disk = look_at(whole, keyed, hashes);
    disk.without_impossible(|path| desired.files.iter().any(|file| file.path == path));
    disk
}

/// Looks at some paths; those of shared files are read whole.
pub(crate) fn look_at(
    whole: impl IntoIterator<Item = PathBuf>,
    keyed: impl IntoIterator<Item = PathBuf>,
    hashes: &dyn HashCache,
) -> Disk {
    let mut paths: Vec<PathBuf> = whole.into_iter().collect();
    // Sorted by directory: the kernel walks each directory once. By their bytes, which keeps a
    // directory together as well and costs a fifth of comparing components.
    paths.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    paths.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
    let mut disk = Disk::default();
    for (path, found) in look_at_all(paths, hashes) {
        disk.put(path, found);
    }
    for path in keyed {
        let (found, bytes) = read_whole(&path);
        if let Some(bytes) = bytes {
            disk.put_bytes(path.clone(), bytes);
        }
        disk.put(path, found);
    }
    disk
}

fn look_at_all(paths: Vec<PathBuf>, hashes: &dyn HashCache) -> Vec<(PathBuf, OnDisk)> {
    let threads = match paths.len() {
        few if few < PARALLEL_FROM => 1,
        _ => std::thread::available_parallelism()
            .map_or(1, std::num::NonZero::get)
            .min(MAX_THREADS),
    };
    let look_at_some = |paths: &[PathBuf]| {
        let mut buffer = Vec::new();
        // Nothing is below a directory that is not there; its files need not be asked for.
        let mut missing: Option<PathBuf> = None;
        paths
            .iter()
            .map(|path| {
                if missing.as_deref().is_some_and(|dir| is_below(path, dir)) {
                    return OnDisk::Absent;
                }
                let found = look(path, hashes, &mut buffer);
                if matches!(found, OnDisk::Absent) {
                    missing = missing_directory(path);
                }
                found
            })
            .collect::<Vec<_>>()
    };
    let found: Vec<OnDisk> = if threads == 1 {
        look_at_some(&paths)
    } else {
        let size = paths.len().div_ceil(threads);
        std::thread::scope(|scope| {
            let workers: Vec<_> = paths
                .chunks(size)
                .map(|chunk| scope.spawn(move || look_at_some(chunk)))
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| match worker.join() {
                    Ok(found) => found,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        })
    };
    paths.into_iter().zip(found).collect()
}

/// The outermost directory of an absent path that is not there either; none when only the file
/// is missing.
fn missing_directory(path: &Path) -> Option<PathBuf> {
    let absent =
        |path: &&Path| std::fs::symlink_metadata(path).is_err_and(|error| is_absent(&error));
    path.ancestors()
        .skip(1)
        .take_while(absent)
        .last()
        .map(Path::to_owned)
}

/// Whether a path lies below a directory, by its bytes: both are plain absolute paths.
pub(crate) fn is_below(path: &Path, directory: &Path) -> bool {
    let (path, directory) = (
        path.as_os_str().as_encoded_bytes(),
        directory.as_os_str().as_encoded_bytes(),
    );
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// Looks at one path.
pub(crate) fn look(path: &Path, hashes: &dyn HashCache, buffer: &mut Vec<u8>) -> OnDisk {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => match digest(path, &metadata, hashes, buffer) {
            Ok(digest) => OnDisk::File(FoundFile {
                digest,
                mode: mode(&metadata),
            }),
            Err(error) => unreadable(path, &error),
        },
        Ok(metadata) if metadata.is_symlink() => look_through(path, hashes, buffer),
        Ok(_) => OnDisk::NotAFile,
        Err(error) => unreadable(path, &error),
    }
}

fn look_through(path: &Path, hashes: &dyn HashCache, buffer: &mut Vec<u8>) -> OnDisk {
    let to = match std::fs::read_link(path) {
        Ok(to) => to,
        Err(error) => return unreadable(path, &error),
    };
    match std::fs::metadata(path) {
        // Opening a pipe would wait for a writer.
        Ok(metadata) if !metadata.is_file() => OnDisk::NotAFile,
        Ok(metadata) => match digest(path, &metadata, hashes, buffer) {
            Ok(digest) => OnDisk::Symlink {
                to,
                file: Some(FoundFile {
                    digest,
                    mode: mode(&metadata),
                }),
            },
            Err(error) => unreadable(path, &error),
        },
        Err(error) if is_absent(&error) => OnDisk::Symlink { to, file: None },
        Err(error) => unreadable(path, &error),
    }
}

/// The digest of a file, from the cache or by reading it.
pub(crate) fn digest(
    path: &Path,
    metadata: &Metadata,
    hashes: &dyn HashCache,
    buffer: &mut Vec<u8>,
) -> io::Result<Digest> {
    if let Some(digest) = hashes.digest(path, metadata) {
        return Ok(digest);
    }
    read_known(&mut File::open(path)?, metadata.len(), buffer)?;
    let digest = Digest::of(buffer);
    hashes.remember(path, metadata, digest);
    Ok(digest)
}

fn read_whole(path: &Path) -> (OnDisk, Option<Arc<[u8]>>) {
    let mut buffer = Vec::new();
    let found = look(path, &windlass_pack_model::NoHashCache, &mut buffer);
    let bytes = found.file().map(|_| Arc::from(buffer));
    (found, bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> OnDisk {
    if is_absent(error) {
        OnDisk::Absent
    } else {
        OnDisk::Unreadable(cannot_read(path, error))
    }
}

pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Problem {
    fault::io("read", path, error)
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> FileMode {
    use std::os::unix::fs::MetadataExt as _;
    FileMode::new(metadata.mode())
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> FileMode {
    FileMode::REGULAR
}
