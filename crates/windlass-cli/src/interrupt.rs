//! Requests to stop: Ctrl-C, `kill`, a closed terminal.
//!
//! One listener per process; commands that can end gracefully wait on it, all others are
//! simply dropped by the dispatcher. A durable run never depends on this.

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

/// Signals that the process should stop. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Interrupt(watch::Receiver<u32>);

impl Interrupt {
    /// One that never comes, for tests and embedding.
    pub fn never() -> Self {
        // Without its sender a receiver counts as never changed; see `wait`.
        Self(watch::channel(0).1)
    }

    /// One that comes when the returned function is called.
    pub(crate) fn manual() -> (impl FnOnce(), Self) {
        let (sender, receiver) = watch::channel(0);
        let raise = move || {
            // There may be no waiter left, which is fine.
            let _ = sender.send(1);
        };
        (raise, Self(receiver))
    }

    /// Listens to the signals of this process. Must be called inside a Tokio runtime.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let (sender, receiver) = watch::channel(0);
        let mut signals = [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ];
        tokio::spawn(async move {
            loop {
                let [interrupt, terminate, hangup] = &mut signals;
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hangup.recv() => {}
                }
                sender.send_modify(|count| *count += 1);
            }
        });
        Ok(Self(receiver))
    }

    /// Resolves once the process was asked to stop.
    pub async fn wait(&self) {
        self.wait_times(1).await;
    }

    /// Resolves once the process was asked to stop this many times.
    pub(crate) async fn wait_times(&self, times: u32) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|count| *count >= times).await.is_err() {
            // No listener is left: it will not arrive.
            std::future::pending::<()>().await;
        }
    }

    /// Whether the process was asked to stop.
    pub fn is_raised(&self) -> bool {
        *self.0.borrow() > 0
    }
}
