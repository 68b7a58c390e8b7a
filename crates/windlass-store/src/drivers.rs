//! The drivers of a home: a file each, locked by its process for as long as that lives.
//!
//! The operating system releases the lock when the process ends in any way, so that a driver is
//! alive exactly while its file is locked. A number is given out once; a driver that is not
//! found alive never comes back.

use std::{
    fs::{File, TryLockError},
    io::{self, Read, Write},
    path::PathBuf,
    sync::Arc,
};

use fs_err as fs;
use tokio::sync::{mpsc, watch};
use windlass_ports::{
    BoxFuture, DriverRecord, DriverScope, Lease, NoticeSource, RegisteredDriver, ServedNotices,
    StoreError,
};
use windlass_types::{PassingNotice, RunId};

use crate::{
    error::{Failure, Result},
    home::{Home, create_private_dir},
    open::SqliteStore,
    relay,
};

/// A driver of this process; its file is locked until this is dropped.
struct Registered {
    id: u64,
    path: PathBuf,
    _lock: File,
}

impl RegisteredDriver for Registered {
    fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // Closing the file releases the lock; a file that stays behind is found unlocked.
        let _ = fs::remove_file(&self.path);
    }
}

impl Lease for SqliteStore {
    fn register(&self, scope: DriverScope) -> Result<Box<dyn RegisteredDriver>, StoreError> {
        let id = self.writer()?.alone_blocking(|session| {
            session.alone(|connection| {
                Ok(connection.query_row(
                    "UPDATE lease SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch",
                    [],
                    |row| row.get(0),
                )?)
            })
        })?;
        let registered = lock_file(&self.home, id, scope).map_err(Failure::Io)?;
        Ok(Box::new(registered))
    }

    fn drivers(&self) -> Vec<DriverRecord> {
        let Ok(entries) = fs::read_dir(self.home.drivers()) else {
            return Vec::new();
        };
        let mut drivers: Vec<DriverRecord> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|id| living(&self.home, id))
            .collect();
        drivers.sort_by_key(|driver| driver.id);
        drivers
    }

    fn serve_notices(
        &self,
        driver: u64,
        source: Arc<dyn NoticeSource>,
    ) -> Option<Box<dyn ServedNotices>> {
        match relay::serve(&self.home, driver, source) {
            Ok(served) => Some(served),
            Err(error) => {
                tracing::warn!(%error, "other processes cannot hear the notices of this one");
                None
            }
        }
    }

    fn hear_notices<'a>(
        &'a self,
        driver: u64,
        run_id: &'a RunId,
    ) -> BoxFuture<'a, Option<mpsc::Receiver<PassingNotice>>> {
        Box::pin(async move {
            let heard = relay::hear(&self.home, driver, run_id).await;
            heard
                .inspect_err(|error| tracing::debug!(%error, driver, "notices cannot be heard"))
                .ok()
        })
    }

    fn departures(&self) -> watch::Receiver<u64> {
        let readers = self.readers.clone();
        self.notice
            .subscribe_to_departures(self.options.poll_interval, move || readers.connect())
    }
}

/// Whether a driver is alive.
pub(crate) fn is_alive(home: &Home, id: u64) -> bool {
    living(home, id).is_some()
}

fn living(home: &Home, id: u64) -> Option<DriverRecord> {
    let path = home.driver(id);
    let mut file = File::open(&path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) => {
            // Its owner is dead, and nobody takes its number again.
            let _ = fs::remove_file(&path);
            let _ = fs::remove_file(home.socket(id));
            return None;
        }
        // Not known to be dead.
        Err(TryLockError::Error(error)) => {
            tracing::warn!(driver = id, %error, "the lock of a driver cannot be read");
        }
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok();
    let mut words = text.split_whitespace();
    let process = words.next().and_then(|word| word.parse().ok());
    Some(DriverRecord {
        id,
        process: process.unwrap_or_default(),
        scope: match words.next() {
            Some("all") => DriverScope::All,
            _ => DriverScope::Own,
        },
    })
}

/// Makes the driver's file. It has its name only once it is locked, so that nobody finds a
/// driver dead that is about to begin.
fn lock_file(home: &Home, id: u64, scope: DriverScope) -> io::Result<Registered> {
    create_private_dir(&home.drivers())?;
    let path = home.driver(id);
    let unnamed = path.with_extension("new");
    let mut lock = home.open_lock(&unnamed)?;
    lock.lock()?;
    let scope = match scope {
        DriverScope::All => "all",
        DriverScope::Own => "own",
    };
    writeln!(lock, "{} {scope}", std::process::id())?;
    fs::rename(&unnamed, &path)?;
    Ok(Registered {
        id,
        path,
        _lock: lock,
    })
}
