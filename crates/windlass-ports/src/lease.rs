//! Who drives: any number of processes, each run by one of them at a time.
//!
//! A process that drives registers and is alive until its registration is dropped, the operating
//! system ends the process, or nothing was heard of it for the length of a lease. A run in
//! progress has a lease: the driver that executes it and an epoch that is never given out twice.
//! Taking a lease is part of a commit, and every commit made under it names it, so that a driver
//! which lost a run without noticing cannot write. How long a driver was silent is measured by
//! the elapsed time of the process that would take over; no wall clock is compared.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::{mpsc, watch};
use windlass_types::{DeliveryId, PassingNotice, RunId};

use crate::{
    notices::{NoticeSource, ServedNotices},
    store::StoreError,
};

/// What a lease is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LeaseName {
    /// Executing a run.
    Run(RunId),
    /// Sending a webhook.
    Delivery(DeliveryId),
}

/// Proof of holding a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// What is held.
    pub name: LeaseName,
    /// The epoch it was given with.
    pub epoch: u64,
}

/// What a commit does with a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseUse {
    /// Takes it, if it is as it was seen: absent, or with this epoch and without a living owner
    /// other than `driver`.
    Take {
        /// What to take.
        name: LeaseName,
        /// For whom.
        driver: u64,
        /// The epoch of the lease that is replaced.
        replaces: Option<u64>,
    },
    /// Writes under it.
    Hold(Fence),
    /// Writes under it and gives it back.
    Release(Fence),
}

/// A lease as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRecord {
    /// What it is about.
    pub name: LeaseName,
    /// The driver that took it.
    pub driver: u64,
    /// The epoch it was given with.
    pub epoch: u64,
    /// Whether that driver is alive and was heard of in the time of a lease.
    pub is_alive: bool,
}

/// Which runs a driver drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverScope {
    /// Every run that no other driver holds.
    All,
    /// The runs of its own process.
    Own,
}

/// A driver that is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverRecord {
    /// Its number.
    pub id: u64,
    /// Its process.
    pub process: u32,
    /// Which runs it drives.
    pub scope: DriverScope,
    /// Whether nothing was heard of it for the length of a lease: its process is stopped or hangs.
    pub is_silent: bool,
}

/// A driver of this process. Dropping it frees everything it holds.
pub trait RegisteredDriver: Send + Sync + 'static {
    /// Its number; later drivers have higher ones.
    fn id(&self) -> u64;

    /// Changes when the process runs again after it did not for so long that its leases may have
    /// been taken over.
    fn stalls(&self) -> watch::Receiver<u64> {
        watch::Sender::new(0).subscribe()
    }
}

/// The drivers of a home.
pub trait Lease: Send + Sync + 'static {
    /// Registers a driver of this process.
    fn register(&self, scope: DriverScope) -> Result<Box<dyn RegisteredDriver>, StoreError>;

    /// The drivers that are alive, oldest first.
    fn drivers(&self) -> Vec<DriverRecord>;

    /// Changes when a driver of another registration may be gone or silent, so that what it held can be
    /// taken over.
    fn departures(&self) -> watch::Receiver<u64>;

    /// Lets watchers in other processes hear the passing notices of a driver of this process.
    /// `None` where that is not possible; nothing depends on it.
    fn serve_notices(
        &self,
        _driver: u64,
        _source: Arc<dyn NoticeSource>,
    ) -> Option<Box<dyn ServedNotices>> {
        None
    }

    /// The passing notices of a run, from a driver of another process that has it.
    fn hear_notices<'a>(
        &'a self,
        _driver: u64,
        _run_id: &'a RunId,
    ) -> BoxFuture<'a, Option<mpsc::Receiver<PassingNotice>>> {
        Box::pin(std::future::ready(None))
    }

    /// The process of a driver that drives every run and is not silent.
    fn holder(&self) -> Option<u32> {
        let all = |driver: &DriverRecord| driver.scope == DriverScope::All && !driver.is_silent;
        self.drivers()
            .into_iter()
            .find(all)
            .map(|driver| driver.process)
    }
}
