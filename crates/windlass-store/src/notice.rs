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
    /// The latest that somebody may have to act upon.
    turn: watch::Sender<u64>,
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
            turn: watch::Sender::new(0),
            poll: Mutex::default(),
            wake: Condvar::new(),
        })
    }

    /// Our own events from `first` to `last` are durable; `turned` when something was derived
    /// from them.
    pub(crate) fn committed(&self, first: u64, last: u64, turned: bool) {
        // What lies between the latest known and our first is somebody else's, and may be
        // anything. The poll will not tell of it any more: ours is later.
        let others = first > *self.latest.borrow() + 1;
        self.advance(last, turned || others);
    }

    fn advance(&self, position: u64, turned: bool) {
        let is_news = advance(&self.latest, position);
        if turned && is_news {
            advance(&self.turn, position);
        }
    }

    /// Subscribes; `connect` opens the connection the poll uses, the first time.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        interval: Duration,
        connect: impl FnOnce() -> Result<Connection> + Send + 'static,
    ) -> watch::Receiver<u64> {
        let receiver = self.latest.subscribe();
        self.start_poll(interval, connect);
        receiver
    }

    /// The same, for commits that somebody may have to act upon.
    pub(crate) fn subscribe_to_turns(
        self: &Arc<Self>,
        interval: Duration,
        connect: impl FnOnce() -> Result<Connection> + Send + 'static,
    ) -> watch::Receiver<u64> {
        let receiver = self.turn.subscribe();
        self.start_poll(interval, connect);
        receiver
    }

    fn start_poll(
        self: &Arc<Self>,
        interval: Duration,
        connect: impl FnOnce() -> Result<Connection> + Send + 'static,
    ) {
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
                // What another process wrote may be anything.
                self.advance(read::position(&connection)?, true);
                seen = Some(current);
            }
        }
        Ok(())
    }

    /// Waits for the next look; without end while nobody is subscribed. False when closed.
    fn wait(&self, interval: Duration) -> bool {
        let mut poll = self.lock();
        while !poll.closed && self.latest.receiver_count() + self.turn.receiver_count() == 0 {
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

/// Moves a position on; whether it was news.
fn advance(sender: &watch::Sender<u64>, position: u64) -> bool {
    sender.send_if_modified(|latest| {
        let newer = position > *latest;
        *latest = position.max(*latest);
        newer
    })
}
