//! Care of the store itself, as the `store` commands ask for it.

use std::{path::PathBuf, time::Duration};

use futures::future::BoxFuture;
use windlass_ports::{
    StoreError, StoreMaintenance,
    store::{CheckReport, Expiry, KeptFor, PruneReport},
};
use windlass_types::Timestamp;

use crate::{backup, check, open::SqliteStore, prune};

impl StoreMaintenance for SqliteStore {
    fn backup(&self, directory: PathBuf) -> BoxFuture<'_, Result<u64, StoreError>> {
        let (home, readers) = (self.home.clone(), self.readers.clone());
        Box::pin(off_thread(move || {
            backup::backup(&home, &readers.connect()?, &directory)
        }))
    }

    fn check(&self) -> BoxFuture<'_, Result<CheckReport, StoreError>> {
        let (home, readers) = (self.home.clone(), self.readers.clone());
        Box::pin(off_thread(move || check::check(&home, &readers.connect()?)))
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
        kept: Vec<KeptFor>,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Expiry, StoreError>> {
        Box::pin(prune::expire(self, kept, now))
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
