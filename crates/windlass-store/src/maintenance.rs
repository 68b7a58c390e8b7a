//! Care of the store itself, as the `store` commands ask for it.

use std::{path::PathBuf, time::Duration};

use futures::future::BoxFuture;
use windlass_ports::{
    AnchorState, Commit, CommitError, StoreError, StoreMaintenance,
    store::{CheckReport, Expiry, PruneReport, Retention, StoreProbe},
};
use windlass_types::{Anchor, Timestamp};

use crate::{
    anchor, append::Work, backup, check, commit::PreparedCommit, heads, history::SealKey,
    holder::Holder, mark, open::SqliteStore, probe, prune, reserve, session::Session,
};

impl StoreMaintenance for SqliteStore {
    fn backup(&self, directory: PathBuf) -> BoxFuture<'_, Result<u64, StoreError>> {
        let (home, readers) = (self.home.clone(), self.readers.clone());
        let key = self.options.seal_key.clone();
        Box::pin(off_thread(move || {
            backup::backup(&home, &readers.connect()?, key.as_ref(), &directory)
        }))
    }

    fn check(&self) -> BoxFuture<'_, Result<CheckReport, StoreError>> {
        let (home, readers) = (self.home.clone(), self.readers.clone());
        let key = SealKey::new(self.options.seal_key.as_ref());
        Box::pin(off_thread(move || {
            check::check(&home, &readers.connect()?, &key)
        }))
    }

    fn anchor(&self, now: Timestamp) -> BoxFuture<'_, Result<Option<Anchor>, StoreError>> {
        let (home, readers) = (self.home.clone(), self.readers.clone());
        let key = SealKey::new(self.options.seal_key.as_ref());
        Box::pin(off_thread(move || {
            anchor::take(&home, &readers.connect()?, &key, now)
        }))
    }

    fn anchor_states(&self) -> BoxFuture<'_, Result<Vec<AnchorState>, StoreError>> {
        let home = self.home.clone();
        Box::pin(off_thread(move || anchor::states(&home)))
    }

    fn note_anchors(&self, states: Vec<AnchorState>) -> BoxFuture<'_, Result<(), StoreError>> {
        let home = self.home.clone();
        Box::pin(off_thread(move || anchor::note(&home, &states)))
    }

    fn held_by(&self) -> BoxFuture<'_, Result<Option<(String, bool)>, StoreError>> {
        let home = self.home.clone();
        Box::pin(off_thread(move || {
            let holder = Holder::of_store(&home);
            Ok(holder.map(|holder| (holder.to_string(), holder.is_stopped())))
        }))
    }

    fn compare_anchors(
        &self,
        anchors: Vec<Anchor>,
    ) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        let key = SealKey::new(self.options.seal_key.as_ref());
        Box::pin(
            self.readers
                .read(move |connection| anchor::compare(connection, &key, anchors)),
        )
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<StoreProbe>, StoreError>> {
        let (home, options) = (self.home.clone(), self.options.clone());
        Box::pin(off_thread(move || probe::probe(&home, &options).map(Some)))
    }

    fn shortfall(&self) -> BoxFuture<'_, Result<Option<String>, StoreError>> {
        let (home, readers) = (self.home.clone(), self.readers.clone());
        let key = SealKey::new(self.options.seal_key.as_ref());
        Box::pin(off_thread(move || {
            let mark = mark::read_mark(&home, &key)?;
            mark::shortfall(&home, &readers.connect()?, &key, mark)
        }))
    }

    fn accept_loss(&self, record: Commit) -> BoxFuture<'_, Result<(), CommitError>> {
        Box::pin(async move {
            let record = Work::Commit(PreparedCommit::new(record)?);
            let accept = move |session: &mut Session| session.accept_loss(&record);
            self.writer()?.alone(accept).await?.map(drop)
        })
    }

    fn prune(
        &self,
        keep: Duration,
        now: Timestamp,
        dry_run: bool,
    ) -> BoxFuture<'_, Result<PruneReport, StoreError>> {
        Box::pin(prune::prune(self, keep, now, dry_run))
    }

    fn expire(
        &self,
        retention: Retention,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Expiry, StoreError>> {
        Box::pin(prune::expire(self, retention, now))
    }

    fn seal_heads(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(heads::seal_all(self))
    }

    fn keep_reserve(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let home = self.home.clone();
        Box::pin(off_thread(move || reserve::keep(&home)))
    }

    fn release_reserve(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let home = self.home.clone();
            if off_thread(move || reserve::release(&home)).await? {
                // The log moves into the database, which may grow now; then it starts over.
                self.writer()?
                    .alone(|session| {
                        session.idle();
                        Ok(())
                    })
                    .await?;
            }
            Ok(())
        })
    }
}

pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> crate::error::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(StoreError::Io(format!(
            "maintenance of the store was interrupted: {error}"
        ))),
    }
}
