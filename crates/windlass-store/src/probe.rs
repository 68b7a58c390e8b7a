//! Looking whether the home takes writes: a small file is written, flushed and removed.

use std::{
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use fs_err as fs;
use windlass_ports::store::StoreProbe;

use crate::{error::Result, fault::FaultPoint, home::Home, open::SqliteStoreOptions};

/// A page of the database: what the smallest commit needs.
const PAGE: u64 = 4096;
/// The bytes of a key.
const KEY: usize = 32;

pub(crate) fn probe(home: &Home, options: &SqliteStoreOptions) -> Result<StoreProbe> {
    if let Some(faults) = &options.faults {
        faults.at(FaultPoint::Probe, &[])?;
    }
    write_and_flush(home, PAGE)?;
    let disk = rustix::fs::statvfs(home.root()).map_err(io::Error::from)?;
    Ok(StoreProbe {
        free_bytes: disk.f_bavail.saturating_mul(disk.f_frsize),
        unusable_keys: unusable_keys(home, options.seal_key.is_some(), &options.key_files),
    })
}

/// Writes so many bytes, flushes and removes them.
pub(crate) fn write_and_flush(home: &Home, bytes: u64) -> io::Result<()> {
    let path = home.probe(std::process::id());
    let written = home.open_lock(&path).and_then(|mut file| {
        io::copy(&mut io::repeat(0).take(bytes), &mut file)?;
        file.sync_all()
    });
    let removed = fs::remove_file(&path);
    written?;
    removed
}

/// Keys that the next start could not use. Those in use are in memory.
fn unusable_keys(home: &Home, has_seal_key: bool, expected: &[PathBuf]) -> Vec<String> {
    let mut unusable = Vec::new();
    let seal = has_seal_key.then(|| home.seal_key());
    for path in seal
        .iter()
        .chain(expected.iter().filter(|path| **path != home.seal_key()))
    {
        if !path.exists() {
            unusable.push(format!("{} is missing", path.display()));
        }
    }
    let Some(directory) = home.seal_key().parent().map(Path::to_owned) else {
        return unusable;
    };
    if is_open(&directory, 0o077) {
        unusable.push(format!("{}: others may open it", directory.display()));
    }
    let Ok(entries) = fs::read_dir(&directory) else {
        return unusable;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.extension().is_none_or(|extension| extension != "key") {
            continue;
        }
        let finding = match fs::read(&path) {
            Err(error) => Some(error.to_string()),
            Ok(bytes) if bytes.is_empty() => Some(format!("{} is empty", path.display())),
            Ok(bytes) if bytes.len() < KEY => Some(format!(
                "{} has {} of {KEY} bytes",
                path.display(),
                bytes.len()
            )),
            Ok(_) => {
                is_open(&path, 0o077).then(|| format!("{}: others may read it", path.display()))
            }
        };
        unusable.extend(finding);
    }
    unusable.sort();
    unusable
}

fn is_open(path: &Path, bits: u32) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & bits != 0)
}
