//! One process's hold on the disk: the ports, and the hand a test has in them.

use std::{
    future,
    ops::RangeInclusive,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use windlass_ports::{
    ApiKeyRecord, AttemptRecord, BlobError, BlobStore, BoxFuture, Commit, CommitError, Committed,
    DeliveryFilter, DeliveryRecord, DriverRecord, DriverScope, FeedEntry, FeedPage, Lease,
    LeaseName, LeaseRecord, RegisteredDriver, RunFilter, RunPage, RunStanding, RunStore,
    StoreError,
};
use windlass_types::{
    ArtifactRef, DeliveryId, Digest, Event, RunId, RunRecord, Timestamp, TokenId,
    event::{ChainHead, verify_chain},
};

use super::{
    disk::{Disk, Staged},
    fault::{Faults, Moment},
    maintain,
};

/// A store in memory. Clones are the same process; `open_again` is another.
#[derive(Clone)]
pub struct MemoryStore(Arc<Handle>);

struct Handle {
    disk: Arc<Mutex<Disk>>,
    process: u32,
    faults: Mutex<Faults>,
    /// Every event whose commit this process saw.
    acknowledged: Mutex<Vec<Event>>,
}

impl MemoryStore {
    /// The first process on an empty disk.
    pub fn new() -> Self {
        Self::open(Arc::new(Mutex::new(Disk::new())))
    }

    /// Another process on the same disk.
    #[must_use]
    pub fn open_again(&self) -> Self {
        Self::open(Arc::clone(&self.0.disk))
    }

    fn open(disk: Arc<Mutex<Disk>>) -> Self {
        let process = {
            let mut disk = lock(&disk);
            disk.next_process += 1;
            disk.next_process
        };
        Self(Arc::new(Handle {
            disk,
            process,
            faults: Mutex::new(Faults::new()),
            acknowledged: Mutex::default(),
        }))
    }

    /// Lets the process die at its `write`-th write from its opening on.
    pub fn crash_at(&self, write: u64, moment: Moment) {
        lock(&self.0.faults).crash_at = Some((write, moment));
    }

    /// Fails these writes of the process, counted from 1; nothing of them is stored.
    pub fn fail_writes(&self, writes: RangeInclusive<u64>, error: StoreError) {
        lock(&self.0.faults).failing.push((writes, error));
    }

    /// Fails every read of the process until reset.
    pub fn fail_reads(&self, error: Option<StoreError>) {
        lock(&self.0.faults).reads_fail = error;
    }

    /// Fills the disk, or makes space; for every process.
    pub fn set_full(&self, full: bool) {
        self.disk().full = full;
    }

    /// Ends the process now: calls in progress never return, its leases are free.
    pub fn kill(&self) {
        self.die(&mut self.disk());
    }

    /// Makes every driver look dead to the others, without its knowledge.
    pub fn break_leases(&self) {
        self.disk().remove_drivers(|_, _| true);
    }

    /// Resolves when the process has died.
    pub async fn died(&self) {
        let mut dead = lock(&self.0.faults).dead.subscribe();
        let _ = dead.wait_for(|dead| *dead).await;
    }

    /// How many writes the process has begun.
    pub fn writes(&self) -> u64 {
        lock(&self.0.faults).writes
    }

    /// Every event whose commit this process saw.
    pub fn acknowledged(&self) -> Vec<Event> {
        lock(&self.0.acknowledged).clone()
    }

    /// Every run's record, oldest first.
    pub fn all_runs(&self) -> Vec<RunRecord> {
        self.disk().index.all_runs().cloned().collect()
    }

    /// A journal, read past every fault.
    pub fn journal(&self, run_id: &RunId) -> Vec<Event> {
        self.disk()
            .journals
            .get(run_id)
            .map(|journal| journal.events.clone())
            .unwrap_or_default()
    }

    /// The artifacts of a run, read past every fault.
    pub fn artifact_refs(&self, run_id: &RunId) -> Vec<ArtifactRef> {
        self.disk().index.artifacts(run_id)
    }

    /// A content, read past every fault.
    pub fn content(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.disk().contents.get(digest).cloned()
    }

    /// Every delivery, oldest due first.
    pub fn all_deliveries(&self) -> Vec<DeliveryRecord> {
        self.disk().index.deliveries(&DeliveryFilter {
            limit: usize::MAX,
            ..DeliveryFilter::default()
        })
    }

    /// What a check of the whole disk finds wrong.
    pub fn findings(&self) -> Vec<String> {
        maintain::check(&self.disk()).findings
    }

    /// Changes one stored event behind the store's back, as a bad disk would.
    pub fn damage(&self, run_id: &RunId, seq: u64) {
        let mut disk = self.disk();
        let journal = disk.journals.get_mut(run_id).expect("the journal exists");
        let event = journal
            .events
            .iter_mut()
            .find(|event| event.seq == seq)
            .expect("the event exists");
        event.time = event.time.after(std::time::Duration::from_millis(1));
    }

    pub(super) fn disk(&self) -> MutexGuard<'_, Disk> {
        lock(&self.0.disk)
    }

    fn die(&self, disk: &mut Disk) {
        lock(&self.0.faults).dead.send_replace(true);
        disk.remove_drivers(|_, process| process == self.0.process);
    }

    /// A turn of the scheduler, so that concurrent callers interleave; never ends in a dead process.
    async fn enter(&self) {
        tokio::task::yield_now().await;
        let dead = lock(&self.0.faults).is_dead();
        if dead {
            future::pending().await
        }
    }

    pub(super) async fn read<T>(
        &self,
        question: impl FnOnce(&Disk) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.enter().await;
        let failing = lock(&self.0.faults).reads_fail.clone();
        match failing {
            Some(error) => Err(error),
            None => question(&self.disk()),
        }
    }

    /// One write: counted, failed or cut short as the test says. `None` means that the process
    /// died in it.
    fn write<T, M>(
        &self,
        stage: impl FnOnce(&Disk) -> Result<T, CommitError>,
        merge: impl FnOnce(&mut Disk, T) -> M,
    ) -> Option<Result<M, CommitError>> {
        let mut disk = self.disk();
        let begun = lock(&self.0.faults).begin_write();
        let number = match begun {
            Ok(number) => number,
            Err(error) => return Some(Err(error.into())),
        };
        let dies = |moment| lock(&self.0.faults).dies_at(number, moment);
        if dies(Moment::BeforeWrite) {
            self.die(&mut disk);
            return None;
        }
        if disk.full {
            return Some(Err(StoreError::Full.into()));
        }
        let staged = match stage(&disk) {
            Ok(staged) => staged,
            Err(error) => return Some(Err(error)),
        };
        if dies(Moment::AfterWrite) {
            self.die(&mut disk);
            return None;
        }
        let merged = merge(&mut disk, staged);
        if dies(Moment::AfterCommit) {
            self.die(&mut disk);
            return None;
        }
        Some(Ok(merged))
    }

    async fn commit_staged(
        &self,
        stage: impl FnOnce(&Disk) -> Result<Staged, CommitError>,
    ) -> Result<Committed, CommitError> {
        self.enter().await;
        let mut events = Vec::new();
        let stage = |disk: &Disk| {
            let staged = stage(disk)?;
            events = staged.events();
            Ok(staged)
        };
        match self.write(stage, Disk::merge) {
            None => future::pending().await,
            Some(Err(error)) => Err(error),
            Some(Ok(epoch)) => {
                lock(&self.0.acknowledged).extend(events.iter().cloned());
                Ok(Committed { events, epoch })
            }
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl RunStore for MemoryStore {
    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, CommitError>> {
        Box::pin(self.commit_staged(|disk| disk.stage(commit)))
    }

    fn run(&self, run_id: &RunId) -> BoxFuture<'_, Result<Option<RunRecord>, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(self.read(move |disk| Ok(disk.index.run(&run_id).cloned())))
    }

    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<RunPage, StoreError>> {
        Box::pin(self.read(move |disk| Ok(disk.index.page(&filter))))
    }

    fn unfinished(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.read(|disk| Ok(disk.index.unfinished() as u64)))
    }

    fn standing(&self, run_id: &RunId) -> BoxFuture<'_, Result<Option<RunStanding>, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(self.read(move |disk| {
            Ok(disk.index.run(&run_id).map(|record| RunStanding {
                state: record.state,
                due: disk.index.why_due(&run_id),
                lease: disk.lease(&LeaseName::Run(run_id.clone())),
            }))
        }))
    }

    fn due(
        &self,
        after: Option<Timestamp>,
        by: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<RunId>, StoreError>> {
        Box::pin(self.read(move |disk| Ok(disk.index.due(after, by))))
    }

    fn signalled(&self) -> BoxFuture<'_, Result<Vec<RunId>, StoreError>> {
        Box::pin(self.read(|disk| Ok(disk.index.signalled())))
    }

    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.read(move |disk| Ok(disk.index.next_due_run(after))))
    }

    fn leases(&self) -> BoxFuture<'_, Result<Vec<LeaseRecord>, StoreError>> {
        Box::pin(self.read(|disk| {
            let names = disk.leases.keys();
            let runs = names.filter(|name| matches!(name, LeaseName::Run(_)));
            let mut leases: Vec<LeaseRecord> = runs.filter_map(|name| disk.lease(name)).collect();
            leases.sort_by_key(|lease| lease.epoch);
            Ok(leases)
        }))
    }

    fn lease(&self, name: LeaseName) -> BoxFuture<'_, Result<Option<LeaseRecord>, StoreError>> {
        Box::pin(self.read(move |disk| Ok(disk.lease(&name))))
    }

    fn redeemed_by(&self, token: &TokenId) -> BoxFuture<'_, Result<Option<RunId>, StoreError>> {
        let token = token.clone();
        Box::pin(self.read(move |disk| Ok(disk.index.redeemed_by(&token))))
    }

    fn is_imported(&self, run_id: &RunId) -> BoxFuture<'_, Result<bool, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(self.read(move |disk| {
            let journal = disk.journals.get(&run_id);
            Ok(journal.is_some_and(|journal| journal.is_imported))
        }))
    }

    fn events(
        &self,
        run_id: &RunId,
        after_seq: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(self.read(move |disk| {
            let Some(journal) = disk.journals.get(&run_id) else {
                return Ok(Vec::new());
            };
            let before = journal.events.iter().find(|event| event.seq == after_seq);
            let head = before.map_or(
                ChainHead {
                    seq: after_seq,
                    hash: Digest::ZERO,
                },
                |event| ChainHead {
                    seq: event.seq,
                    hash: event.hash,
                },
            );
            let events: Vec<_> = journal
                .events
                .iter()
                .filter(|event| event.seq > after_seq)
                .take(limit)
                .cloned()
                .collect();
            verify_chain(head, &events)
                .map_err(|error| StoreError::Damaged(format!("journal {run_id}: {error}")))?;
            Ok(events)
        }))
    }

    fn feed(
        &self,
        after: u64,
        types: &'static [&'static str],
        limit: usize,
    ) -> BoxFuture<'_, Result<FeedPage, StoreError>> {
        Box::pin(self.read(move |disk| {
            let mut page = FeedPage {
                entries: Vec::new(),
                position: disk.position().max(after),
            };
            for (position, (run_id, seq)) in disk.feed.range(after.saturating_add(1)..) {
                let journal = disk
                    .journals
                    .get(run_id)
                    .expect("pruning a journal prunes its feed");
                let event = journal
                    .events
                    .iter()
                    .find(|event| event.seq == *seq)
                    .expect("as above");
                if !types.is_empty() && !types.contains(&event.event_type.as_str()) {
                    continue;
                }
                if event.compute_hash() != event.hash {
                    return Err(StoreError::Damaged(format!(
                        "journal {run_id}: event {seq} was altered"
                    )));
                }
                page.entries.push(FeedEntry {
                    position: *position,
                    event: event.clone(),
                });
                if page.entries.len() >= limit {
                    page.position = *position;
                    break;
                }
            }
            Ok(page)
        }))
    }

    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.read(|disk| Ok(disk.position())))
    }

    fn artifacts(&self, run_id: &RunId) -> BoxFuture<'_, Result<Vec<ArtifactRef>, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(self.read(move |disk| Ok(disk.index.artifacts(&run_id))))
    }

    fn api_keys(&self) -> BoxFuture<'_, Result<Vec<ApiKeyRecord>, StoreError>> {
        Box::pin(self.read(|disk| Ok(disk.index.keys())))
    }

    fn deliveries(
        &self,
        filter: DeliveryFilter,
    ) -> BoxFuture<'_, Result<Vec<DeliveryRecord>, StoreError>> {
        Box::pin(self.read(move |disk| Ok(disk.index.deliveries(&filter))))
    }

    fn attempts(
        &self,
        delivery: &DeliveryId,
    ) -> BoxFuture<'_, Result<Vec<AttemptRecord>, StoreError>> {
        let delivery = delivery.clone();
        Box::pin(self.read(move |disk| Ok(disk.index.attempts(&delivery))))
    }

    fn next_delivery_due(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.read(|disk| Ok(disk.index.next_due())))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.disk().changes.subscribe()
    }

    fn turns(&self) -> watch::Receiver<u64> {
        self.changes()
    }

    fn follow(&self, run_id: &RunId) -> watch::Receiver<u64> {
        let mut disk = self.disk();
        let followed = disk.followed.entry(run_id.clone());
        followed
            .or_insert_with(|| watch::Sender::new(0))
            .subscribe()
    }

    fn import(&self, events: Vec<Event>) -> BoxFuture<'_, Result<(), CommitError>> {
        Box::pin(async move {
            self.commit_staged(|disk| disk.stage_import(events))
                .await
                .map(drop)
        })
    }
}

impl BlobStore for MemoryStore {
    fn put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Digest, BlobError>> {
        Box::pin(async move {
            self.enter().await;
            let digest = Digest::of(&bytes);
            match self.write(
                |_| Ok(bytes),
                |disk, bytes| drop(disk.contents.insert(digest, bytes)),
            ) {
                None => future::pending().await,
                Some(Ok(())) => Ok(digest),
                Some(Err(CommitError::Store(StoreError::Full))) => Err(BlobError::Full),
                Some(Err(error)) => Err(BlobError::Io(error.to_string())),
            }
        })
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        Box::pin(async move {
            let found = self
                .read(|disk| Ok(disk.contents.get(&digest).cloned()))
                .await;
            let bytes = found
                .map_err(|error| BlobError::Io(error.to_string()))?
                .ok_or(BlobError::Missing(digest))?;
            if Digest::of(&bytes) == digest {
                Ok(bytes)
            } else {
                Err(BlobError::Altered(digest))
            }
        })
    }
}

impl Lease for MemoryStore {
    fn register(&self, scope: DriverScope) -> Result<Box<dyn RegisteredDriver>, StoreError> {
        if lock(&self.0.faults).is_dead() {
            return Err(StoreError::Io("the process is dead".to_owned()));
        }
        Ok(Box::new(MemoryDriver {
            id: self.disk().register(self.0.process, scope),
            disk: Arc::clone(&self.0.disk),
        }))
    }

    fn drivers(&self) -> Vec<DriverRecord> {
        let disk = self.disk();
        let drivers = disk.drivers.iter();
        drivers
            .map(|(id, (process, scope))| DriverRecord {
                id: *id,
                process: *process,
                scope: *scope,
                is_silent: false,
            })
            .collect()
    }

    fn departures(&self) -> watch::Receiver<u64> {
        self.disk().departures.subscribe()
    }
}

struct MemoryDriver {
    disk: Arc<Mutex<Disk>>,
    id: u64,
}

impl RegisteredDriver for MemoryDriver {
    fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for MemoryDriver {
    fn drop(&mut self) {
        lock(&self.disk).remove_drivers(|id, _| id == self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
