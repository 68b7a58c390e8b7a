//! Removes contents that nothing needs any more.

use std::{collections::HashSet, io, os::unix::fs::MetadataExt, path::PathBuf};

use fs_err as fs;
use windlass_pack_model::fault;
use windlass_types::{Digest, Problem};

use crate::state::{
    blob::{
        Blobs,
        container::{Container, NewContainer, bytes_of, open},
        containers::is_unfinished,
    },
    files::{entries, remove_if_there},
};

/// What a sweep removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    /// How many contents.
    pub(crate) blobs: u64,
    /// How many bytes that freed.
    pub(crate) bytes: u64,
    /// What a person should know.
    pub(crate) warnings: Vec<String>,
}

impl Blobs {
    /// Removes every content that is not in `keep`, and what interrupted writes left. The caller
    /// holds the store alone.
    pub(crate) fn sweep(&self, keep: &HashSet<Digest>, dry_run: bool) -> Result<Swept, Problem> {
        let mut swept = Swept::default();
        let containers = self.container_dir();
        for shard in entries(self.root())? {
            let unfinished = is_unfinished(&shard);
            if unfinished && !dry_run {
                std::fs::remove_dir_all(&shard)
                    .map_err(|error| fault::io("remove", &shard, &error))?;
            }
            if !unfinished && shard != containers && shard.is_dir() {
                sweep_shard(&shard, keep, dry_run, &mut swept)?;
            }
        }
        self.sweep_containers(keep, dry_run, &mut swept)?;
        Ok(swept)
    }

    fn sweep_containers(
        &self,
        keep: &HashSet<Digest>,
        dry_run: bool,
        swept: &mut Swept,
    ) -> Result<(), Problem> {
        let directory = self.container_dir();
        for path in entries(&directory)? {
            if is_unfinished(&path) && !dry_run {
                remove_if_there(&path).map_err(|error| fault::io("remove", &path, &error))?;
            }
        }
        let mut known = self.known();
        known.refresh(&directory)?;
        for container in known.whole.values() {
            sweep_container(container, keep, dry_run, swept)?;
        }
        for path in known.damaged.values() {
            swept.warnings.push(format!(
                "{} is damaged: what was stored in it and nowhere else is lost. Restore it from a backup, or remove it",
                path.display()
            ));
        }
        known.refresh(&directory)?;
        Ok(())
    }
}

fn sweep_shard(
    shard: &std::path::Path,
    keep: &HashSet<Digest>,
    dry_run: bool,
    swept: &mut Swept,
) -> Result<(), Problem> {
    let prefix = shard.file_name().unwrap_or_default().to_string_lossy();
    for blob in entries(shard)? {
        let name = blob.file_name().unwrap_or_default().to_string_lossy();
        let needed = match format!("{prefix}{name}").parse::<Digest>() {
            Ok(digest) => keep.contains(&digest),
            // A file that is neither a blob nor one of ours is left alone.
            Err(_) => !is_unfinished(&blob),
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
    Ok(())
}

/// A container nothing needs goes; one of which half or less is needed is written again without
/// the rest.
fn sweep_container(
    container: &Container,
    keep: &HashSet<Digest>,
    dry_run: bool,
    swept: &mut Swept,
) -> Result<(), Problem> {
    let path = &container.path;
    let (mut needed, mut dead, mut dead_bytes, mut all_bytes) = (0_u64, 0_u64, 0, 0);
    for record in &container.records {
        all_bytes += record.len;
        match keep.contains(&record.digest) {
            true => needed += 1,
            false => {
                dead += 1;
                dead_bytes += record.len;
            }
        }
    }
    let freed = match needed {
        0 => container.size,
        _ if dead == 0 || dead_bytes * 2 < all_bytes => return Ok(()),
        _ => dead_bytes,
    };
    if !dry_run {
        if needed > 0
            && let Err(error) = rewrite(container, keep)
        {
            // A full disk, or damage: the container stays as it is.
            swept.warnings.push(format!(
                "{} keeps contents that are not needed: writing it again failed: {error}",
                path.display()
            ));
            return Ok(());
        }
        remove_if_there(path).map_err(|error| fault::io("remove", path, &error))?;
    }
    swept.blobs += dead;
    swept.bytes += freed;
    Ok(())
}

/// Writes what is needed into a container of its own. Should the process die before the old one is
/// removed, both are there, and the next sweep ends with this same one.
fn rewrite(container: &Container, keep: &HashSet<Digest>) -> io::Result<()> {
    let directory = container
        .path
        .parent()
        .map_or_else(PathBuf::new, PathBuf::from);
    let file = open(&container.path)?;
    let mut new = NewContainer::create(directory, "sweep")?;
    for record in &container.records {
        if !keep.contains(&record.digest) {
            continue;
        }
        let bytes = bytes_of(&file, record)?;
        if Digest::of(&bytes) != record.digest {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the content {} is damaged", record.digest.short()),
            ));
        }
        new.append(record.digest, &bytes)?;
    }
    new.finish()?;
    new.publish()
}
