//! The audit log: who called what, with what outcome, as a hash-chained journal of its own.
//!
//! Calls that change something answer after their entry is durable. Reads hand theirs to a
//! writer that joins the next group commit, so that asking stays cheap; a full queue makes
//! readers wait rather than lose entries.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};
use windlass_ports::{Clock, Commit, CommitError, Expect, JournalWrite, RunStore};
use windlass_types::{
    Body, NewEvent, RunId, Timestamp,
    event::SpanIds,
    journal::{AuditCall, AuditRead, AuditReads},
};

/// The journal's name.
pub const AUDIT_JOURNAL: &str = "sys_audit";

const QUEUE: usize = 8192;
const BATCH: usize = 512;
/// How long reads gather before they are written.
const GATHER: Duration = Duration::from_millis(20);

enum Entry {
    Read(Box<AuditRead>),
    /// Resolves once everything before it is durable.
    Flush(oneshot::Sender<()>),
}

/// A handle to the audit log.
pub struct AuditLog {
    store: Arc<dyn RunStore>,
    clock: Arc<dyn Clock>,
    queue: mpsc::Sender<Entry>,
}

impl AuditLog {
    pub(crate) fn start(store: Arc<dyn RunStore>, clock: Arc<dyn Clock>) -> Self {
        let (queue, entries) = mpsc::channel(QUEUE);
        tokio::spawn(write_batches(
            Arc::clone(&store),
            Arc::clone(&clock),
            entries,
        ));
        Self {
            store,
            clock,
            queue,
        }
    }

    /// Records a call and waits until the record is durable.
    pub async fn record(&self, call: AuditCall) -> Result<(), CommitError> {
        let event = self.event(call)?;
        commit(&*self.store, vec![event]).await
    }

    /// Records a read-only call together with the others that end before the next flush.
    pub async fn queue(&self, call: AuditCall) {
        let read = AuditRead {
            time: self.clock.now(),
            call,
        };
        // The receiver only goes away with the runtime; then nobody reads the answer either.
        let _ = self.queue.send(Entry::Read(Box::new(read))).await;
    }

    /// Waits until every queued record is durable (or has failed and was logged).
    pub async fn flush(&self) {
        let (done, wait) = oneshot::channel();
        if self.queue.send(Entry::Flush(done)).await.is_ok() {
            let _ = wait.await;
        }
    }

    fn event(&self, call: AuditCall) -> Result<NewEvent, CommitError> {
        event(self.clock.now(), &call.into())
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

async fn write_batches(
    store: Arc<dyn RunStore>,
    clock: Arc<dyn Clock>,
    mut entries: mpsc::Receiver<Entry>,
) {
    while let Some(first) = entries.recv().await {
        let (calls, flush) = gather(first, &mut entries).await;
        if !calls.is_empty() {
            let written = match event(clock.now(), &AuditReads { calls }.into()) {
                Ok(event) => commit(&*store, vec![event]).await,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                tracing::error!(%error, "audit entries of read-only calls were lost");
            }
        }
        if let Some(done) = flush {
            let _ = done.send(());
        }
    }
}

/// What comes within a moment: a busy server then writes a few events a second for its reads
/// instead of hundreds. A caller who waits for the flush ends the moment.
async fn gather(
    first: Entry,
    entries: &mut mpsc::Receiver<Entry>,
) -> (Vec<AuditRead>, Option<oneshot::Sender<()>>) {
    let mut calls = Vec::new();
    let mut next = Some(first);
    let mut moment = pin!(tokio::time::sleep(GATHER));
    while let Some(entry) = next {
        match entry {
            Entry::Flush(done) => return (calls, Some(done)),
            Entry::Read(read) => calls.push(*read),
        }
        if calls.len() >= BATCH {
            break;
        }
        next = tokio::select! {
            biased;
            entry = entries.recv() => entry,
            () = &mut moment => None,
        };
    }
    (calls, None)
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
