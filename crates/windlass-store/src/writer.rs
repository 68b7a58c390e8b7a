//! The one thread that writes. It takes what is queued, writes it as one batch with one
//! flush, and answers; while the disk works, the next batch gathers.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, TryRecvError},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use windlass_ports::{CommitError, Committed, StoreError};

use crate::{
    append::{Outcome, Work},
    error::Failure,
    session::Session,
};

/// Pieces of work that may wait; more wait outside, in their callers.
const QUEUE: usize = 4096;
/// A batch takes no more pieces than this, and no more bytes.
const BATCH_WORKS: usize = 1024;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// How long nothing must have come before the log is moved into the database.
const IDLE: Duration = Duration::from_millis(100);
/// Where a flush takes less than this, falling asleep and being woken costs as much as the
/// flush: a lone caller and the writer then stay awake for each other a little.
const QUICK_FLUSH: Duration = Duration::from_micros(250);
/// The longest wait for callers who were in the last batch and are about to come again.
const MAX_GATHER: Duration = Duration::from_micros(300);

/// How long the disk took the last time, for those who wait for it.
#[derive(Default)]
struct LastFlush(AtomicU64);

impl LastFlush {
    fn set(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.0.store(nanos, Ordering::Relaxed);
    }

    /// How long to stay awake for the next answer or the next caller; nothing on a disk whose
    /// flush leaves time to sleep.
    fn awake(&self) -> Option<Duration> {
        let last = Duration::from_nanos(self.0.load(Ordering::Relaxed));
        (!last.is_zero() && last < QUICK_FLUSH).then(|| last + last / 2)
    }
}

type Alone = Box<dyn FnOnce(&mut Session) + Send>;

enum Job {
    Write(WriteJob),
    Alone(Alone),
}

struct WriteJob {
    work: Work,
    reply: oneshot::Sender<Outcome>,
    _permit: OwnedSemaphorePermit,
}

/// The way to the writer's thread, which ends when this is dropped and the queue is empty.
pub(crate) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    permits: Arc<Semaphore>,
    last_flush: Arc<LastFlush>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(session: Session) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel();
        let last_flush = Arc::new(LastFlush::default());
        let measured = Arc::clone(&last_flush);
        let thread = std::thread::Builder::new()
            .name("windlass-store".to_owned())
            .spawn(move || {
                WriteLoop {
                    session,
                    jobs,
                    next: None,
                    last_batch: 0,
                    last_flush: measured,
                }
                .run()
            })
            .map_err(|error| {
                StoreError::Io(format!("the store's writer could not be started: {error}"))
            })?;
        Ok(Self {
            queue: Some(queue),
            permits: Arc::new(Semaphore::new(QUEUE)),
            last_flush,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Queues a piece of work and waits until it is durable or refused.
    pub(crate) async fn write(&self, work: Work) -> Result<Committed, CommitError> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| stopped())?;
        let (reply, mut answer) = oneshot::channel();
        self.send(Job::Write(WriteJob {
            work,
            reply,
            _permit: permit,
        }))?;
        let is_alone = self.permits.available_permits() + 1 >= QUEUE;
        if is_alone && let Some(awake) = self.last_flush.awake() {
            let deadline = Instant::now() + awake;
            while Instant::now() < deadline {
                match answer.try_recv() {
                    Ok(outcome) => return outcome,
                    Err(oneshot::error::TryRecvError::Closed) => return Err(stopped().into()),
                    Err(oneshot::error::TryRecvError::Empty) => tokio::task::yield_now().await,
                }
            }
        }
        answer.await.map_err(|_| stopped())?
    }

    /// Queues work that makes its own transaction and waits for it.
    pub(crate) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Alone(Box::new(move |session| {
            drop(reply.send(work(session)))
        })))?;
        Ok(answer.await.map_err(|_| stopped())??)
    }

    /// The same for callers that are not asynchronous.
    pub(crate) fn alone_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(Job::Alone(Box::new(move |session| {
            drop(reply.send(work(session)))
        })))?;
        Ok(answer.recv().map_err(|_| stopped())??)
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.queue
            .as_ref()
            .and_then(|queue| queue.send(job).ok())
            .ok_or_else(stopped)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the store's writer ended in a panic");
        }
    }
}

fn stopped() -> StoreError {
    StoreError::Io("the store's writer has stopped".to_owned())
}

struct WriteLoop {
    session: Session,
    jobs: mpsc::Receiver<Job>,
    /// A job that came while a batch gathered and does not belong in it.
    next: Option<Job>,
    last_batch: usize,
    last_flush: Arc<LastFlush>,
}

impl WriteLoop {
    fn run(mut self) {
        while let Some(job) = self.next_job() {
            match job {
                Job::Alone(work) => {
                    work(&mut self.session);
                    self.session.keep_mark_if_due();
                }
                Job::Write(first) => {
                    let batch = self.gather(first);
                    self.last_batch = batch.len();
                    write_batch(&mut self.session, batch);
                    self.session.after_commit();
                    self.last_flush.set(self.session.last_flush());
                }
            }
        }
        if self.session.has_idle_work() {
            self.session.idle();
        }
        if self.session.is_mark_behind() {
            self.session.keep_mark();
        }
    }

    fn next_job(&mut self) -> Option<Job> {
        if let Some(job) = self.next.take() {
            return Some(job);
        }
        if let Some(awake) = self.last_flush.awake() {
            let deadline = Instant::now() + awake / 2;
            while Instant::now() < deadline {
                match self.jobs.try_recv() {
                    Ok(job) => return Some(job),
                    Err(TryRecvError::Disconnected) => return None,
                    Err(TryRecvError::Empty) => std::thread::yield_now(),
                }
            }
        }
        if self.session.has_idle_work() {
            match self.jobs.recv_timeout(IDLE) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.session.idle(),
            }
        }
        // Another process may be at it, or the disk may fail: until it is done.
        while self.session.is_mark_behind() {
            match self.jobs.recv_timeout(IDLE) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.session.keep_mark_if_due(),
            }
        }
        self.jobs.recv().ok()
    }

    /// Everything that is queued, and those who are about to queue: callers who were just
    /// answered together come back together, and a batch of one in front of them would cost
    /// them a flush. A lone caller never waits.
    fn gather(&mut self, first: WriteJob) -> Vec<WriteJob> {
        let mut bytes = first.work.bytes();
        let mut batch = vec![first];
        let deadline = Instant::now() + (self.session.last_flush() / 4).min(MAX_GATHER);
        while batch.len() < BATCH_WORKS && bytes < BATCH_BYTES {
            let job = match self.jobs.try_recv() {
                Err(TryRecvError::Empty) if batch.len() < self.last_batch => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    match self.jobs.recv_timeout(left) {
                        Ok(job) => job,
                        Err(_) => break,
                    }
                }
                Ok(job) => job,
                Err(_) => break,
            };
            match job {
                Job::Write(write) => {
                    bytes += write.work.bytes();
                    batch.push(write);
                }
                alone @ Job::Alone(_) => {
                    self.next = Some(alone);
                    break;
                }
            }
        }
        batch
    }
}

fn write_batch(session: &mut Session, batch: Vec<WriteJob>) {
    let works: Vec<&Work> = batch.iter().map(|job| &job.work).collect();
    match session.write(&works) {
        Ok(outcomes) => {
            for (job, outcome) in batch.into_iter().zip(outcomes) {
                // The caller may have left; the events are stored anyway.
                let _ = job.reply.send(outcome);
            }
        }
        // One of them cannot be written at all; alone, each gets its own answer.
        Err(failure) if failure.is_refusal() && batch.len() > 1 => {
            for job in batch {
                write_batch(session, vec![job]);
            }
        }
        Err(failure) => {
            let error = StoreError::from(failure);
            for job in batch {
                let _ = job.reply.send(Err(CommitError::Store(error.clone())));
            }
        }
    }
}
