//! Launches as runs, remembered as long as their journals do not grow.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use windlass_engine::operation::CallContext;
use windlass_types::{Problem, RunId, RunRecord};

use super::own::{OwnRun, runs_of};
use crate::{
    ops::{Desk, list},
    view,
};

/// Launches remembered; beyond that all are forgotten and read again when they are asked for.
const REMEMBERED: usize = 500;

type Runs = Arc<Vec<OwnRun>>;

/// The folds that were made, each with the place in the journal it goes up to.
#[derive(Default)]
pub(super) struct Launches(Mutex<HashMap<RunId, (u64, Runs)>>);

impl Launches {
    /// A launch and its children.
    pub(super) async fn of(&self, desk: &Desk, record: &RunRecord) -> Result<Runs, Problem> {
        if let Some((seq, runs)) = self.lock().get(&record.run_id)
            && *seq == record.last_seq
        {
            return Ok(Arc::clone(runs));
        }
        let events = view::journal(&desk.engine, &record.run_id).await?;
        let runs = Arc::new(runs_of(record, &events));
        let mut known = self.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let read = events.last().map_or(0, |event| event.seq);
        known.insert(record.run_id.clone(), (read, Arc::clone(&runs)));
        Ok(runs)
    }

    /// Every launch a caller may see that `wanted` does not leave out.
    pub(super) async fn visible(
        &self,
        desk: &Desk,
        context: &CallContext,
        wanted: impl Fn(&RunRecord) -> bool,
    ) -> Result<Vec<Runs>, Problem> {
        let mut found = Vec::new();
        for record in list::launches(desk, context).await? {
            if wanted(&record) {
                found.push(self.of(desk, &record).await?);
            }
        }
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, (u64, Runs)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
