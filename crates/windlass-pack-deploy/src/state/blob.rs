//! Contents under their SHA-256, each stored once.
//!
//! A blob has its name only when it is whole, and is compared with its name whenever it is read.
//! A blob never shares an inode with a deployed file: people edit those in place.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use fs_err as fs;
use windlass_pack_model::fault::{self, is_absent};
use windlass_types::{Digest, Problem};

use crate::state::{
    files::{PRIVATE, create_new, create_private_dir, entries, remove_if_there, rename_new},
    observe::read_regular,
    probe::{FaultProbe, Step, Stop, step},
};

/// How the names of blobs begin that are being written.
const UNFINISHED: &str = ".new-";
/// Up to this many blobs are flushed one by one; beyond it the whole file system at once.
const FLUSH_EACH: usize = 32;

/// The blob store.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
}

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many blobs.
    pub blobs: u64,
    /// How many bytes they had.
    pub bytes: u64,
}

impl Blobs {
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the content of a digest is or would be.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        let (shard, rest) = name.split_at(2);
        let mut path = PathBuf::with_capacity(self.root.as_os_str().len() + name.len() + 2);
        path.push(&self.root);
        path.push(shard);
        path.push(rest);
        path
    }

    /// Whether a content is stored.
    pub fn contains(&self, digest: &Digest) -> bool {
        self.len(digest).is_some()
    }

    /// How many bytes a stored content has.
    pub fn len(&self, digest: &Digest) -> Option<u64> {
        std::fs::symlink_metadata(self.path(digest))
            .ok()
            .map(|metadata| metadata.len())
    }

    /// Reads a content. `None`: it is not stored. One that does not have its digest any more is
    /// an error (`store_hash_mismatch`).
    pub fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Problem> {
        let path = self.path(digest);
        let mut bytes = Vec::new();
        match read_regular(&path, &mut bytes) {
            Ok(Some(_)) if Digest::of(&bytes) == *digest => Ok(Some(bytes)),
            Ok(_) => Err(fault::unexpected(
                "store_hash_mismatch",
                &["restore_from_backup", "retry_command"],
                format!(
                    "the stored content {} is damaged: its bytes do not have the digest in its name",
                    path.display()
                ),
            )
            .with("path", path.display().to_string())),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(fault::io("read", &path, &error)),
        }
    }

    /// Removes every blob that is not in `keep`, and what interrupted writes left. The caller
    /// holds the store alone.
    pub(crate) fn sweep(&self, keep: &HashSet<Digest>, dry_run: bool) -> Result<Swept, Problem> {
        let mut swept = Swept::default();
        for shard in entries(&self.root)? {
            let unfinished = shard
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()));
            if unfinished && !dry_run {
                std::fs::remove_dir_all(&shard)
                    .map_err(|error| fault::io("remove", &shard, &error))?;
            }
            if unfinished || !shard.is_dir() {
                continue;
            }
            let prefix = shard
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            for blob in entries(&shard)? {
                let name = blob.file_name().unwrap_or_default().to_string_lossy();
                let digest = format!("{}{name}", prefix.as_deref().unwrap_or_default())
                    .parse::<Digest>()
                    .ok();
                let needed = match digest {
                    Some(digest) => keep.contains(&digest),
                    // A file that is neither a blob nor one of ours is left alone.
                    None => !name.starts_with(UNFINISHED),
                };
                if needed {
                    continue;
                }
                let size = fs::symlink_metadata(&blob).map_or(0, |metadata| metadata.size());
                if !dry_run {
                    remove_if_there(&blob).map_err(|error| fault::io("remove", &blob, &error))?;
                }
                swept.blobs += 1;
                swept.bytes += size;
            }
        }
        Ok(swept)
    }
}

/// What is known about one of the 256 directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shard {
    /// Nothing.
    Unknown,
    /// Not there; made by this writer under another name until it is flushed.
    Fresh,
    /// It was there before.
    Old,
}

/// Stores many contents, asking the file system as little as possible.
pub(crate) struct BlobWriter<'a> {
    blobs: &'a Blobs,
    run_tag: String,
    shards: [Shard; 256],
    stored: HashSet<Digest>,
    flushed: usize,
    unflushed: bool,
}

impl<'a> BlobWriter<'a> {
    pub(crate) fn new(blobs: &'a Blobs, run_id: &str) -> Self {
        Self {
            blobs,
            run_tag: crate::state::stage::run_tag(run_id),
            shards: [Shard::Unknown; 256],
            stored: HashSet::new(),
            flushed: 0,
            unflushed: false,
        }
    }

    /// Whether a content of this length is stored. The length detects a blob that lost its bytes
    /// in a power failure.
    pub(crate) fn has(&mut self, digest: &Digest, len: u64) -> bool {
        if self.stored.contains(digest) {
            return true;
        }
        let shard = usize::from(digest.as_bytes()[0]);
        if self.shards[shard] == Shard::Fresh {
            return false;
        }
        let there = self.blobs.len(digest) == Some(len);
        if there {
            self.shards[shard] = Shard::Old;
            self.stored.insert(*digest);
        }
        there
    }

    /// Stores a content that [`Self::has`] does not know. `durable`: it is the only copy of
    /// something that is about to be replaced, so it is flushed. It can be read after
    /// [`Self::flush`].
    pub(crate) fn store(
        &mut self,
        digest: &Digest,
        bytes: &[u8],
        durable: bool,
        probe: &dyn FaultProbe,
    ) -> Result<(), Stop> {
        let index = digest.as_bytes()[0];
        self.open_shard(index)
            .map_err(|error| fault::io("create", self.blobs.root(), &error))?;
        let path = self.blobs.path(digest);
        let each = durable && self.flushed < FLUSH_EACH;
        self.flushed += usize::from(each);
        self.unflushed |= durable && !each;
        let write = |to: &Path| {
            let mut file = recreate(to)?;
            file.write_all(bytes)?;
            if each { file.sync_all() } else { Ok(()) }
        };
        let name = path.file_name().unwrap_or_default();
        if self.shards[usize::from(index)] == Shard::Fresh {
            let made = self.unfinished_shard(index).join(name);
            step(probe, Step::WriteBlob, "write", &made, || write(&made))?;
        } else {
            let unfinished = path.with_file_name(format!(
                "{UNFINISHED}{}-{}",
                self.run_tag,
                self.stored.len()
            ));
            let stored = step(probe, Step::WriteBlob, "write", &unfinished, || {
                write(&unfinished)
            })
            .and_then(|()| {
                step(probe, Step::PublishBlob, "rename", &unfinished, || {
                    std::fs::rename(&unfinished, &path)
                })
            });
            if let Err(Stop::Failed(_)) = stored {
                // The failure is what matters; a leftover would be swept later anyway.
                let _ = remove_if_there(&unfinished);
            }
            stored?;
        }
        self.stored.insert(*digest);
        Ok(())
    }

    /// Gives new directories their names, and flushes what [`Self::store`] has put off.
    pub(crate) fn flush(&mut self, probe: &dyn FaultProbe) -> Result<(), Stop> {
        for index in 0..=u8::MAX {
            if self.shards[usize::from(index)] != Shard::Fresh {
                continue;
            }
            let made = self.unfinished_shard(index);
            let place = self.blobs.root().join(format!("{index:02x}"));
            step(probe, Step::PublishBlob, "rename", &made, || {
                move_shard(&made, &place)
            })?;
            self.shards[usize::from(index)] = Shard::Old;
        }
        if std::mem::take(&mut self.unflushed) {
            let root = self.blobs.root();
            flush_file_system(root).map_err(|error| fault::io("flush", root, &error))?;
        }
        Ok(())
    }

    fn unfinished_shard(&self, index: u8) -> PathBuf {
        let name = format!("{UNFINISHED}{}-{index:02x}", self.run_tag);
        self.blobs.root().join(name)
    }

    fn open_shard(&mut self, index: u8) -> io::Result<()> {
        if self.shards[usize::from(index)] != Shard::Unknown {
            return Ok(());
        }
        if self.shards.iter().all(|shard| *shard == Shard::Unknown) {
            create_private_dir(self.blobs.root())?;
        }
        let place = self.blobs.root().join(format!("{index:02x}"));
        let shard = match std::fs::symlink_metadata(place) {
            Ok(_) => Shard::Old,
            Err(error) if is_absent(&error) => {
                create_private_dir(&self.unfinished_shard(index))?;
                Shard::Fresh
            }
            Err(error) => return Err(error),
        };
        self.shards[usize::from(index)] = shard;
        Ok(())
    }
}

impl Drop for BlobWriter<'_> {
    fn drop(&mut self) {
        for index in 0..=u8::MAX {
            if self.shards[usize::from(index)] == Shard::Fresh {
                // Not flushed, so nothing relies on it; a leftover would be swept later anyway.
                let _ = std::fs::remove_dir_all(self.unfinished_shard(index));
            }
        }
    }
}

/// Creates a file; what this same run left there before it was interrupted goes first.
fn recreate(path: &Path) -> io::Result<File> {
    match create_new(path, PRIVATE) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_if_there(path)?;
            create_new(path, PRIVATE)
        }
        created => created,
    }
}

/// Gives a new directory its name. If another process was faster, its blobs move one by one.
fn move_shard(made: &Path, place: &Path) -> io::Result<()> {
    match rename_new(made, place) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            for entry in std::fs::read_dir(made)? {
                let entry = entry?;
                std::fs::rename(entry.path(), place.join(entry.file_name()))?;
            }
            std::fs::remove_dir(made)
        }
        moved => moved,
    }
}

/// Flushes everything written so far to the file system of a directory.
fn flush_file_system(directory: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(directory)?)?;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = File::open(directory)?;
        rustix::fs::sync();
    }
    Ok(())
}
