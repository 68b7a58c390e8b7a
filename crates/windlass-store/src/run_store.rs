//! The store as the engine sees it: each question handed to the readers, each change to
//! the writer.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::watch;
use windlass_ports::{
    ApiKeyRecord, AttemptRecord, Commit, CommitError, Committed, DeliveryFilter, DeliveryRecord,
    FeedPage, LeaseName, LeaseRecord, RunFilter, RunPage, RunStanding, RunStore, StoreError,
};
use windlass_types::{ArtifactRef, DeliveryId, Event, RunId, RunRecord, Timestamp, TokenId};

use crate::{
    append::Work,
    commit::PreparedCommit,
    import,
    index::{artifacts, deliveries, due, keys, runs, tokens},
    journal::Journal,
    lease,
    open::SqliteStore,
    read,
};

impl RunStore for SqliteStore {
    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Committed, CommitError>> {
        Box::pin(async move {
            let prepared = PreparedCommit::new(commit)?;
            self.writer()?.write(Work::Commit(prepared)).await
        })
    }

    fn run(&self, run_id: &RunId) -> BoxFuture<'_, Result<Option<RunRecord>, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(
            self.readers
                .read(move |connection| runs::load_damaged(connection, &run_id)),
        )
    }

    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<RunPage, StoreError>> {
        Box::pin(
            self.readers
                .read(move |connection| runs::page(connection, &filter)),
        )
    }

    fn unfinished(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.readers.read(runs::count_unfinished))
    }

    fn standing(&self, run_id: &RunId) -> BoxFuture<'_, Result<Option<RunStanding>, StoreError>> {
        let (drivers, run_id) = (Arc::clone(&self.drivers), run_id.clone());
        Box::pin(self.readers.read(move |connection| {
            let Some(journal) = Journal::find(connection, &run_id)? else {
                return Ok(None);
            };
            let Some(state) = runs::state_of(connection, &journal)? else {
                return Ok(None);
            };
            Ok(Some(RunStanding {
                state,
                due: due::of(connection, &journal)?,
                lease: lease::of(connection, &drivers, &LeaseName::Run(run_id))?,
            }))
        }))
    }

    fn due(
        &self,
        after: Option<Timestamp>,
        by: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<RunId>, StoreError>> {
        Box::pin(
            self.readers
                .read(move |connection| due::between(connection, after, by)),
        )
    }

    fn signalled(&self) -> BoxFuture<'_, Result<Vec<RunId>, StoreError>> {
        Box::pin(self.readers.read(due::signalled))
    }

    fn next_due(&self, after: Timestamp) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(
            self.readers
                .read(move |connection| due::next(connection, after)),
        )
    }

    fn leases(&self) -> BoxFuture<'_, Result<Vec<LeaseRecord>, StoreError>> {
        let drivers = Arc::clone(&self.drivers);
        Box::pin(
            self.readers
                .read(move |connection| lease::of_runs(connection, &drivers)),
        )
    }

    fn lease(&self, name: LeaseName) -> BoxFuture<'_, Result<Option<LeaseRecord>, StoreError>> {
        let drivers = Arc::clone(&self.drivers);
        Box::pin(
            self.readers
                .read(move |connection| lease::of(connection, &drivers, &name)),
        )
    }

    fn redeemed_by(&self, token: &TokenId) -> BoxFuture<'_, Result<Option<RunId>, StoreError>> {
        let token = token.clone();
        Box::pin(
            self.readers
                .read(move |connection| tokens::redeemed_by(connection, &token)),
        )
    }

    fn events(
        &self,
        run_id: &RunId,
        after_seq: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(
            self.readers
                .read(move |connection| read::events(connection, &run_id, after_seq, limit)),
        )
    }

    fn feed(
        &self,
        after: u64,
        types: &'static [&'static str],
        limit: usize,
    ) -> BoxFuture<'_, Result<FeedPage, StoreError>> {
        Box::pin(
            self.readers
                .read(move |connection| read::feed(connection, after, types, limit)),
        )
    }

    fn position(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.readers.read(read::position))
    }

    fn artifacts(&self, run_id: &RunId) -> BoxFuture<'_, Result<Vec<ArtifactRef>, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(self.readers.read(
            move |connection| match Journal::find(connection, &run_id)? {
                Some(journal) => artifacts::latest(connection, &journal),
                None => Ok(Vec::new()),
            },
        ))
    }

    fn api_keys(&self) -> BoxFuture<'_, Result<Vec<ApiKeyRecord>, StoreError>> {
        Box::pin(self.readers.read(keys::all))
    }

    fn deliveries(
        &self,
        filter: DeliveryFilter,
    ) -> BoxFuture<'_, Result<Vec<DeliveryRecord>, StoreError>> {
        Box::pin(
            self.readers
                .read(move |connection| deliveries::list(connection, &filter)),
        )
    }

    fn attempts(
        &self,
        delivery: &DeliveryId,
    ) -> BoxFuture<'_, Result<Vec<AttemptRecord>, StoreError>> {
        let delivery = delivery.clone();
        Box::pin(
            self.readers
                .read(move |connection| deliveries::attempts(connection, &delivery)),
        )
    }

    fn next_delivery_due(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.readers.read(deliveries::next_due))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        let readers = self.readers.clone();
        self.notice
            .subscribe(self.options.poll_interval, move || readers.connect())
    }

    fn turns(&self) -> watch::Receiver<u64> {
        let readers = self.readers.clone();
        self.notice
            .subscribe_to_turns(self.options.poll_interval, move || readers.connect())
    }

    fn follow(&self, run_id: &RunId) -> watch::Receiver<u64> {
        let readers = self.readers.clone();
        self.notice
            .follow(run_id, self.options.poll_interval, move || {
                readers.connect()
            })
    }

    fn flushes(&self) -> u64 {
        self.flushes.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn is_imported(&self, run_id: &RunId) -> BoxFuture<'_, Result<bool, StoreError>> {
        let run_id = run_id.clone();
        Box::pin(self.readers.read(move |connection| {
            let journal = Journal::find(connection, &run_id)?;
            Ok(journal.is_some_and(|journal| journal.imported_seq > 0))
        }))
    }

    fn import(&self, events: Vec<Event>) -> BoxFuture<'_, Result<(), CommitError>> {
        Box::pin(async move { import::import(self.writer()?, events).await })
    }
}
