//! Everything that leaves on stdout: whole lines, in order, nothing else.
//!
//! A line is written at once when the descriptor takes it; only what is left over waits
//! for the flushing task. That saves a task switch per answer. Not here: what is written.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use serde::Serialize;
use tokio::{io::AsyncWrite, sync::Notify};
use tokio_util::task::AbortOnDropHandle;

use super::fds::Output;

/// Above this many unwritten bytes no further requests are read: the client does not read
/// its answers, and the answers to come have nowhere to go.
const HIGH_WATER: usize = 4 * 1024 * 1024;

/// The way out. Cheap to clone; all clones share one descriptor.
#[derive(Clone)]
pub struct Outbox {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Wakes the flushing task: there is something left over.
    leftover: Notify,
    /// Wakes anyone who waits for the outbox to empty, or to break.
    progress: Notify,
}

struct State {
    output: Output,
    pending: Vec<u8>,
    written: usize,
    /// The flushing task has taken over until nothing is left.
    flushing: bool,
    /// Set once the client is gone; everything after it is dropped.
    broken: Option<io::ErrorKind>,
}

impl Outbox {
    /// An outbox over `output`, and the task that flushes it for as long as it is held.
    pub fn new(output: Output) -> (Self, AbortOnDropHandle<()>) {
        let state = State {
            output,
            pending: Vec::new(),
            written: 0,
            flushing: false,
            broken: None,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            leftover: Notify::new(),
            progress: Notify::new(),
        });
        let flusher = AbortOnDropHandle::new(tokio::spawn(flush_leftovers(Arc::clone(&shared))));
        (Self { shared }, flusher)
    }

    /// Writes one message as one line.
    pub fn write(&self, message: &impl Serialize) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(kind) = state.broken {
            return Err(kind.into());
        }
        let before = state.pending.len();
        if let Err(error) = serde_json::to_writer(&mut state.pending, message) {
            state.pending.truncate(before);
            return Err(error.into());
        }
        state.pending.push(b'\n');
        // While the flushing task is at it, polling here would take its wake-up away.
        if state.flushing {
            return Ok(());
        }
        // Nobody is waiting here: what does not go out now is left to the flushing task.
        let flushed = state.poll_flush(&mut Context::from_waker(Waker::noop()));
        state.flushing = flushed.is_pending();
        drop(state);
        if flushed.is_pending() {
            self.shared.leftover.notify_one();
        } else {
            self.shared.progress.notify_waiters();
        }
        Ok(())
    }

    /// Whether the client has stopped reading.
    pub fn is_congested(&self) -> bool {
        let state = self.lock();
        state.pending.len() - state.written > HIGH_WATER
    }

    /// Whether the client is gone.
    pub fn is_broken(&self) -> bool {
        self.lock().broken.is_some()
    }

    /// Waits until the client is gone.
    pub async fn broken(&self) {
        self.until(|state| state.broken.is_some()).await;
    }

    /// Waits until there is room again, or the client is gone.
    pub async fn uncongested(&self) {
        self.until(|state| {
            state.broken.is_some() || state.pending.len() - state.written <= HIGH_WATER / 2
        })
        .await;
    }

    /// Waits until everything is written, or the client is gone.
    pub async fn flushed(&self) {
        self.until(|state| state.broken.is_some() || state.pending.is_empty())
            .await;
    }

    async fn until(&self, done: impl Fn(&State) -> bool) {
        loop {
            let progress = self.shared.progress.notified();
            let mut progress = std::pin::pin!(progress);
            // Registered before the check, so that progress made in between is not missed.
            progress.as_mut().enable();
            if done(&self.lock()) {
                return;
            }
            progress.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes what is pending. Ready when nothing is left or nothing more can be written.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.broken.is_none() && self.written < self.pending.len() {
            let Self {
                output,
                pending,
                written,
                ..
            } = self;
            match Pin::new(output).poll_write(context, &pending[*written..]) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => self.broken = Some(io::ErrorKind::WriteZero),
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) => self.broken = Some(error.kind()),
            }
        }
        if self.broken.is_none() {
            match Pin::new(&mut self.output).poll_flush(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => self.broken = Some(error.kind()),
            }
        }
        self.pending.clear();
        self.written = 0;
        Poll::Ready(())
    }
}

async fn flush_leftovers(shared: Arc<Shared>) {
    loop {
        shared.leftover.notified().await;
        std::future::poll_fn(|context| {
            let mut state = shared.lock();
            let flushed = state.poll_flush(context);
            state.flushing = flushed.is_pending();
            flushed
        })
        .await;
        shared.progress.notify_waiters();
    }
}
