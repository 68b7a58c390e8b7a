//! The audit log: who called what, with what outcome, as a hash-chained journal of its own.
//!
//! Calls that change something have an entry each and answer after it is durable. Reads are counted
//! by caller, surface, operation and outcome, and written once a minute, the first of a kind within a
//! second: the journal grows with the number of kinds, not with the number of calls. Entries that the store does not take are not
//! forgotten: the next one that it takes says how many are missing, and since when.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{mpsc, oneshot};
use windlass_ports::{Clock, Commit, CommitError, Expect, JournalWrite, RunStore};
use windlass_types::{
    Body, NewEvent, RunId, Timestamp,
    event::SpanIds,
    journal::{AuditCall, AuditGap, AuditRead, AuditReads},
};

/// The journal's name.
pub const AUDIT_JOURNAL: &str = "sys_audit";

const QUEUE: usize = 8192;
/// How long reads are counted before they are written.
const INTERVAL: Duration = Duration::from_secs(60);
/// The same for a kind of read that was not written in the interval before.
const SOON: Duration = Duration::from_secs(1);
/// Entries that are written together at most; with more callers than this, earlier.
const ENTRIES: usize = 512;

/// Caller, surface, operation and outcome.
type Kind = [String; 4];

enum Entry {
    Read(Box<AuditRead>),
    /// Resolves once everything before it is durable.
    Flush(oneshot::Sender<()>),
}

/// A handle to the audit log.
pub struct AuditLog {
    journal: Arc<Journal>,
    queue: mpsc::Sender<Entry>,
}

impl AuditLog {
    pub(crate) fn start(store: Arc<dyn RunStore>, clock: Arc<dyn Clock>) -> Self {
        let (queue, entries) = mpsc::channel(QUEUE);
        let journal = Arc::new(Journal {
            store,
            clock,
            gap: Mutex::default(),
        });
        tokio::spawn(write_reads(Arc::clone(&journal), entries));
        Self { journal, queue }
    }

    /// Records a call and waits until the record is durable.
    pub async fn record(&self, call: AuditCall) -> Result<(), CommitError> {
        let time = self.journal.clock.now();
        let written = self.journal.write(call.into()).await;
        if written.is_err() {
            self.journal.miss(1, time);
        }
        written
    }

    /// Counts a read-only call; it is written with others.
    pub async fn queue(&self, call: AuditCall) {
        let read = AuditRead {
            time: self.journal.clock.now(),
            first: None,
            count: None,
            call,
        };
        // The receiver only goes away with the runtime; then nobody reads the answer either.
        let _ = self.queue.send(Entry::Read(Box::new(read))).await;
    }

    /// Waits until every counted call is durable (or has failed and was logged).
    pub async fn flush(&self) {
        let (done, wait) = oneshot::channel();
        if self.queue.send(Entry::Flush(done)).await.is_ok() {
            let _ = wait.await;
        }
    }
}

/// The journal, and what it lacks.
struct Journal {
    store: Arc<dyn RunStore>,
    clock: Arc<dyn Clock>,
    gap: Mutex<Option<AuditGap>>,
}

impl Journal {
    /// Writes an entry, and before it what is missing.
    async fn write(&self, body: Body) -> Result<(), CommitError> {
        let now = self.clock.now();
        let gap = self.gap().take();
        let bodies = gap.clone().map(Body::from).into_iter().chain([body]);
        let events: Result<Vec<NewEvent>, CommitError> =
            bodies.map(|body| event(now, &body)).collect();
        let written = match events {
            Ok(events) => commit(&*self.store, events).await,
            Err(error) => Err(error),
        };
        if let (Some(gap), Err(_)) = (gap, &written) {
            self.miss(gap.missed, gap.since);
        }
        written
    }

    /// Notes that entries are missing.
    fn miss(&self, missed: u64, since: Timestamp) {
        let mut gap = self.gap();
        *gap = Some(match gap.take() {
            Some(known) => AuditGap {
                missed: known.missed.saturating_add(missed),
                since: known.since.min(since),
            },
            None => AuditGap { missed, since },
        });
    }

    fn gap(&self) -> std::sync::MutexGuard<'_, Option<AuditGap>> {
        self.gap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn event(time: Timestamp, body: &Body) -> Result<NewEvent, CommitError> {
    let (event_type, payload) = body
        .encode()
        .map_err(|error| windlass_ports::StoreError::Io(error.to_string()))?;
    Ok(NewEvent {
        time,
        event_type,
        payload,
        spans: SpanIds::default(),
    })
}

async fn write_reads(journal: Arc<Journal>, mut entries: mpsc::Receiver<Entry>) {
    let mut known = BTreeSet::new();
    while let Some(first) = entries.recv().await {
        let (counted, flush) = gather(&journal, first, &mut entries, &known).await;
        known = counted.keys().cloned().collect();
        let mut calls: Vec<AuditRead> = counted.into_values().collect();
        calls.sort_by_key(|read| read.time);
        if !calls.is_empty() {
            let missed = calls.iter().map(|read| read.count.unwrap_or(1)).sum();
            let since = calls
                .iter()
                .map(|read| read.first.unwrap_or(read.time))
                .min();
            if let Err(error) = journal.write(AuditReads { calls }.into()).await {
                tracing::error!(%error, missed, "audit entries of read-only calls were lost");
                journal.miss(missed, since.unwrap_or_else(|| journal.clock.now()));
            }
        }
        if let Some(done) = flush {
            let _ = done.send(());
        }
    }
}

/// Counts what comes within the interval. A caller who waits for the flush ends it.
async fn gather(
    journal: &Journal,
    first: Entry,
    entries: &mut mpsc::Receiver<Entry>,
    known: &BTreeSet<Kind>,
) -> (BTreeMap<Kind, AuditRead>, Option<oneshot::Sender<()>>) {
    let mut counted: BTreeMap<Kind, AuditRead> = BTreeMap::new();
    let mut next = Some(first);
    let mut interval = journal
        .clock
        .sleep_until(journal.clock.now().after(INTERVAL));
    let mut is_new = false;
    let mut flush = None;
    while let Some(entry) = next {
        match entry {
            Entry::Flush(done) => {
                flush = Some(done);
                break;
            }
            Entry::Read(read) => {
                let kind = count(&mut counted, *read);
                if !is_new && !known.contains(&kind) {
                    is_new = true;
                    interval = journal.clock.sleep_until(journal.clock.now().after(SOON));
                }
            }
        }
        if counted.len() >= ENTRIES {
            break;
        }
        next = tokio::select! {
            biased;
            entry = entries.recv() => entry,
            () = &mut interval => None,
        };
    }
    (counted, flush)
}

/// Counts a read; its kind.
fn count(counted: &mut BTreeMap<Kind, AuditRead>, read: AuditRead) -> Kind {
    let call = &read.call;
    let key = [
        call.principal.clone(),
        call.surface.as_str().to_owned(),
        call.operation.clone(),
        call.outcome.clone(),
    ];
    let entry = match counted.get(&key) {
        Some(known) => AuditRead {
            first: Some(known.first.unwrap_or(known.time)),
            count: Some(known.count.unwrap_or(1).saturating_add(1)),
            ..read
        },
        None => read,
    };
    counted.insert(key.clone(), entry);
    key
}

async fn commit(store: &dyn RunStore, events: Vec<NewEvent>) -> Result<(), CommitError> {
    // A constant that is a valid id; if it ever were not, nothing could be audited and
    // effectful calls would be refused, which is the safe side.
    let run_id: RunId = AUDIT_JOURNAL
        .parse()
        .map_err(|_| windlass_ports::StoreError::Io("invalid audit journal name".to_owned()))?;
    let write = JournalWrite {
        run_id,
        expect: Expect::Any,
        events,
    };
    store
        .commit(Commit {
            writes: vec![write],
            lease: None,
        })
        .await
        .map(drop)
}
