//! The driver: executes runs, each under a lease that only one driver has.
//!
//! A driver takes up every run that no other driver holds (a daemon), or the runs of its own
//! process and nothing else (a command). It looks through the store once, then follows its feed:
//! new runs are begun, signals handed to the runs they are for, names that became free given to
//! those that wait for them. A run that waits for a moment or a signal is parked: it is no task
//! and no memory until it is due. What a driver that died has left is taken over at once, what one
//! holds that is stopped or hangs when its lease has run out.

mod activity;
mod execute;
mod journal_context;
mod live;
mod memo;
mod ops;
mod own;
mod probe;
mod shortage;
mod step_calls;
mod unwind;

pub use own::OwnRuns;
pub use probe::{ProbeAction, StepProbe};

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};
use windlass_ports::{DriverScope, LeaseName, RegisteredDriver, ServedNotices, StoreError};
use windlass_types::{Body, Problem, RunId, Timestamp, journal::SignalReceived, run::DUE_NEW};

use self::live::LiveRun;
use crate::{Engine, anchors, outbox, retention, store_retry};

/// Events the driver reacts to.
const ATTENTION: &[&str] = &[
    "run.created",
    "signal.received",
    "run.completed",
    "run.failed",
    "run.cancelled",
    "run.rolled_back",
];
const FEED_PAGE: usize = 256;
/// How long a stopping driver waits for effects under way.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// A running driver. Dropping it without `stop` ends it at once, like a crash would.
pub struct Driver {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    /// The number of the driver.
    pub(crate) id: u64,
    pub(crate) scope: DriverScope,
    pub(crate) stop: watch::Sender<bool>,
    live: Mutex<HashMap<RunId, Arc<LiveRun>>>,
    runs: Mutex<JoinSet<()>>,
    /// Changes when this process runs again after it stood still.
    stalls: watch::Receiver<u64>,
    /// A run was parked; it may be due before all others.
    parked: Notify,
    // Held for their drops: what other processes hear, and the leases, end with the driver.
    _notices: Option<Box<dyn ServedNotices>>,
    _registered: Box<dyn RegisteredDriver>,
}

impl Driver {
    /// Begins to drive every run that no other driver holds.
    pub async fn start_all(engine: &Engine) -> Result<Self, Problem> {
        engine.own_runs().ignore();
        let mut driver = Self::start(engine, DriverScope::All).await?;
        let (engine, stop) = (engine.clone(), driver.shared.stop.clone());
        driver
            .tasks
            .spawn(retention::expire(engine.clone(), stop.clone()));
        driver.tasks.spawn(anchors::keep(engine, stop));
        Ok(driver)
    }

    /// Begins to drive the runs of this process that no other driver holds: those it created,
    /// told something or waits for, and their children.
    pub async fn start_own(engine: &Engine) -> Result<Self, Problem> {
        Self::start(engine, DriverScope::Own).await
    }

    async fn start(engine: &Engine, scope: DriverScope) -> Result<Self, Problem> {
        // Subscribe and note the position before looking, so that nothing falls in between.
        let changes = engine.store.turns();
        let departures = engine.lease.departures();
        let position = engine.store.position().await?;
        let registered = engine.lease.register(scope)?;
        engine.own_runs().set_driver(registered.id());
        let source = Arc::clone(engine.notices());
        let notices = engine.lease.serve_notices(registered.id(), source);
        let shared = Arc::new(Shared {
            engine: engine.clone(),
            id: registered.id(),
            scope,
            stop: watch::Sender::new(false),
            live: Mutex::default(),
            runs: Mutex::new(JoinSet::new()),
            stalls: registered.stalls(),
            parked: Notify::new(),
            _notices: notices,
            _registered: registered,
        });
        tracing::debug!(driver = shared.id, ?scope, "driving");
        let swept = engine.steady();
        shared.wake_due(None, swept).await?;
        for run_id in engine.store.signalled().await? {
            if shared.drives(&run_id) {
                shared.take_up(run_id);
            }
        }
        shared.take_over_abandoned().await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(follow_feed(Arc::clone(&shared), changes, position));
        tasks.spawn(keep_time(Arc::clone(&shared), swept));
        tasks.spawn(take_over(Arc::clone(&shared), departures));
        tasks.spawn(outbox::dispatch(Arc::clone(&shared)));
        if scope == DriverScope::Own {
            tasks.spawn(follow_own(Arc::clone(&shared)));
        }
        Ok(Self { shared, tasks })
    }

    /// The number of the driver; later drivers of the home have higher ones.
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// How many runs it executes at the moment; parked ones do not count.
    pub fn live_runs(&self) -> usize {
        lock(&self.shared.live).len()
    }

    /// Whether it was told to stop, or was found dead by another.
    pub fn is_stopping(&self) -> bool {
        *self.shared.stop.borrow()
    }

    /// Stops driving: waiting runs are suspended at once, effects under way are given time to
    /// be recorded, then the leases are free.
    pub async fn stop(mut self) {
        self.shared.stop.send_replace(true);
        let mut runs = std::mem::take(&mut *lock(&self.shared.runs));
        let drained = tokio::time::timeout(STOP_TIMEOUT, async {
            while runs.join_next().await.is_some() {}
            while self.tasks.join_next().await.is_some() {}
        });
        if drained.await.is_err() {
            tracing::warn!(
                "some steps did not end in time; they will be repeated when the runs resume"
            );
        }
        runs.shutdown().await;
        self.tasks.shutdown().await;
        self.shared.engine.audit().flush().await;
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The runs hold what holds them; unless they are ended here they would go on, and with
        // them the leases.
        self.shared.stop.send_replace(true);
        lock(&self.shared.runs).abort_all();
    }
}

impl Shared {
    /// Whether the run is this driver's to take up.
    pub(crate) fn drives(&self, run_id: &RunId) -> bool {
        match self.scope {
            DriverScope::All => true,
            DriverScope::Own => self.engine.own_runs().contains(run_id),
        }
    }

    /// Takes the run up, if it can be had and there is something to do; a run that is being
    /// executed is looked at once more afterwards.
    fn take_up(self: &Arc<Self>, run_id: RunId) {
        if *self.stop.borrow() {
            return;
        }
        let live = Arc::new(LiveRun::default());
        {
            let mut runs = lock(&self.live);
            if let Some(live) = runs.get(&run_id) {
                live.ask_again();
                return;
            }
            runs.insert(run_id.clone(), Arc::clone(&live));
        }
        let shared = Arc::clone(self);
        let mut runs = lock(&self.runs);
        // Reap what has ended, so that the set does not grow with history.
        while runs.try_join_next().is_some() {}
        runs.spawn(async move {
            loop {
                execute::execute(&shared, &run_id, &live).await;
                let mut runs = lock(&shared.live);
                if *shared.stop.borrow() || !live.is_asked_again() {
                    runs.remove(&run_id);
                    break;
                }
            }
            shared.parked.notify_one();
        });
    }

    /// Hands a signal to its run, which is taken up for it if nobody here executes it.
    fn deliver(self: &Arc<Self>, run_id: RunId, seq: u64, signal: SignalReceived) {
        let runs = lock(&self.live);
        match runs.get(&run_id) {
            Some(live) => {
                live.deliver(seq, signal);
                live.ask_again();
            }
            None => {
                drop(runs);
                if self.drives(&run_id) {
                    self.take_up(run_id);
                }
            }
        }
    }

    /// Takes up what became due between two moments.
    async fn wake_due(
        self: &Arc<Self>,
        after: Option<Timestamp>,
        by: Timestamp,
    ) -> Result<(), StoreError> {
        if self.scope == DriverScope::Own {
            for run_id in self.engine.own_runs().all() {
                self.take_up(run_id);
            }
            return Ok(());
        }
        for run_id in self.engine.store.due(after, by).await? {
            self.take_up(run_id);
        }
        Ok(())
    }

    /// Takes up runs whose driver is gone.
    async fn take_over_abandoned(self: &Arc<Self>) -> Result<(), StoreError> {
        for lease in self.engine.store.leases().await? {
            if let LeaseName::Run(run_id) = lease.name
                && !lease.is_alive
                && self.drives(&run_id)
            {
                self.take_up(run_id);
            }
        }
        Ok(())
    }

    /// When the next parked run is due.
    async fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let store = &self.engine.store;
        if self.scope == DriverScope::All {
            return store.next_due(after).await;
        }
        let mut next = None;
        for run_id in self.engine.own_runs().all() {
            let standing = store.standing(&run_id).await?;
            let due = standing.and_then(|standing| standing.due.at);
            next = next.into_iter().chain(due.filter(|due| *due > after)).min();
        }
        Ok(next)
    }

    async fn is_stopped(&self) {
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }
}

/// Takes up the runs that this process notes as its own.
async fn follow_own(shared: Arc<Shared>) {
    let mut changes = shared.engine.own_runs().changes();
    loop {
        changes.mark_unchanged();
        for run_id in shared.engine.own_runs().all() {
            if !lock(&shared.live).contains_key(&run_id) {
                shared.take_up(run_id);
            }
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = shared.is_stopped() => return,
        }
    }
}

/// Takes over what other drivers leave when they die.
async fn take_over(shared: Arc<Shared>, mut departures: watch::Receiver<u64>) {
    loop {
        tokio::select! {
            changed = departures.changed() => if changed.is_err() { return },
            () = shared.is_stopped() => return,
        }
        while let Err(error) = shared.take_over_abandoned().await {
            tracing::error!(%error, "runs of a driver that is gone cannot be found; trying again");
            if !store_retry::pause(&shared.engine, &shared.stop).await {
                return;
            }
        }
    }
}

/// Wakes parked runs when they are due.
async fn keep_time(shared: Arc<Shared>, mut swept: Timestamp) {
    let engine = &shared.engine;
    // Timers of runs that other drivers parked are this one's, too.
    let mut changes = engine.store.turns();
    loop {
        changes.mark_unchanged();
        let next = match shared.next_due(swept).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!(%error, "the timers cannot be read; trying again");
                if !store_retry::pause(engine, &shared.stop).await {
                    return;
                }
                continue;
            }
        };
        let due = async {
            match next {
                Some(next) => engine.until(next).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = due => {
                let now = engine.steady();
                match shared.wake_due(Some(swept), now).await {
                    Ok(()) => swept = now,
                    Err(error) => {
                        tracing::error!(%error, "due runs cannot be read; trying again");
                        if !store_retry::pause(engine, &shared.stop).await {
                            return;
                        }
                    }
                }
            }
            () = shared.parked.notified() => {}
            changed = changes.changed() => if changed.is_err() { return },
            () = shared.is_stopped() => return,
        }
    }
}

async fn follow_feed(shared: Arc<Shared>, mut changes: watch::Receiver<u64>, mut position: u64) {
    loop {
        match read_feed(&shared, position).await {
            Ok(next) => position = next,
            // Readable again later or not at all; new work waits, nothing is lost.
            Err(error) => {
                tracing::error!(%error, "the store's feed cannot be read; trying again");
                if !store_retry::pause(&shared.engine, &shared.stop).await {
                    return;
                }
                continue;
            }
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = shared.is_stopped() => return,
        }
    }
}

async fn read_feed(shared: &Arc<Shared>, mut position: u64) -> Result<u64, StoreError> {
    loop {
        let store = &shared.engine.store;
        let page = store.feed(position, ATTENTION, FEED_PAGE).await?;
        let full = page.entries.len() == FEED_PAGE;
        let mut names_are_free = false;
        for entry in page.entries {
            let run_id = entry.event.run_id;
            match Body::decode(&entry.event.event_type, &entry.event.payload) {
                Ok(Some(Body::SignalReceived(signal))) => {
                    shared.deliver(run_id, entry.event.seq, signal);
                }
                Ok(Some(Body::RunCreated(_))) if shared.drives(&run_id) => shared.take_up(run_id),
                Ok(Some(Body::RunCreated(_))) => {}
                Ok(_) => names_are_free = true,
                Err(error) => tracing::error!(%run_id, %error, "an event cannot be read"),
            }
        }
        if names_are_free {
            for run_id in store.due(None, DUE_NEW).await? {
                if shared.drives(&run_id) {
                    shared.take_up(run_id);
                }
            }
        }
        position = page.position;
        if !full {
            return Ok(position);
        }
    }
}

/// Locks, ignoring poison: every critical section here leaves the data whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
