//! What keeps this installation from working, as probes and `admin.doctor` report it.
//!
//! Looking at the disk costs a flush, and anybody may ask whether a server is ready, so its answer
//! is used again for a few seconds. A disk that does not answer is reported as such and not asked
//! again before it does.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Mutex;
use windlass_ports::{LeaseName, StoreError, store::StoreProbe};
use windlass_types::{Code, Problem, RunId, RunState, code};

use crate::Engine;

/// How long an answer is used again.
const FRESH: Duration = Duration::from_secs(3);
/// A disk that takes longer for a page hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// Less free space than this is reported.
const LOW_SPACE: u64 = 64 * 1024 * 1024;
/// A run that could go on for so long and does not is stalled.
const STALLED: Duration = Duration::from_secs(30);
/// Clocks that differ by less are in step.
const OUT_OF_STEP: Duration = Duration::from_secs(30);
/// Runs that are looked at when there may be stalled ones.
const LOOKED_AT: usize = 200;

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What was looked at: `store`, `disk`, `driver`, `runs`, `keys`, `clock` or `anchors`.
    pub check: &'static str,
    /// How it is, in a word.
    pub state: &'static str,
    /// The error code that calls get, or would get, because of it.
    pub code: &'static Code,
    /// What was found. Names no run and no path: anybody may read it.
    pub message: String,
    /// What to do.
    pub next: String,
    /// Whether no work can be done.
    pub blocks: bool,
}

/// How the wall clock stands to the clock of deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockState {
    /// They agree.
    InStep,
    /// It was set back, or was ahead before: what expires does so earlier by this, by the wall
    /// clock.
    Behind(Duration),
    /// It jumped forwards a moment ago, and is not believed yet.
    Ahead(Duration),
}

impl ClockState {
    /// A word and a sentence about it; nothing while all is well.
    pub fn told(self) -> Option<(&'static str, String)> {
        match self {
            Self::InStep => None,
            Self::Behind(by) => Some((
                "behind",
                format!(
                    "the clock was set back, or was ahead for more than a minute: until the machine \
                     restarts, keys and tokens expire {} s early by the clock",
                    by.as_secs()
                ),
            )),
            Self::Ahead(by) => Some((
                "ahead",
                format!(
                    "the clock jumped forwards by {} s; it is followed when it has stayed there for a minute",
                    by.as_secs()
                ),
            )),
        }
    }
}

/// The last answer of the disk, and whether it owes one.
#[derive(Default)]
pub(crate) struct HealthCache {
    last: Mutex<Option<(Instant, Vec<Finding>)>>,
    probing: Arc<AtomicBool>,
}

/// What the disk answered.
pub enum DiskState {
    /// There is none, or it takes writes.
    Fine(Option<StoreProbe>),
    /// It has little room left.
    Low(StoreProbe),
    /// It failed.
    Failing(StoreError),
    /// It did not answer in time.
    Hung,
}

impl Engine {
    /// Everything that is wrong. What is said about the disk may be a few seconds old.
    pub async fn health(&self) -> Vec<Finding> {
        let mut findings = self.disk_findings().await;
        findings.extend(self.store_finding().await);
        findings.extend(self.driver_finding().await);
        findings.extend(self.clock_finding());
        findings.extend(self.anchor_finding().await);
        if let Ok(damaged) = self.damaged_runs().await
            && !damaged.is_empty()
        {
            findings.push(Finding {
                check: "runs",
                state: "damaged",
                code: &code::STORE_DAMAGED,
                message: format!(
                    "{} failed because of a damaged journal",
                    counted(damaged.len(), "run")
                ),
                next: "windlass doctor".to_owned(),
                blocks: false,
            });
        }
        findings
    }

    async fn disk_findings(&self) -> Vec<Finding> {
        let mut last = self.health_cache().last.lock().await;
        if let Some((at, findings)) = &*last
            && at.elapsed() < FRESH
        {
            return findings.clone();
        }
        let disk = self.probe_disk().await;
        let mut findings: Vec<Finding> = disk_finding(&disk).into_iter().collect();
        if let DiskState::Fine(Some(probe)) | DiskState::Low(probe) = &disk
            && !probe.unusable_keys.is_empty()
        {
            findings.push(Finding {
                check: "keys",
                state: "unusable",
                code: &code::STORE_UNAVAILABLE,
                message: format!(
                    "{} cannot be used by the next start",
                    counted(probe.unusable_keys.len(), "key file")
                ),
                next: "windlass doctor".to_owned(),
                blocks: false,
            });
        }
        *last = Some((Instant::now(), findings.clone()));
        findings
    }

    /// Whether the disk takes a write now.
    pub async fn probe_disk(&self) -> DiskState {
        let probing = Arc::clone(&self.health_cache().probing);
        if probing.swap(true, Ordering::AcqRel) {
            return DiskState::Hung;
        }
        let maintenance = Arc::clone(&self.maintenance);
        // A task of its own: it ends when the disk answers, not when the caller has waited enough.
        let looking = tokio::spawn(async move {
            let probed = maintenance.probe().await;
            probing.store(false, Ordering::Release);
            probed
        });
        match tokio::time::timeout(PATIENCE, looking).await {
            Err(_) => DiskState::Hung,
            Ok(Ok(Ok(Some(probe)))) if probe.free_bytes < LOW_SPACE => DiskState::Low(probe),
            Ok(Ok(Ok(probe))) => DiskState::Fine(probe),
            Ok(Ok(Err(error))) => DiskState::Failing(error),
            Ok(Err(error)) => DiskState::Failing(StoreError::Io(error.to_string())),
        }
    }

    async fn store_finding(&self) -> Option<Finding> {
        let looked = async {
            self.store.position().await?;
            self.maintenance.shortfall().await
        };
        let (code, message, next) = match looked.await {
            Ok(None) => return None,
            Ok(Some(shortfall)) => (
                &code::STORE_DAMAGED,
                format!("{shortfall}; nothing is written"),
                "restore a backup, or windlass store accept-loss".to_owned(),
            ),
            Err(error) => (
                Problem::from(error).code(),
                "the store cannot be read".to_owned(),
                "windlass store check".to_owned(),
            ),
        };
        Some(Finding {
            check: "store",
            state: "unreachable",
            code,
            message,
            next,
            blocks: true,
        })
    }

    async fn driver_finding(&self) -> Option<Finding> {
        let holder = self.lease.holder();
        let stalled = self.stalled_runs().await.unwrap_or_default().len();
        let (state, message) = match (holder, stalled) {
            (Some(_), 0) => return None,
            (Some(_), count) => (
                "stalled",
                format!(
                    "{} could continue, but nothing happens: the driver hangs",
                    counted(count, "run")
                ),
            ),
            (None, 0) => (
                "absent",
                "no process drives the runs of this home".to_owned(),
            ),
            (None, count) => (
                "absent",
                format!(
                    "{} could go on, and no process drives",
                    counted(count, "run")
                ),
            ),
        };
        Some(Finding {
            check: "driver",
            state,
            code: &code::BUSY,
            message,
            next: "restart windlass serve".to_owned(),
            blocks: true,
        })
    }

    /// What the wall clock does that deadlines do not follow.
    pub fn clock_state(&self) -> ClockState {
        let (now, steady) = (self.now(), self.steady());
        if steady.since(now) >= OUT_OF_STEP {
            ClockState::Behind(steady.since(now))
        } else if now.since(steady) >= OUT_OF_STEP {
            ClockState::Ahead(now.since(steady))
        } else {
            ClockState::InStep
        }
    }

    fn clock_finding(&self) -> Option<Finding> {
        let (state, message) = self.clock_state().told()?;
        Some(Finding {
            check: "clock",
            state,
            code: &code::ILLEGAL_STATE,
            message,
            next: "windlass doctor".to_owned(),
            blocks: false,
        })
    }

    async fn anchor_finding(&self) -> Option<Finding> {
        let failing = self.anchor_states().await;
        let failing = failing.iter().filter(|state| state.error.is_some()).count();
        (failing > 0).then(|| Finding {
            check: "anchors",
            state: "failing",
            code: &code::UPSTREAM_ERROR,
            message: format!("anchors are not kept in {}", counted(failing, "place")),
            next: "windlass doctor".to_owned(),
            blocks: false,
        })
    }

    /// Runs that could go on and that no process drives: neither those that wait for an approval or
    /// a moment, nor those that a command drives. While a driver of everything is there, those only
    /// that it has left for a while.
    pub async fn stalled_runs(&self) -> Result<Vec<RunId>, Problem> {
        let is_driven = self.lease.holder().is_some();
        let by = self.now();
        let mut ready: BTreeSet<RunId> = self.store.due(None, by).await?.into_iter().collect();
        ready.extend(self.store.signalled().await?);
        ready.extend(
            self.store
                .leases()
                .await?
                .into_iter()
                .filter_map(|lease| match lease.name {
                    LeaseName::Run(run_id) if !lease.is_alive => Some(run_id),
                    _ => None,
                }),
        );
        let mut stalled = Vec::new();
        for run_id in ready.into_iter().take(LOOKED_AT) {
            // A damaged run is reported as that.
            let Ok(Some(run)) = self.store.run(&run_id).await else {
                continue;
            };
            let is_open = !run.state.is_final() && run.state != RunState::Held;
            let due_since = run
                .waiting_on
                .iter()
                .filter_map(|(_, on)| on.until)
                .min()
                .map_or(run.updated_at, |until| until.max(run.updated_at));
            let waited_enough = !is_driven || due_since <= by.before(STALLED);
            if !is_open || !waited_enough || run.wanted_approval().is_some() {
                continue;
            }
            let standing = self.store.standing(&run_id).await?;
            let lease = standing.and_then(|standing| standing.lease);
            if lease.is_none_or(|lease| !lease.is_alive) {
                stalled.push(run_id);
            }
        }
        Ok(stalled)
    }
}

fn disk_finding(disk: &DiskState) -> Option<Finding> {
    let (state, code, message, next, blocks) = match disk {
        DiskState::Fine(_) => return None,
        DiskState::Low(probe) => (
            "low",
            &code::STORE_FULL,
            format!(
                "{} MiB are free on the disk of the home",
                probe.free_bytes >> 20
            ),
            "make room, or windlass store prune --keep-days N",
            false,
        ),
        DiskState::Failing(StoreError::Full) => (
            "full",
            &code::STORE_FULL,
            "the disk of the home is full; nothing is written".to_owned(),
            "make room, or windlass store prune --keep-days N",
            true,
        ),
        DiskState::Failing(_) => (
            "failing",
            &code::STORE_UNAVAILABLE,
            "the disk of the home does not take writes".to_owned(),
            "look at the disk and at the system log",
            true,
        ),
        DiskState::Hung => (
            "hung",
            &code::STORE_UNAVAILABLE,
            format!(
                "the disk of the home did not answer within {} s",
                PATIENCE.as_secs()
            ),
            "look at the disk and at the system log",
            true,
        ),
    };
    Some(Finding {
        check: "disk",
        state,
        code,
        message,
        next: next.to_owned(),
        blocks,
    })
}

/// A count and its noun: `1 run`, `2 runs`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
