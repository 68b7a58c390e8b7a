//! Telling subscribers that something was committed, here or by another process.
//!
//! Own commits are told at once. For others a thread asks SQLite, at the poll interval,
//! whether the file changed; it runs only while somebody is subscribed.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::watch;

use crate::{error::Result, read};

/// The latest position anybody knows of, and those who want to hear about it.
pub(crate) struct Notice {
    latest: watch::Sender<u64>,
    poll: Mutex<Poll>,
    wake: Condvar,
}

#[derive(Default)]
struct Poll {
    thread: Option<JoinHandle<()>>,
    closed: bool,
}

impl Notice {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            latest: watch::Sender::new(0),
            poll: Mutex::default(),
            wake: Condvar::new(),
        })
    }

    /// Everything up to `position` is durable.
    pub(crate) fn committed(&self, position: u64) {
        self.latest.send_if_modified(|latest| {
            let newer = position > *latest;
            *latest = position.max(*latest);
            newer
        });
    }

    /// Subscribes; `connect` opens the connection the poll uses, the first time.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        interval: Duration,
        connect: impl FnOnce() -> Result<Connection> + Send + 'static,
    ) -> watch::Receiver<u64> {
        let receiver = self.latest.subscribe();
        let mut poll = self.lock();
        if poll.thread.is_none() && !poll.closed {
            let notice = Arc::clone(self);
            let spawned = std::thread::Builder::new()
                .name("windlass-poll".to_owned())
                .spawn(move || {
                    if let Err(error) = notice.poll(interval, connect) {
                        tracing::warn!(%error, "commits of other processes are no longer noticed");
                    }
                });
            match spawned {
                Ok(thread) => poll.thread = Some(thread),
                Err(error) => {
                    tracing::warn!(%error, "commits of other processes will not be noticed")
                }
            }
        }
        self.wake.notify_all();
        receiver
    }

    /// Ends the poll.
    pub(crate) fn close(&self) {
        let thread = {
            let mut poll = self.lock();
            poll.closed = true;
            poll.thread.take()
        };
        self.wake.notify_all();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    fn poll(&self, interval: Duration, connect: impl FnOnce() -> Result<Connection>) -> Result<()> {
        let connection = connect()?;
        let mut version = connection.prepare("PRAGMA data_version")?;
        let mut seen: Option<i64> = None;
        while self.wait(interval) {
            let current = version.query_row([], |row| row.get(0))?;
            if seen != Some(current) {
                self.committed(read::position(&connection)?);
                seen = Some(current);
            }
        }
        Ok(())
    }

    /// Waits for the next look; without end while nobody is subscribed. False when closed.
    fn wait(&self, interval: Duration) -> bool {
        let mut poll = self.lock();
        while !poll.closed && self.latest.receiver_count() == 0 {
            poll = self.wake.wait(poll).unwrap_or_else(PoisonError::into_inner);
        }
        if !poll.closed {
            let (after, _) = self
                .wake
                .wait_timeout(poll, interval)
                .unwrap_or_else(PoisonError::into_inner);
            poll = after;
        }
        !poll.closed
    }

    fn lock(&self) -> MutexGuard<'_, Poll> {
        self.poll.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
