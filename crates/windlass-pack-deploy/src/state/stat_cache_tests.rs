//! What the cache remembers, what it refuses to, and what it does with damage.

use std::{fs::FileTimes, time::SystemTime};

use super::*;

struct Scene {
    directory: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn cache_path(&self) -> PathBuf {
        self.directory.path().join("cache/stat")
    }

    /// A session that begins a while after a file changed last.
    fn session(&self, file: &Path, later_ms: i64) -> StatCache {
        let ctime = fs::metadata(file).unwrap().ctime() * 1000
            + fs::metadata(file).unwrap().ctime_nsec() / 1_000_000;
        StatCache::open(self.cache_path(), Timestamp::from_millis(ctime + later_ms))
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn remember(&self, file: &Path, later_ms: i64) {
        let cache = self.session(file, later_ms);
        cache.remember(file, &metadata(file), Digest::of(b"text"));
        cache.save().unwrap();
    }
}

fn metadata(path: &Path) -> Metadata {
    std::fs::metadata(path).unwrap()
}

#[test]
fn an_unchanged_file_is_recognised() {
    let scene = Scene::new();
    let file = scene.file("a", "text");
    scene.remember(&file, 5000);
    let again = scene.session(&file, 9000);
    assert_eq!(
        again.digest(&file, &metadata(&file)),
        Some(Digest::of(b"text"))
    );
    // Asking teaches nothing, so nothing is written.
    let written = fs::metadata(scene.cache_path())
        .unwrap()
        .modified()
        .unwrap();
    again.save().unwrap();
    assert_eq!(
        fs::metadata(scene.cache_path())
            .unwrap()
            .modified()
            .unwrap(),
        written
    );
}

#[test]
fn a_racy_file_is_not_remembered() {
    let scene = Scene::new();
    let file = scene.file("a", "text");
    for later in [-1000, 0, 10] {
        scene.remember(&file, later);
        assert!(!scene.cache_path().exists(), "{later}");
    }
}

#[test]
fn any_change_is_noticed() {
    let scene = Scene::new();
    let file = scene.file("a", "text");
    scene.remember(&file, 5000);
    let before = metadata(&file);
    // The same length and the old mtime: only the ctime differs.
    fs::write(&file, "TEXT").unwrap();
    let times = FileTimes::new().set_modified(before.modified().unwrap());
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_times(times)
        .unwrap();
    let changed = metadata(&file);
    if (changed.ctime(), changed.ctime_nsec()) != (before.ctime(), before.ctime_nsec()) {
        assert_eq!(scene.session(&file, 5000).digest(&file, &changed), None);
    }
    let longer = scene.file("a", "longer text");
    assert_eq!(
        scene
            .session(&longer, 5000)
            .digest(&file, &metadata(&longer)),
        None
    );
    assert_eq!(
        scene.session(&file, 5000).digest(&file, &before),
        Some(Digest::of(b"text"))
    );
}

#[test]
fn whole_seconds_need_a_longer_rest() {
    let cache = StatCache::open(PathBuf::from("/nowhere"), Timestamp::from_millis(10_000));
    let record = |nanoseconds: i64| Record {
        key: (1, 2),
        size: 3,
        mtime: nanoseconds,
        ctime: nanoseconds,
        age: 0,
        digest: Digest::ZERO,
    };
    for (changed, at_rest) in [
        (7_999_000_000, true),
        (9_900_000_000, true),
        (9_960_000_000, false),
        (7_000_000_000, true),
        (8_000_000_000, false),
        (9_000_000_000, false),
        (11_000_000_001, false),
    ] {
        assert_eq!(cache.at_rest(&record(changed)), at_rest, "{changed}");
    }
}

#[test]
fn a_damaged_cache_is_ignored_and_replaced() {
    let scene = Scene::new();
    let file = scene.file("a", "text");
    scene.remember(&file, 5000);
    let whole = fs::read(scene.cache_path()).unwrap();
    assert_eq!(whole.len(), HEADER + RECORD);
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let mut version = whole.clone();
    version[7] += 1;
    for bad in [
        Vec::new(),
        b"short".to_vec(),
        whole[..whole.len() - 1].to_vec(),
        flipped,
        version,
    ] {
        fs::write(scene.cache_path(), &bad).unwrap();
        let cache = scene.session(&file, 5000);
        assert_eq!(cache.digest(&file, &metadata(&file)), None);
        cache.remember(&file, &metadata(&file), Digest::of(b"text"));
        cache.save().unwrap();
        assert_eq!(fs::read(scene.cache_path()).unwrap(), whole);
    }
}

#[test]
fn unused_records_are_dropped() {
    let scene = Scene::new();
    let (asked, forgotten) = (scene.file("asked", "text"), scene.file("forgotten", "text"));
    scene.remember(&forgotten, 5000);
    scene.remember(&asked, 5000);
    for round in 0..=MAX_AGE {
        let extra = scene.file(&format!("extra-{round}"), "text");
        let cache = scene.session(&extra, 5000);
        assert!(cache.digest(&asked, &metadata(&asked)).is_some(), "{round}");
        cache.remember(&extra, &metadata(&extra), Digest::of(b"text"));
        cache.save().unwrap();
    }
    let last = scene.session(&asked, 5000);
    assert!(last.digest(&asked, &metadata(&asked)).is_some());
    assert!(last.digest(&forgotten, &metadata(&forgotten)).is_none());
    assert!(
        last.digest(&forgotten, &metadata(&asked)).is_some(),
        "the path does not matter"
    );
    assert!(metadata(&asked).modified().unwrap() > SystemTime::UNIX_EPOCH);
}

proptest::proptest! {
    #[test]
    fn records_survive_the_file(
        key: (u64, u64), size: u64, mtime: i64, ctime: i64, age: u64, digest: [u8; 32],
    ) {
        let record = Record { key, size, mtime, ctime, age, digest: Digest::from_bytes(digest) };
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        proptest::prop_assert_eq!(bytes.len(), RECORD);
        proptest::prop_assert_eq!(Record::read(&bytes), Some(record));
    }

    #[test]
    fn any_bytes_are_handled(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }
}
