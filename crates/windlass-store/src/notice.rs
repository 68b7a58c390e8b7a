//! Notifying subscribers that something was committed, here or by another process.
//!
//! Own commits are announced at once. For others a thread asks SQLite, at the poll interval,
//! whether the file changed; it runs only while there are subscribers. Those who follow one
//! run are woken by the events of that run and by nothing else.

use std::{
    collections::HashMap,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::watch;
use windlass_types::RunId;

use crate::{
    drivers::{Drivers, Vitality},
    error::Result,
    lease, read,
};

/// The latest position anyone knows of, and those who want to hear about it.
pub(crate) struct Notice {
    drivers: Arc<Drivers>,
    latest: watch::Sender<u64>,
    /// The latest that a subscriber may have to act on.
    turn: watch::Sender<u64>,
    /// How often a driver that held something was found gone or silent.
    departures: watch::Sender<u64>,
    /// The last event of each run that is followed, as far as it is known.
    followed: Mutex<Followed>,
    /// Everything up to here was announced to followers of a run; `UNANNOUNCED` while there are
    /// none.
    announced: AtomicU64,
    poll: Mutex<Poll>,
    wake: Condvar,
}

#[derive(Default)]
struct Poll {
    thread: Option<JoinHandle<()>>,
    closed: bool,
}

#[derive(Default)]
struct Followed {
    runs: HashMap<RunId, watch::Sender<u64>>,
    /// How many runs there may be before those that nobody follows any more are forgotten.
    limit: usize,
    closed: bool,
}

/// Where those who follow a run stand is not known: they look for themselves.
const UNANNOUNCED: u64 = u64::MAX;

/// Runs that may be followed before anyone looks for those that no longer are.
const FEW_RUNS: usize = 64;

impl Notice {
    pub(crate) fn new(drivers: Arc<Drivers>) -> Arc<Self> {
        Arc::new(Self {
            drivers,
            latest: watch::Sender::new(0),
            turn: watch::Sender::new(0),
            departures: watch::Sender::new(0),
            followed: Mutex::default(),
            announced: AtomicU64::new(UNANNOUNCED),
            poll: Mutex::default(),
            wake: Condvar::new(),
        })
    }

    /// Our own events from `first` to `last` are durable; `turned` when something was derived
    /// from them.
    pub(crate) fn committed(&self, first: u64, last: u64, turned: bool) {
        // What lies between the latest known and our first is another process's, and may be
        // anything. The poll will not announce it any more: ours is later.
        let others = first > *self.latest.borrow() + 1;
        self.advance(last, turned || others);
        // Without a gap there is nothing left for the poll to announce about single runs.
        let _ =
            self.announced
                .compare_exchange(first - 1, last, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The journals of these runs have grown up to these places.
    pub(crate) fn grown<'a>(&self, ends: impl Iterator<Item = (&'a RunId, u64)>) {
        let followed = self.followed();
        if followed.runs.is_empty() {
            return;
        }
        for (run_id, seq) in ends {
            if let Some(sender) = followed.runs.get(run_id) {
                advance(sender, seq);
            }
        }
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

    /// The same, for commits that a subscriber may have to act on.
    pub(crate) fn subscribe_to_turns(
        self: &Arc<Self>,
        interval: Duration,
        connect: impl FnOnce() -> Result<Connection> + Send + 'static,
    ) -> watch::Receiver<u64> {
        let receiver = self.turn.subscribe();
        self.start_poll(interval, connect);
        receiver
    }

    /// The same, for drivers that are gone and have left something behind.
    pub(crate) fn subscribe_to_departures(
        self: &Arc<Self>,
        interval: Duration,
        connect: impl FnOnce() -> Result<Connection> + Send + 'static,
    ) -> watch::Receiver<u64> {
        let receiver = self.departures.subscribe();
        self.start_poll(interval, connect);
        receiver
    }

    /// The same, for the events of one run.
    pub(crate) fn follow(
        self: &Arc<Self>,
        run_id: &RunId,
        interval: Duration,
        connect: impl FnOnce() -> Result<Connection> + Send + 'static,
    ) -> watch::Receiver<u64> {
        let receiver = {
            let mut followed = self.followed();
            if followed.closed {
                return watch::Sender::new(0).subscribe();
            }
            if followed.runs.len() >= followed.limit.max(FEW_RUNS) {
                followed
                    .runs
                    .retain(|_, sender| sender.receiver_count() > 0);
                followed.limit = followed.runs.len() * 2;
            }
            let sender = followed.runs.entry(run_id.clone());
            sender.or_insert_with(|| watch::Sender::new(0)).subscribe()
        };
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
        {
            let mut followed = self.followed();
            followed.closed = true;
            followed.runs.clear();
        }
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
        let mut owners = Owners::default();
        while self.wait(interval) {
            let current = version.query_row([], |row| row.get(0))?;
            if seen != Some(current) || self.announced.load(Ordering::Relaxed) == UNANNOUNCED {
                // What another process wrote may be anything.
                let position = read::position(&connection)?;
                self.notify_followers(&connection, position)?;
                self.advance(position, true);
                owners.renew(lease::owners(&connection)?);
                seen = Some(current);
            }
            if self.departures.receiver_count() > 0 && owners.find_departed(&self.drivers) {
                self.departures.send_modify(|count| *count += 1);
            }
        }
        Ok(())
    }

    /// Notifies followers of a run about events that were not announced when they were committed.
    fn notify_followers(&self, connection: &Connection, position: u64) -> Result<()> {
        let announced = self.announced.swap(position, Ordering::Relaxed);
        if announced == UNANNOUNCED {
            for sender in self.followed().runs.values() {
                sender.send_modify(|_| {});
            }
        }
        if announced >= position || self.followed().runs.is_empty() {
            return Ok(());
        }
        let ends = read::ends_after(connection, announced)?;
        self.grown(ends.iter().map(|(run_id, seq)| (run_id, *seq)));
        Ok(())
    }

    /// Waits for the next look; without end while nobody is subscribed. False when closed.
    fn wait(&self, interval: Duration) -> bool {
        let mut poll = self.lock();
        while !poll.closed && !self.has_subscribers() {
            self.announced.store(UNANNOUNCED, Ordering::Relaxed);
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

    fn has_subscribers(&self) -> bool {
        let waiting = [&self.latest, &self.turn, &self.departures]
            .into_iter()
            .any(|sender| sender.receiver_count() > 0);
        let mut runs = self.followed();
        waiting || {
            runs.runs.retain(|_, sender| sender.receiver_count() > 0);
            !runs.runs.is_empty()
        }
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Poll> {
        self.poll.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The drivers that hold something, and how they were when they were last looked at.
#[derive(Default)]
struct Owners(HashMap<u64, Vitality>);

impl Owners {
    fn renew(&mut self, owners: Vec<u64>) {
        let known = std::mem::take(&mut self.0);
        let vitality = |owner| known.get(&owner).copied().unwrap_or(Vitality::Alive);
        self.0 = owners
            .into_iter()
            .map(|owner| (owner, vitality(owner)))
            .collect();
    }

    /// Looks at all that may have changed; whether any is gone or silent that was not before.
    fn find_departed(&mut self, drivers: &Drivers) -> bool {
        let mut departed = false;
        for (owner, vitality) in &mut self.0 {
            if *vitality == Vitality::Gone {
                continue;
            }
            let now = drivers.look(*owner);
            departed |= now != *vitality && now != Vitality::Alive;
            *vitality = now;
        }
        departed
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
