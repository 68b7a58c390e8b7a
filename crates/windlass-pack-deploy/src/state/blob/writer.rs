//! Stores the contents of one event, asking the file system as little as possible.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use windlass_pack_model::fault::{self, is_absent};
use windlass_types::Digest;

use crate::state::{
    blob::{Blobs, UNFINISHED, container::NewContainer, recreate},
    files::{create_private_dir, remove_if_there, rename_new, sync_dir},
    probe::{FaultProbe, Step, Stop, step},
};

/// Up to this many blobs are flushed one by one; beyond it the whole file system at once.
const FLUSH_EACH: usize = 32;
/// An event that writes fewer files stores each content alone: the containers are as many as the
/// large events, and looking into all of them is not worth it for a few contents.
const FEW: usize = 16;

/// What is known about one of the 256 directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shard {
    /// Nothing.
    Unknown,
    /// Not there when it was looked for.
    Absent,
    /// Not there; made by this writer under another name until it is flushed.
    Fresh,
    /// It was there before.
    Old,
}

/// Stores the contents of an event.
pub(crate) struct BlobWriter<'a> {
    blobs: &'a Blobs,
    run_tag: String,
    /// Whether what the event writes goes into a container.
    together: bool,
    container: Option<NewContainer>,
    shards: [Shard; 256],
    /// Stored in a file of its own.
    alone: HashSet<Digest>,
    stored: HashSet<Digest>,
    durable: bool,
    flushed: usize,
    unflushed: bool,
}

impl<'a> BlobWriter<'a> {
    /// For an event that writes this many files. `durable`: what it writes is flushed.
    pub(crate) fn new(blobs: &'a Blobs, run_id: &str, writes: usize, durable: bool) -> Self {
        let together = writes >= FEW;
        let mut shards = [Shard::Unknown; 256];
        if together {
            list_shards(blobs.root(), &mut shards);
            // One that cannot be read counts as not there: its contents are stored again.
            let _ = blobs.known().refresh(&blobs.container_dir());
        }
        Self {
            blobs,
            run_tag: crate::state::stage::run_tag(run_id),
            together,
            container: None,
            shards,
            alone: HashSet::new(),
            stored: HashSet::new(),
            durable,
            flushed: 0,
            unflushed: false,
        }
    }

    /// Whether a content of this length is stored. The length detects a blob that lost its bytes
    /// in a power failure.
    pub(crate) fn has(&mut self, digest: &Digest, len: u64) -> bool {
        self.stored.contains(digest)
            || self.has_alone(digest, len)
            || self.together && self.blobs.known().len(digest) == Some(len)
    }

    /// Whether a content is stored in a file of its own.
    pub(crate) fn has_alone(&mut self, digest: &Digest, len: u64) -> bool {
        if self.alone.contains(digest) {
            return true;
        }
        let there = self.may_be_alone(digest) && self.blobs.len_alone(digest) == Some(len);
        if there {
            self.alone.insert(*digest);
            self.stored.insert(*digest);
        }
        there
    }

    /// Stores what will be written and [`Self::has`] does not know. It can be read after
    /// [`Self::flush`].
    pub(crate) fn store(
        &mut self,
        digest: &Digest,
        bytes: &[u8],
        probe: &dyn FaultProbe,
    ) -> Result<(), Stop> {
        if !self.together {
            return self.store_alone(digest, bytes, self.durable, probe);
        }
        let container = match &mut self.container {
            Some(container) => container,
            none => {
                let directory = self.blobs.container_dir();
                let created = NewContainer::create(directory.clone(), &self.run_tag);
                none.insert(created.map_err(|error| fault::io("create", &directory, &error))?)
            }
        };
        let path = container.path().to_owned();
        step(probe, Step::WriteBlob, "write", &path, || {
            container.append(*digest, bytes)
        })?;
        self.stored.insert(*digest);
        Ok(())
    }

    /// Stores a manifest. Every event replaces it, so it has a file of its own from the start.
    pub(crate) fn store_manifest(
        &mut self,
        digest: &Digest,
        bytes: &[u8],
        probe: &dyn FaultProbe,
    ) -> Result<(), Stop> {
        self.store_alone(digest, bytes, self.durable, probe)
    }

    /// Stores what is about to be replaced, in a file of its own that the snapshot can name. It is
    /// the only copy, so it is flushed.
    pub(crate) fn store_replaced(
        &mut self,
        digest: &Digest,
        bytes: &[u8],
        probe: &dyn FaultProbe,
    ) -> Result<(), Stop> {
        self.store_alone(digest, bytes, true, probe)
    }

    fn store_alone(
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
            let unfinished =
                path.with_file_name(format!("{UNFINISHED}{}-{}", self.run_tag, self.alone.len()));
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
        self.alone.insert(*digest);
        self.stored.insert(*digest);
        Ok(())
    }

    /// Gives the container and new directories their names, and flushes what was put off.
    pub(crate) fn flush(&mut self, probe: &dyn FaultProbe) -> Result<(), Stop> {
        if let Some(mut container) = self.container.take() {
            let made = container.path().to_owned();
            step(probe, Step::FlushContainer, "write", &made, || {
                container.finish()
            })?;
            step(probe, Step::PublishBlob, "rename", &made, || {
                container.publish()?;
                match self.durable {
                    true => sync_dir(&self.blobs.container_dir()),
                    false => Ok(()),
                }
            })?;
        }
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

    /// Whether the directory of a content is there, as far as is known; asked once for each.
    fn may_be_alone(&mut self, digest: &Digest) -> bool {
        let index = digest.as_bytes()[0];
        let shard = &mut self.shards[usize::from(index)];
        if *shard == Shard::Unknown {
            let place = self.blobs.root().join(format!("{index:02x}"));
            match std::fs::symlink_metadata(place) {
                Err(error) if is_absent(&error) => *shard = Shard::Absent,
                _ => *shard = Shard::Old,
            }
        }
        *shard == Shard::Old
    }

    fn open_shard(&mut self, index: u8) -> io::Result<()> {
        let known = |shard: &Shard| matches!(shard, Shard::Fresh | Shard::Old);
        if known(&self.shards[usize::from(index)]) {
            return Ok(());
        }
        if !self.shards.iter().any(known) {
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

/// Looks once which directories there are, instead of once for each. Whatever cannot be read is
/// asked for one by one.
fn list_shards(root: &Path, shards: &mut [Shard; 256]) {
    let listed = match std::fs::read_dir(root) {
        Ok(listed) => listed,
        Err(error) if is_absent(&error) => return shards.fill(Shard::Absent),
        Err(_) => return,
    };
    shards.fill(Shard::Absent);
    for entry in listed {
        let name = entry.map(|entry| entry.file_name());
        let Ok(name) = name else {
            return shards.fill(Shard::Unknown);
        };
        let index = name.to_str().filter(|name| name.len() == 2);
        if let Some(index) = index.and_then(|name| u8::from_str_radix(name, 16).ok()) {
            shards[usize::from(index)] = Shard::Old;
        }
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
