//! Passing notices: from steps to the watchers of their run, in this process or in another.
//!
//! Nothing is kept. A watcher that does not keep up loses the oldest notices; work never waits
//! for a watcher.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tokio::sync::{broadcast, broadcast::error::RecvError, mpsc, watch};
use windlass_ports::{NoticeReceiver, NoticeSource};
use windlass_types::{PassingNotice, RunId};

use crate::{Engine, driver::lock};

/// As many notices of a run as a watcher may be behind.
const BUFFER: usize = 256;

/// The watched runs of this process.
#[derive(Default)]
pub(crate) struct Notices(Mutex<HashMap<RunId, broadcast::Sender<Arc<PassingNotice>>>>);

impl Notices {
    /// Hands a notice to the watchers of its run.
    pub(crate) fn send(&self, notice: PassingNotice) {
        let mut watched = lock(&self.0);
        let Some(sender) = watched.get(&notice.run_id) else {
            return;
        };
        let run_id = notice.run_id.clone();
        if sender.send(Arc::new(notice)).is_err() {
            // The last watcher has gone.
            watched.remove(&run_id);
        }
    }
}

impl NoticeSource for Notices {
    fn subscribe(&self, run_id: &RunId) -> NoticeReceiver {
        let mut watched = lock(&self.0);
        watched.retain(|_, sender| sender.receiver_count() > 0);
        watched
            .entry(run_id.clone())
            .or_insert_with(|| broadcast::Sender::new(BUFFER))
            .subscribe()
    }
}

/// The passing notices of one run, from now on, wherever it is driven.
pub struct NoticeStream {
    engine: Engine,
    run_id: RunId,
    here: NoticeReceiver,
    elsewhere: Option<mpsc::Receiver<PassingNotice>>,
    /// Another process may have taken the run when its journal grows.
    growth: watch::Receiver<u64>,
    /// Whether it is known who drives the run.
    is_known: bool,
}

impl NoticeStream {
    pub(crate) fn new(engine: &Engine, run_id: &RunId) -> Self {
        Self {
            engine: engine.clone(),
            run_id: run_id.clone(),
            here: engine.notices().subscribe(run_id),
            elsewhere: None,
            growth: engine.store.follow(run_id),
            is_known: false,
        }
    }

    /// The next notice; waits for ever where there is none. May be dropped at any moment.
    pub async fn next(&mut self) -> Arc<PassingNotice> {
        loop {
            if !self.is_known && self.elsewhere.is_none() {
                self.growth.mark_unchanged();
                self.elsewhere = self.connect().await;
                self.is_known = true;
            }
            tokio::select! {
                notice = self.here.recv() => match notice {
                    Ok(notice) => return notice,
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => std::future::pending().await,
                },
                notice = heard(&mut self.elsewhere) => match notice {
                    Some(notice) => return Arc::new(notice),
                    // That process is gone; the one that takes the run over says so in the
                    // journal.
                    None => self.elsewhere = None,
                },
                grown = self.growth.changed() => match grown {
                    Ok(()) => self.is_known = false,
                    Err(_) => std::future::pending().await,
                },
            }
        }
    }

    /// The notices of another process, where one drives the run.
    async fn connect(&self) -> Option<mpsc::Receiver<PassingNotice>> {
        let standing = self.engine.store.standing(&self.run_id).await.ok()??;
        let lease = standing.lease.filter(|lease| lease.is_alive)?;
        if lease.driver == self.engine.own_runs().driver() {
            return None;
        }
        let heard = self.engine.lease.hear_notices(lease.driver, &self.run_id);
        heard.await
    }
}

async fn heard(elsewhere: &mut Option<mpsc::Receiver<PassingNotice>>) -> Option<PassingNotice> {
    match elsewhere {
        Some(receiver) => receiver.recv().await,
        None => std::future::pending().await,
    }
}
