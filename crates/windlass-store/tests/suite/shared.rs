//! What every store must do, on this one: the suite that the store in memory passes, too.

use std::time::Duration;

use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_testkit::store_suite::Stores;

/// An empty home; opening it again is another process on it.
fn home() -> impl Fn() -> Stores {
    let directory = tempfile::tempdir().unwrap();
    move || {
        let options = SqliteStoreOptions {
            poll_interval: Duration::from_millis(5),
            ..SqliteStoreOptions::default()
        };
        Stores::of(SqliteStore::open(directory.path(), options).unwrap())
    }
}

windlass_testkit::store_suite!(home);
