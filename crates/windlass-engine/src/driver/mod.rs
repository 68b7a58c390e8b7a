//! The driver: the one process of a home that executes runs.
//!
//! It takes the lease, resumes every unfinished run, then follows the store's feed: new runs
//! are started, signals handed to the runs they are for. Everything it writes carries its
//! fencing epoch. Any other process may create runs and send signals; it never executes.

mod execute;
mod journal_context;
mod live;
mod memo;
mod ops;
mod probe;
mod unwind;

pub use probe::{ProbeAction, StepProbe};

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, task::JoinSet};
use windlass_ports::{DriverLease, StoreError};
use windlass_types::{Body, Problem, RunId, RunState};

use self::live::LiveRun;
use crate::{Engine, outbox, patience, retention};

/// Events the driver reacts to.
const ATTENTION: &[&str] = &["run.created", "signal.received"];
const FEED_PAGE: usize = 256;
/// How long a stopping driver waits for effects under way.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// A running driver. Dropping it without `stop` ends it at once, like a crash would.
pub struct Driver {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) epoch: u64,
    pub(crate) stop: watch::Sender<bool>,
    live: Mutex<HashMap<RunId, Arc<LiveRun>>>,
    runs: Mutex<JoinSet<()>>,
    // Held for its drop: the lease ends with the driver.
    _lease: Box<dyn DriverLease>,
}

impl Driver {
    /// Takes the lease and begins to drive; `None` when another process drives.
    pub async fn start(engine: &Engine) -> Result<Option<Self>, Problem> {
        let Some(lease) = engine.lease.try_acquire()? else {
            return Ok(None);
        };
        // Subscribe and note the position before listing, so that nothing falls in between.
        let changes = engine.store.turns();
        let position = engine.store.position().await?;
        let unfinished = engine.store.unfinished().await?;
        let shared = Arc::new(Shared {
            engine: engine.clone(),
            epoch: lease.epoch(),
            stop: watch::Sender::new(false),
            live: Mutex::default(),
            runs: Mutex::new(JoinSet::new()),
            _lease: lease,
        });
        tracing::debug!(
            epoch = shared.epoch,
            unfinished = unfinished.len(),
            "driving"
        );
        for run_id in unfinished {
            shared.spawn(run_id);
        }
        let mut tasks = JoinSet::new();
        tasks.spawn(follow_feed(Arc::clone(&shared), changes, position));
        tasks.spawn(outbox::dispatch(
            shared.engine.clone(),
            shared.epoch,
            shared.stop.clone(),
        ));
        tasks.spawn(retention::expire(
            shared.engine.clone(),
            shared.stop.clone(),
        ));
        Ok(Some(Self { shared, tasks }))
    }

    /// The fencing epoch.
    pub fn epoch(&self) -> u64 {
        self.shared.epoch
    }

    /// Whether a newer driver has taken over or this one was told to stop.
    pub fn is_stopping(&self) -> bool {
        *self.shared.stop.borrow()
    }

    /// Stops driving: waiting runs are suspended at once, effects under way are given time to
    /// be recorded, then the lease is released.
    pub async fn stop(mut self) {
        self.shared.stop.send_replace(true);
        let mut runs = std::mem::take(&mut *lock(&self.shared.runs));
        let drained = tokio::time::timeout(STOP_PATIENCE, async {
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
        // them the lease.
        self.shared.stop.send_replace(true);
        lock(&self.shared.runs).abort_all();
    }
}

impl Shared {
    /// Executes a run unless it is being executed already.
    fn spawn(self: &Arc<Self>, run_id: RunId) {
        if *self.stop.borrow() {
            return;
        }
        let live = Arc::new(LiveRun::default());
        {
            let mut runs = lock(&self.live);
            if runs.contains_key(&run_id) {
                return;
            }
            runs.insert(run_id.clone(), Arc::clone(&live));
        }
        let shared = Arc::clone(self);
        let mut runs = lock(&self.runs);
        // Reap what has ended, so that the set does not grow with history.
        while runs.try_join_next().is_some() {}
        runs.spawn(async move {
            let again = execute::execute(&shared, &run_id, &live).await;
            lock(&shared.live).remove(&run_id);
            if again && needs_driving(&shared, &run_id).await {
                shared.spawn(run_id);
            }
        });
    }

    fn live(&self, run_id: &RunId) -> Option<Arc<LiveRun>> {
        lock(&self.live).get(run_id).cloned()
    }
}

/// Whether a run that just ended or was held was told to do more in the meantime: a completed
/// one to roll back, a held one to be let go.
async fn needs_driving(shared: &Shared, run_id: &RunId) -> bool {
    loop {
        match shared.engine.store.run(run_id).await {
            Ok(Some(record)) => {
                let is_held = record.state == RunState::Held;
                return if is_held {
                    record.cancel_requested
                } else {
                    !record.state.is_final()
                };
            }
            Err(error) if patience::is_passing(&error) => {
                tracing::warn!(%run_id, %error, "the run cannot be read; trying again");
            }
            Ok(None) | Err(_) => return false,
        }
        if !patience::pause(&shared.engine, &shared.stop).await {
            return false;
        }
    }
}

async fn follow_feed(shared: Arc<Shared>, mut changes: watch::Receiver<u64>, mut position: u64) {
    let mut stop = shared.stop.subscribe();
    loop {
        match read_feed(&shared, position).await {
            Ok(next) => position = next,
            // Readable again later or not at all; new work waits, nothing is lost.
            Err(error) => {
                tracing::error!(%error, "the store's feed cannot be read; trying again");
                if !patience::pause(&shared.engine, &shared.stop).await {
                    return;
                }
                continue;
            }
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

async fn read_feed(shared: &Arc<Shared>, mut position: u64) -> Result<u64, StoreError> {
    loop {
        let page = shared
            .engine
            .store
            .feed(position, ATTENTION, FEED_PAGE)
            .await?;
        let full = page.entries.len() == FEED_PAGE;
        for entry in page.entries {
            let run_id = entry.event.run_id;
            match Body::decode(&entry.event.event_type, &entry.event.payload) {
                Ok(Some(Body::SignalReceived(signal))) => match shared.live(&run_id) {
                    Some(live) => live.deliver(entry.event.seq, signal),
                    None => shared.spawn(run_id),
                },
                Ok(Some(Body::RunCreated(_))) => shared.spawn(run_id),
                Ok(_) => {}
                Err(error) => tracing::error!(%run_id, %error, "an event cannot be read"),
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
