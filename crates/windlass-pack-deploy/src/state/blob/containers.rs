//! The containers of a store: which content is in which, read once for each container.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
};

use windlass_pack_model::fault::{self, is_absent};
use windlass_types::{Digest, Problem};

use crate::state::{
    blob::{
        UNFINISHED,
        container::{Container, Record, bytes_of, is_damage, open},
    },
    files::entries,
};

/// The containers that are known so far. What another process adds is found by
/// [`Self::refresh`]; what it removes, when it is read.
#[derive(Debug, Default)]
pub(super) struct Containers {
    pub(super) whole: BTreeMap<OsString, Container>,
    /// Those whose index cannot be used, and so nothing in them.
    pub(super) damaged: BTreeMap<OsString, PathBuf>,
    /// The one that was read last: contents of one event are read together.
    open: Option<(PathBuf, File)>,
}

/// What reading a content gave.
pub(super) enum Read {
    /// The bytes, compared with the digest.
    Content(Vec<u8>),
    /// No known container has it.
    Nothing,
    /// This container has it, with other bytes.
    Damaged(PathBuf),
}

impl Containers {
    /// Looks which containers there are. Says whether those that can be used have changed.
    pub(super) fn refresh(&mut self, directory: &Path) -> Result<bool, Problem> {
        let mut found = BTreeMap::new();
        for path in entries(directory)? {
            let name = path.file_name().unwrap_or_default();
            if !is_unfinished(&path) {
                found.insert(name.to_owned(), path);
            }
        }
        let before = self.whole.len();
        self.whole.retain(|name, _| found.contains_key(name));
        let mut changed = before != self.whole.len();
        // A damaged one may have been restored, or stored again.
        self.damaged.clear();
        for (name, path) in found {
            if self.whole.contains_key(&name) {
                continue;
            }
            match Container::open(path.clone()) {
                Ok(container) => {
                    self.whole.insert(name, container);
                    changed = true;
                }
                Err(error) if is_damage(&error) => drop(self.damaged.insert(name, path)),
                // Swept by another process in the meantime.
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(fault::io("read", &path, &error)),
            }
        }
        Ok(changed)
    }

    /// How many bytes a content has.
    pub(super) fn len(&self, digest: &Digest) -> Option<u64> {
        let mut records = self.whole.values().filter_map(|found| found.find(digest));
        records.next().map(|record| record.len)
    }

    /// Reads a content from a known container.
    pub(super) fn read(&mut self, digest: &Digest) -> Result<Read, Problem> {
        let found: Vec<(OsString, PathBuf, Record)> = self
            .whole
            .iter()
            .filter_map(|(name, container)| {
                let record = container.find(digest)?;
                Some((name.clone(), container.path.clone(), *record))
            })
            .collect();
        let mut damaged = None;
        for (name, path, record) in found {
            match self.bytes(&path, &record) {
                Ok(bytes) if Digest::of(&bytes) == *digest => return Ok(Read::Content(bytes)),
                Ok(_) => damaged = Some(path),
                Err(error) if is_damage(&error) => damaged = Some(path),
                Err(error) if is_absent(&error) => drop(self.whole.remove(&name)),
                Err(error) => return Err(fault::io("read", &path, &error)),
            }
        }
        Ok(damaged.map_or(Read::Nothing, Read::Damaged))
    }

    fn bytes(&mut self, path: &Path, record: &Record) -> std::io::Result<Vec<u8>> {
        if let Some((last, file)) = &self.open
            && last == path
        {
            return bytes_of(file, record);
        }
        let file = open(path)?;
        let bytes = bytes_of(&file, record);
        self.open = Some((path.to_owned(), file));
        bytes
    }
}

/// Whether a name says that the file is still being written.
pub(super) fn is_unfinished(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()))
}
