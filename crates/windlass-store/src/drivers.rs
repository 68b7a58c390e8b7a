//! The drivers of a home: a file each, locked by its process for as long as that lives, and
//! touched by a heartbeat for as long as it gets to run.
//!
//! The operating system releases the lock when the process ends in any way: a driver whose file
//! is not locked is gone and never comes back, because a number is given out once. A driver whose
//! heartbeat has stood still for the length of a lease, by the elapsed time of the process that
//! looks, is silent: what it holds can be taken over. It may come back, and finds its leases
//! replaced.

use std::{
    collections::HashMap,
    fs::{File, TryLockError},
    io::{self, Read, Write},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self as channel, RecvTimeoutError},
    },
    thread::JoinHandle,
    time::{Duration, Instant, SystemTime},
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

/// Heartbeats in the time of a lease.
const BEATS: u32 = 10;

/// How a driver is, as this process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vitality {
    Alive,
    /// Its process exists and does not run.
    Silent,
    Gone,
}

/// The drivers of a home, as this process sees them.
pub(crate) struct Drivers {
    home: Home,
    /// How long a driver may be silent.
    lease: Duration,
    heard: Mutex<HashMap<u64, Heard>>,
}

/// The last heartbeat of a driver.
struct Heard {
    beat: SystemTime,
    looked: Instant,
    /// How long nothing has followed. Time in which this process did not look counts for little:
    /// it may have been stopped itself.
    silent: Duration,
}

impl Drivers {
    pub(crate) fn new(home: Home, lease: Duration) -> Self {
        Self {
            home,
            lease,
            heard: Mutex::default(),
        }
    }

    /// Whether a driver is alive.
    pub(crate) fn is_alive(&self, id: u64) -> bool {
        self.look(id) == Vitality::Alive
    }

    /// How a driver is.
    pub(crate) fn look(&self, id: u64) -> Vitality {
        match open_living(&self.home, id) {
            Living::Locked(file) if self.is_silent(id, &file) => Vitality::Silent,
            Living::Locked(_) | Living::Unknown => Vitality::Alive,
            Living::Gone => {
                self.heard().remove(&id);
                Vitality::Gone
            }
        }
    }

    fn is_silent(&self, id: u64, file: &File) -> bool {
        let Ok(beat) = file.metadata().and_then(|metadata| metadata.modified()) else {
            return false;
        };
        let now = Instant::now();
        let mut heard = self.heard();
        let last = heard.entry(id).or_insert(Heard {
            beat,
            looked: now,
            silent: Duration::ZERO,
        });
        if last.beat == beat {
            let passed = now.saturating_duration_since(last.looked);
            last.silent += passed.min(self.lease / 4);
        } else {
            (last.beat, last.silent) = (beat, Duration::ZERO);
        }
        last.looked = now;
        last.silent >= self.lease
    }

    fn record(&self, id: u64) -> Option<DriverRecord> {
        let mut file = match open_living(&self.home, id) {
            Living::Locked(file) => file,
            Living::Unknown | Living::Gone => return None,
        };
        let is_silent = self.is_silent(id, &file);
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
            is_silent,
        })
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Heard>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A driver of this process; its file is locked until this is dropped.
struct Registered {
    id: u64,
    path: PathBuf,
    stalls: watch::Sender<u64>,
    /// Dropped to end the heartbeat.
    ending: Option<channel::Sender<()>>,
    heartbeat: Option<JoinHandle<()>>,
    _lock: File,
}

impl RegisteredDriver for Registered {
    fn id(&self) -> u64 {
        self.id
    }

    fn stalls(&self) -> watch::Receiver<u64> {
        self.stalls.subscribe()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.ending = None;
        if let Some(heartbeat) = self.heartbeat.take() {
            let _ = heartbeat.join();
        }
        // Closing the file releases the lock; a file that stays behind is found unlocked.
        let _ = fs::remove_file(&self.path);
    }
}

/// Touches a driver's file until the driver ends. It sets the time of the file, which needs no
/// space on the disk; what the time is does not matter to those who look, only that it changes.
fn beat(file: &File, lease: Duration, ending: &channel::Receiver<()>, stalls: &watch::Sender<u64>) {
    let start = file.metadata().and_then(|metadata| metadata.modified());
    let start = start.unwrap_or(SystemTime::UNIX_EPOCH);
    let began = Instant::now();
    let mut last = began;
    while ending.recv_timeout(lease / BEATS) == Err(RecvTimeoutError::Timeout) {
        if let Err(error) = file.set_modified(start + began.elapsed()) {
            tracing::warn!(%error, "the heartbeat of this driver cannot be written");
        }
        if last.elapsed() >= lease / 2 {
            stalls.send_modify(|count| *count += 1);
        }
        last = Instant::now();
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
        let registered = lock_file(&self.home, id, scope, self.options.lease);
        Ok(Box::new(registered.map_err(Failure::Io)?))
    }

    fn drivers(&self) -> Vec<DriverRecord> {
        let Ok(entries) = fs::read_dir(self.home.drivers()) else {
            return Vec::new();
        };
        let mut drivers: Vec<DriverRecord> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|id| self.drivers.record(id))
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
                .inspect_err(|error| tracing::debug!(%error, driver, "notices cannot be received"))
                .ok()
        })
    }

    fn departures(&self) -> watch::Receiver<u64> {
        let readers = self.readers.clone();
        self.notice
            .subscribe_to_departures(self.options.poll_interval, move || readers.connect())
    }
}

/// What a driver's file says of its process.
enum Living {
    Locked(File),
    /// It cannot be looked at now, so it is not known to be dead.
    Unknown,
    Gone,
}

/// Whether the process of a driver exists.
pub(crate) fn exists(home: &Home, id: u64) -> bool {
    !matches!(open_living(home, id), Living::Gone)
}

fn open_living(home: &Home, id: u64) -> Living {
    let path = home.driver(id);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Living::Gone,
        Err(error) => {
            tracing::warn!(driver = id, %error, "the file of a driver cannot be opened");
            return Living::Unknown;
        }
    };
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Living::Locked(file),
        Ok(()) => {
            // Its owner is dead, and nobody takes its number again.
            let _ = fs::remove_file(&path);
            let _ = fs::remove_file(home.socket(id));
            Living::Gone
        }
        Err(TryLockError::Error(error)) => {
            tracing::warn!(driver = id, %error, "the lock of a driver cannot be read");
            Living::Unknown
        }
    }
}

/// Makes the driver's file. It has its name only once it is locked, so that nobody finds a
/// driver dead that is about to begin.
fn lock_file(home: &Home, id: u64, scope: DriverScope, lease: Duration) -> io::Result<Registered> {
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
    let (ending, ended) = channel::channel();
    let stalls = watch::Sender::new(0);
    let (file, stalled) = (lock.try_clone()?, stalls.clone());
    let heartbeat = std::thread::Builder::new()
        .name("windlass-heartbeat".to_owned())
        .spawn(move || beat(&file, lease, &ended, &stalled))?;
    let registered = Registered {
        id,
        path,
        stalls,
        ending: Some(ending),
        heartbeat: Some(heartbeat),
        _lock: lock,
    };
    fs::rename(&unnamed, &registered.path)?;
    Ok(registered)
}
