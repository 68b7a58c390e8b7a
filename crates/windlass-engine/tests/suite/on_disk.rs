//! An engine on the real store and the real clock, for tests with several processes.

use std::{path::Path, sync::Arc, time::Duration};

use windlass_engine::{Domain, Engine, EngineParts, run::RunKind};
use windlass_store::{SqliteStore, SqliteStoreOptions, StoreFaults};
use windlass_system::{OsEntropy, SystemClock};
use windlass_testkit::{TestWorld, program::FnDomain};

/// How long a driver of these tests may be silent.
pub(super) const LEASE: Duration = Duration::from_millis(600);

/// Options that are quick to find a silent driver.
pub(super) fn options(faults: Option<Arc<dyn StoreFaults>>) -> SqliteStoreOptions {
    SqliteStoreOptions {
        lease: LEASE,
        busy_timeout: Duration::from_millis(500),
        poll_interval: Duration::from_millis(20),
        faults,
        ..SqliteStoreOptions::default()
    }
}

/// An engine with these kinds on a home.
pub(super) fn engine(
    home: &Path,
    kinds: Vec<Arc<dyn RunKind>>,
    options: SqliteStoreOptions,
) -> (Engine, Arc<SqliteStore>) {
    let domain = FnDomain {
        kinds,
        operations: Vec::new(),
    };
    let world = TestWorld::new(Vec::new);
    let store = Arc::new(SqliteStore::open(home, options).unwrap());
    let parts = EngineParts {
        store: Arc::clone(&store) as _,
        maintenance: Arc::clone(&store) as _,
        blobs: Arc::clone(&store) as _,
        lease: Arc::clone(&store) as _,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(OsEntropy),
        ..world.engine_parts(&world.disk)
    };
    let engine = Engine::new(parts, &[Box::new(domain) as Box<dyn Domain>]);
    (engine, store)
}
