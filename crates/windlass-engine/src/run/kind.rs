//! A kind of run: the code behind a name.

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde_json::Value;
use windlass_ports::{BoxFuture, RunStore, store::KeptFor};
use windlass_types::{Body, Event, Problem, RunId, RunRecord, Timestamp};

use super::{ExportedFile, RunContext, RunError, WebhookRequest};

/// The code of a run. Its control flow must depend on nothing but the input and what the
/// context returned, so that executing it again over the journal leads to the same place.
pub trait RunKind: Send + Sync + 'static {
    /// The name journals use; never changed once released.
    fn name(&self) -> &str;

    /// Executes a run, from the start or over what the journal already holds.
    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>>;

    /// Who is told that a run has ended, and what. It is queued in the commit that ends the run,
    /// however it ends: done, failed or cancelled.
    fn farewell<'a>(&'a self, _ended: &'a Ended<'a>) -> BoxFuture<'a, Vec<WebhookRequest>> {
        Box::pin(async { Vec::new() })
    }

    /// What an export of such a run holds besides its journal: other forms of it, each a pure
    /// function of what is given.
    fn export_files(&self, _record: &RunRecord, _events: &[Event]) -> Vec<ExportedFile> {
        Vec::new()
    }

    /// How long a run is kept after its end; without, as long as the settings say. It goes whole:
    /// journal, input and artifacts.
    fn kept_for(&self) -> Option<Duration> {
        None
    }

    /// Removes what its runs left outside the store and nobody needs any more: folders of runs
    /// that are gone, caches that have grown. Called after the store removed what was due, and
    /// after a prune; harmless when repeated.
    fn sweep<'a>(&'a self, _sweep: &'a Sweep) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }
}

/// What a sweep may ask.
pub struct Sweep {
    pub(crate) store: Arc<dyn RunStore>,
    /// When it began.
    pub now: Timestamp,
}

impl Sweep {
    /// Whether the store has no such run, any more or yet.
    pub async fn is_gone(&self, run_id: &RunId) -> Result<bool, Problem> {
        Ok(self.store.run(run_id).await?.is_none())
    }
}

/// A run that is about to end.
#[derive(Debug)]
pub struct Ended<'a> {
    /// What its journal says up to now.
    pub record: &'a RunRecord,
    /// Its journal up to now.
    pub events: &'a [Event],
    /// How it ends: completed, failed or cancelled.
    pub ending: &'a Body,
    /// When.
    pub at: Timestamp,
}

/// Every kind of this process.
pub struct RunKinds(pub(crate) HashMap<String, Arc<dyn RunKind>>);

impl RunKinds {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<dyn RunKind>> {
        self.0.get(name).cloned()
    }

    /// The kinds whose runs are kept for a time only.
    pub(crate) fn kept(&self) -> Vec<KeptFor> {
        let mut kept: Vec<KeptFor> = self
            .0
            .iter()
            .filter_map(|(kind, code)| {
                let kind = kind.clone();
                code.kept_for().map(|keep| KeptFor { kind, keep })
            })
            .collect();
        kept.sort_by(|left, right| left.kind.cmp(&right.kind));
        kept
    }
}
