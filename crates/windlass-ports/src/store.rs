//! The journal store: one way to write (a commit of events), many ways to read.
//!
//! A commit is atomic and, once acknowledged, durable. Everything readable besides the
//! events themselves (run records, artifacts, keys, deliveries) is an index the store
//! derives from events inside the same transaction, and can derive again.

use std::{path::PathBuf, time::Duration};

use futures::future::BoxFuture;
use tokio::sync::watch;
use windlass_types::{
    Anchor, ArtifactRef, DeliveryId, Digest, Event, KeyId, NewEvent, Problem, RunId, RunRecord,
    RunState, Scope, Timestamp, TokenId, code, run::Due,
};

use crate::lease::{LeaseName, LeaseRecord, LeaseUse};

/// Events for one journal.
#[derive(Clone, Debug)]
pub struct JournalWrite {
    /// The journal.
    pub run_id: RunId,
    /// What the journal must look like before.
    pub expect: Expect,
    /// The events, in order.
    pub events: Vec<NewEvent>,
}

/// A condition on a journal, checked in the commit's transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Anything.
    Any,
    /// It does not exist. With `run.created` events the store also checks that the confirm
    /// token and the idempotency key (per principal and kind) are unused.
    New,
    /// As `New`, and the run's principal has room for one more of its kind. Looked at last: who
    /// repeats a call with its idempotency key gets the run it has.
    NewWithin(Vec<Quota>),
    /// Its run is in one of these states.
    State(Vec<RunState>),
    /// Its last event is this one.
    At(u64),
}

/// How many runs of one kind a principal may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Which of them count.
    pub counted: Counted,
    /// How many there may be.
    pub limit: u32,
}

/// Which runs a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Those that are unfinished.
    Unfinished,
    /// Those created after this moment.
    CreatedAfter(Timestamp),
}

/// Events that become durable together or not at all.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The writes.
    pub writes: Vec<JournalWrite>,
    /// The lease it is made under. Absent for submissions and signals.
    pub lease: Option<LeaseUse>,
}

/// What a commit made.
#[derive(Clone, Debug, Default)]
pub struct Committed {
    /// The stored events, in the order of the writes.
    pub events: Vec<Event>,
    /// The epoch of the lease that was taken.
    pub epoch: Option<u64>,
}

/// Why a commit was not made. Nothing of it is stored.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    /// The lease belongs to another driver by now; what was done under it must stop.
    #[error("another process drives now")]
    Fenced,
    /// The lease to be taken is held by a living driver, or is not as it was seen.
    #[error("another process drives it")]
    Leased,
    /// Another unfinished run holds what the run names.
    #[error("{name} is held by {run_id}")]
    Held {
        /// The name.
        name: String,
        /// The run that holds it, or waits for it.
        run_id: RunId,
        /// The state of that run.
        state: RunState,
    },
    /// The confirm token was redeemed before.
    #[error("confirm token was used by {run_id}")]
    TokenUsed {
        /// The run it started.
        run_id: RunId,
    },
    /// The idempotency key is taken.
    #[error("idempotency key was used by {run_id}")]
    IdempotencyTaken {
        /// The run it started.
        run_id: RunId,
        /// What that run's key is bound to.
        config_hash: Digest,
    },
    /// A journal did not look as expected.
    #[error("run {run_id} is not in the expected state")]
    Unexpected {
        /// The journal.
        run_id: RunId,
        /// The state it is in; absent when it does not exist.
        state: Option<RunState>,
    },
    /// The run happened in another home; it is history and nothing is added to it.
    #[error("run {run_id} was imported: it is history here")]
    Imported {
        /// The run.
        run_id: RunId,
    },
    /// The principal has as many runs of the kind as it may have.
    #[error("there are {} such runs already", .quota.limit)]
    OverQuota {
        /// The quota that is used up.
        quota: Quota,
        /// When the oldest run it counts was created.
        oldest: Timestamp,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why the store failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full. The store stays readable and writes again once there is space.
    #[error("the disk is full")]
    Full,
    /// Data failed its integrity check; it is reported, never returned.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// Written by a newer version of Windlass.
    #[error("the store has schema {found}, this version knows up to {known}")]
    Newer {
        /// The store's schema.
        found: u32,
        /// The newest schema this version knows.
        known: u32,
    },
    /// Another process held it for too long.
    #[error("the store is busy")]
    Busy,
    /// The same, where that process is known: it is named, and whether it is stopped.
    #[error("the store is busy: {0}")]
    HeldBy(String),
    /// The disk or the operating system failed.
    #[error("the store failed: {0}")]
    Io(String),
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::Full => &code::STORE_FULL,
            StoreError::Damaged(_) => &code::STORE_DAMAGED,
            StoreError::Busy | StoreError::HeldBy(_) => &code::BUSY,
            StoreError::Newer { .. } | StoreError::Io(_) => &code::STORE_UNAVAILABLE,
        };
        Self::new(code, error.to_string()).next("windlass doctor")
    }
}

/// Which runs.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only in these states; all when empty.
    pub states: Vec<RunState>,
    /// Only of this principal (its `id()`),
    pub principal: Option<String>,
    /// and runs of others that have not started or wait for something.
    pub or_waiting: bool,
    /// Only children of this run.
    pub parent: Option<RunId>,
    /// Only created before the run at this cursor (newest first).
    pub before: Option<u64>,
    /// The maximum number.
    pub limit: usize,
}

/// A page of runs, newest first.
#[derive(Clone, Debug, Default)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunRecord>,
    /// Where the next page begins; absent on the last.
    pub next: Option<u64>,
}

/// How a run stands for those who may drive it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStanding {
    /// Its state.
    pub state: RunState,
    /// Why it has to be resumed although no driver executes it. Nothing also while it waits for a
    /// name that another run holds.
    pub due: Due,
    /// The lease on it.
    pub lease: Option<LeaseRecord>,
}

/// An event with its place among all events of the store.
#[derive(Clone, Debug)]
pub struct FeedEntry {
    /// The place; grows, may have gaps.
    pub position: u64,
    /// The event.
    pub event: Event,
}

/// A page of the feed.
#[derive(Clone, Debug, Default)]
pub struct FeedPage {
    /// The events, oldest first.
    pub entries: Vec<FeedEntry>,
    /// Where to continue: everything up to here has been read.
    pub position: u64,
}

/// An API key as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKeyRecord {
    /// The public part.
    pub key_id: KeyId,
    /// What people call it.
    pub name: String,
    /// The digest of the secret part.
    pub secret_hash: Digest,
    /// Which limits apply.
    pub tier: String,
    /// What it may touch.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to within some minutes.
    pub last_used_at: Option<Timestamp>,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// To be tried (again).
    Pending,
    /// The receiver has it.
    Delivered,
    /// Given up.
    Dead,
}

impl DeliveryState {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }
}

/// A webhook delivery as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryRecord {
    /// The stable id.
    pub id: DeliveryId,
    /// The run that enqueued it.
    pub run_id: RunId,
    /// Where to.
    pub url: String,
    /// The event's name.
    pub event: String,
    /// The exact body.
    pub body: String,
    /// The name of the signing secret.
    pub secret_name: Option<String>,
    /// Where it stands.
    pub state: DeliveryState,
    /// Attempts made since it was (re)queued.
    pub attempts: u32,
    /// When it is due.
    pub due_at: Timestamp,
    /// When it was enqueued.
    pub created_at: Timestamp,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptRecord {
    /// When it was made.
    pub time: Timestamp,
    /// Which try.
    pub attempt: u32,
    /// The answer's status.
    pub status: Option<u16>,
    /// Why there was none.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// The address that was connected to, or would have been.
    pub address: Option<String>,
    /// The beginning of what the receiver said.
    pub answer: Option<String>,
}

/// Which deliveries.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    /// Only in this state.
    pub state: Option<DeliveryState>,
    /// Only of this run.
    pub run_id: Option<RunId>,
    /// Only due by then (and pending, and not to a disabled endpoint).
    pub due_by: Option<Timestamp>,
    /// The maximum number.
    pub limit: usize,
}

/// The journal store.
pub trait RunStore: Send + Sync + 'static {
    /// Makes a commit; resolves when it is durable. Concurrent commits share one flush.
    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, CommitError>>;

    /// A run's record.
    fn run(&self, run_id: &RunId) -> BoxFuture<'_, Result<Option<RunRecord>, StoreError>>;

    /// A page of runs.
    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<RunPage, StoreError>>;

    /// How many runs are not in a final state, held runs excluded.
    fn unfinished(&self) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// How a run stands for those who may drive it.
    fn standing(&self, run_id: &RunId) -> BoxFuture<'_, Result<Option<RunStanding>, StoreError>>;

    /// Runs that become due after one moment (from the beginning without it) and by another,
    /// although no driver executes them; earliest first, then oldest first.
    fn due(
        &self,
        after: Option<Timestamp>,
        by: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<RunId>, StoreError>>;

    /// Runs with a signal that their code may not have seen, oldest first.
    fn signalled(&self) -> BoxFuture<'_, Result<Vec<RunId>, StoreError>>;

    /// When the next run after that moment is due.
    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>>;

    /// Every lease on a run, oldest first.
    fn leases(&self) -> BoxFuture<'_, Result<Vec<LeaseRecord>, StoreError>>;

    /// The lease of that name.
    fn lease(&self, name: LeaseName) -> BoxFuture<'_, Result<Option<LeaseRecord>, StoreError>>;

    /// The run a confirm token started.
    fn redeemed_by(&self, token: &TokenId) -> BoxFuture<'_, Result<Option<RunId>, StoreError>>;

    /// Events of one journal after `after_seq`, hash-checked from there on; at most `limit`.
    fn events(
        &self,
        run_id: &RunId,
        after_seq: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>>;

    /// Events of the given types (all types when empty) of all journals after a position,
    /// in commit order; at most `limit`. The page says how far it looked.
    fn feed(
        &self,
        after: u64,
        types: &'static [&'static str],
        limit: usize,
    ) -> BoxFuture<'_, Result<FeedPage, StoreError>>;

    /// The position of the newest event; where `feed` continues.
    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// The latest artifact of each name of a run.
    fn artifacts(&self, run_id: &RunId) -> BoxFuture<'_, Result<Vec<ArtifactRef>, StoreError>>;

    /// All API keys, revoked ones included.
    fn api_keys(&self) -> BoxFuture<'_, Result<Vec<ApiKeyRecord>, StoreError>>;

    /// Deliveries, oldest due first.
    fn deliveries(
        &self,
        filter: DeliveryFilter,
    ) -> BoxFuture<'_, Result<Vec<DeliveryRecord>, StoreError>>;

    /// The attempts of a delivery, oldest first.
    fn attempts(
        &self,
        delivery: &DeliveryId,
    ) -> BoxFuture<'_, Result<Vec<AttemptRecord>, StoreError>>;

    /// When the next pending delivery is due.
    fn next_delivery_due(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>>;

    /// Changes whenever something was committed, by this process or (noticed within
    /// the store's poll interval) by another.
    fn changes(&self) -> watch::Receiver<u64>;

    /// Like `changes`, for commits that may require action: a run's state, a
    /// signal, a delivery, a key. Steps and audit entries alone wake no one.
    fn turns(&self) -> watch::Receiver<u64>;

    /// The place of the newest event of one run, as far as it is known. Changes when that run's
    /// journal has grown and for no other reason; by another process's commit within the poll
    /// interval.
    fn follow(&self, run_id: &RunId) -> watch::Receiver<u64>;

    /// How often this process has flushed events to the disk. Commits that come together share a flush.
    fn flushes(&self) -> u64 {
        0
    }

    /// Whether a run happened in another home and was imported.
    fn is_imported(&self, run_id: &RunId) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Imports a journal exported elsewhere, hashes kept. Fails when the run exists. Nothing can be
    /// added to it afterwards.
    fn import(&self, events: Vec<Event>) -> BoxFuture<'_, Result<(), CommitError>>;
}

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Journals verified.
    pub journals: u64,
    /// Events verified.
    pub events: u64,
    /// Artifact contents verified.
    pub blobs: u64,
    /// What is wrong, one line each.
    pub findings: Vec<String>,
    /// What was wrong and is known: losses that were accepted, one line each.
    pub notes: Vec<String>,
}

/// Whether the home takes writes, and what prevents the next ones.
#[derive(Clone, Debug, Default)]
pub struct StoreProbe {
    /// Bytes that are free for this user on the disk of the home.
    pub free_bytes: u64,
    /// Key files that cannot be used, one line each.
    pub unusable_keys: Vec<String>,
}

/// What a prune removed.
#[derive(Clone, Debug, Default)]
pub struct PruneReport {
    /// Whole runs.
    pub runs: u64,
    /// Events.
    pub events: u64,
    /// Artifact contents.
    pub blobs: u64,
    /// Bytes given back.
    pub bytes: u64,
}

/// How long ended runs of a kind are kept without a prune.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFor {
    /// The kind.
    pub kind: String,
    /// From a run's last event on.
    pub keep: Duration,
}

/// How long what has ended is kept without a prune. A run stays longer while it owes a delivery,
/// while effects of it remain, and while it can be rolled back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Kinds with an age of their own.
    pub kinds: Vec<KeptFor>,
    /// All other runs; without an age they stay.
    pub runs: Option<Duration>,
    /// How long a run that can be rolled back stays at least.
    pub rollback: Duration,
    /// Entries of the audit and of the store's other journals; without an age they stay.
    pub audit: Option<Duration>,
}

/// What became of runs that are kept for a time only.
#[derive(Clone, Debug, Default)]
pub struct Expiry {
    /// What was removed.
    pub removed: PruneReport,
    /// When the next of a kind with an age of its own is due; in the past for one that stays longer.
    pub next: Option<Timestamp>,
}

/// Care of the store itself.
pub trait StoreMaintenance: Send + Sync + 'static {
    /// Copies the whole store (artifacts included) to a new directory while it is in use.
    fn backup(&self, directory: PathBuf) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Verifies every chain, every index and every artifact.
    fn check(&self) -> BoxFuture<'_, Result<CheckReport, StoreError>>;

    /// How far the history went, to be kept elsewhere; nothing where the store keeps no account.
    fn anchor(&self, _now: Timestamp) -> BoxFuture<'_, Result<Option<Anchor>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// How places outside the home took the last anchor.
    fn anchor_states(&self) -> BoxFuture<'_, Result<Vec<crate::AnchorState>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Puts that on record, for every process of the home.
    fn note_anchors(&self, _: Vec<crate::AnchorState>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    /// Which process holds the store against writers, as far as is known, and whether it is stopped.
    fn held_by(&self) -> BoxFuture<'_, Result<Option<(String, bool)>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    /// What the store does not hold of what was anchored, one line each.
    fn compare_anchors(
        &self,
        _anchors: Vec<Anchor>,
    ) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Writes a little to the disk of the home, flushes it and removes it again. Nothing where the
    /// store has no disk.
    fn probe(&self) -> BoxFuture<'_, Result<Option<StoreProbe>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// What was acknowledged and is not there any more, in one sentence. While there is something,
    /// nothing is committed.
    fn shortfall(&self) -> BoxFuture<'_, Result<Option<String>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Goes on from what is there. The record of it is committed together with that decision.
    fn accept_loss(&self, record: Commit) -> BoxFuture<'_, Result<(), CommitError>>;

    /// Removes ended runs older than `keep`, expired artifacts and unreferenced contents.
    /// With `dry_run` only counts.
    fn prune(
        &self,
        keep: Duration,
        now: Timestamp,
        dry_run: bool,
    ) -> BoxFuture<'_, Result<PruneReport, StoreError>>;

    /// Removes what is older than it is kept.
    fn expire(
        &self,
        retention: Retention,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Expiry, StoreError>>;

    /// Seals where every journal ends, so that a check can name one that is changed afterwards.
    fn seal_heads(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Keeps some space aside, so that a full disk can still be pruned. Does nothing where there is
    /// too little for that.
    fn keep_reserve(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Gives the space up that was kept aside, if the disk is full.
    fn release_reserve(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
