//! The cache of packages, kept within an age and a size.
//!
//! A package that is missing is made again, so nothing is lost but time. One that was used a short
//! while ago stays: a deploy may be about to send it.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use fs_err as fs;
use windlass_files::Directory;
use windlass_types::Timestamp;

/// A package that was not used for this long goes.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// One that was used within this time stays, however much there is.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);
/// What the cache may hold besides: the packages used last.
const MOST_BYTES: u64 = 2 * 1024 * 1024 * 1024;

struct Entry {
    below: PathBuf,
    unused: Duration,
    size: u64,
}

/// Removes packages and records that were not used for long, and of the others the oldest, until the
/// rest fits.
pub fn trim_packages(cache: &Path, now: Timestamp) -> std::io::Result<()> {
    trim(cache, now, MOST_BYTES)
}

fn trim(cache: &Path, now: Timestamp, most_bytes: u64) -> std::io::Result<()> {
    let millis = u64::try_from(now.as_millis()).unwrap_or_default();
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
    let mut entries = Vec::new();
    for folder in ["zips", "records"] {
        let listed = match fs::read_dir(cache.join(folder)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            listed => listed?,
        };
        for entry in listed {
            let entry = entry?;
            let facts = entry.metadata()?;
            entries.push(Entry {
                below: Path::new(folder).join(entry.file_name()),
                unused: now.duration_since(facts.modified()?).unwrap_or_default(),
                size: facts.len(),
            });
        }
    }
    if entries.is_empty() {
        return Ok(());
    }
    // The one used last comes first.
    entries.sort_by_key(|entry| entry.unused);
    let root = Directory::open(cache)?;
    let mut kept = 0;
    for entry in entries {
        let fits = kept + entry.size <= most_bytes || entry.unused < RECENT;
        if fits && entry.unused < LONGEST {
            kept += entry.size;
        } else {
            root.remove_file(&entry.below)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_packages_go_and_then_the_oldest_of_too_many() {
        const DAY: u64 = 24 * 60 * 60;
        let cache = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millis(1_750_000_000_000);
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_750_000_000_000);
        trim(&cache.path().join("none"), now, 100).unwrap();
        for (name, days, size) in [
            ("zips/old.zip", 31, 1),
            ("records/old.json", 31, 1),
            ("zips/large-of-today.zip", 0, 90),
            ("zips/of-this-week.zip", 3, 10),
            ("zips/of-last-week.zip", 9, 10),
            ("records/small.json", 2, 1),
        ] {
            let path = cache.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, vec![b'x'; size]).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.file()
                .set_modified(at - Duration::from_secs(days * DAY))
                .unwrap();
        }
        trim(cache.path(), now, 102).unwrap();
        let mut left: Vec<String> = ["zips", "records"]
            .iter()
            .flat_map(|folder| fs::read_dir(cache.path().join(folder)).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            ["large-of-today.zip", "of-this-week.zip", "small.json"]
        );
    }
}
