//! The right to drive: a lock the operating system releases with the process, and a number
//! that grows with every acquisition so that a former driver's commits are refused.

use std::{
    fs::{File, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    time::Duration,
};

use rustix::process::{Pid, test_kill_process};
use windlass_ports::{DriverLease, Lease, StoreError};

use crate::{
    error::{Failure, Result},
    home::Home,
    open::SqliteStore,
};

/// How often to try again when the lock is taken but nobody seems to drive: the driver has
/// just died, or somebody is looking who drives.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(2);

/// Held while driving.
struct HeldLease {
    lock: File,
    epoch: u64,
}

impl DriverLease for HeldLease {
    fn epoch(&self) -> u64 {
        self.epoch
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        // Closing the file releases the lock; the name of the holder goes first.
        let _ = self.lock.set_len(0);
    }
}

impl Lease for SqliteStore {
    fn try_acquire(&self) -> Result<Option<Box<dyn DriverLease>>, StoreError> {
        let Some(mut lock) = take_lock(&self.home)? else {
            return Ok(None);
        };
        write_holder(&mut lock).map_err(|error| StoreError::from(Failure::Io(error)))?;
        let epoch = self.writer()?.alone_blocking(|session| {
            session.alone(|connection| {
                Ok(connection.query_row(
                    "UPDATE lease SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch",
                    [],
                    |row| row.get(0),
                )?)
            })
        })?;
        Ok(Some(Box::new(HeldLease { lock, epoch })))
    }

    fn holder(&self) -> Option<u32> {
        let mut lock = File::open(self.home.driver_lock()).ok()?;
        let holder = read_holder(&mut lock)?;
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(holder),
            _ => None,
        }
    }
}

fn take_lock(home: &Home) -> Result<Option<File>, StoreError> {
    let mut lock = home
        .open_lock(&home.driver_lock())
        .map_err(|error| StoreError::from(Failure::Io(error)))?;
    for _ in 0..TRIES {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => {
                return Err(StoreError::Io(format!("driver.lock: {error}")));
            }
        }
        if read_holder(&mut lock).is_some_and(is_alive) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(None)
}

fn write_holder(lock: &mut File) -> std::io::Result<()> {
    lock.set_len(0)?;
    lock.seek(SeekFrom::Start(0))?;
    writeln!(lock, "{}", std::process::id())
}

fn read_holder(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.seek(SeekFrom::Start(0)).ok()?;
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    // A process that may not be signalled exists as well.
    !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}
