//! Runs whose journal cannot be read any more: never executed on bad data, and never left
//! unfinished for ever. They fail with what to do, and the others go on.

use windlass_ports::{Commit, CommitError, Expect, JournalWrite, StoreError};
use windlass_types::{
    Body, Problem, RunId, RunState,
    event::SpanIds,
    journal::{RunDamaged, RunFailed, STORE_JOURNAL},
    run::{DAMAGED_RESIDUE, damage_problem},
};

use crate::{Engine, engine::commit_problem};

/// Events of the store's own journal that are read at a time.
const PAGE: usize = 1000;

impl Engine {
    /// Ends a run whose journal is damaged, unless it has ended. The journal says so where
    /// something can be added to it; the store's own journal says it in any case.
    pub(crate) async fn fail_damaged(&self, run_id: &RunId, finding: &str) {
        tracing::error!(%run_id, finding, "the journal is damaged; the run has failed");
        let ended = match self.try_fail(run_id, finding, true).await {
            Ok(()) => Ok(()),
            // It has ended meanwhile.
            Err(CommitError::Unexpected { .. }) => return,
            Err(_) => self.try_fail(run_id, finding, false).await,
        };
        if let Err(error) = ended {
            tracing::error!(%run_id, %error, "the damaged run is left alone");
        }
    }

    async fn try_fail(
        &self,
        run_id: &RunId,
        finding: &str,
        in_journal: bool,
    ) -> Result<(), CommitError> {
        let mut writes = Vec::new();
        if in_journal {
            let unfinished = RunState::ALL.into_iter().filter(|state| !state.is_final());
            let failed = RunFailed {
                problem: damage_problem(run_id, finding),
                residue: vec![DAMAGED_RESIDUE.to_owned()],
            };
            let expect = Expect::State(unfinished.collect());
            writes.push(self.write_of(run_id, expect, failed.into())?);
        }
        let damaged = RunDamaged {
            run_id: run_id.clone(),
            finding: finding.to_owned(),
        };
        let journal = store_journal().map_err(|problem| StoreError::Io(problem.to_string()))?;
        writes.push(self.write_of(&journal, Expect::Any, damaged.into())?);
        let commit = Commit {
            writes,
            lease: None,
        };
        self.store.commit(commit).await.map(drop)
    }

    fn write_of(
        &self,
        run_id: &RunId,
        expect: Expect,
        body: Body,
    ) -> Result<JournalWrite, CommitError> {
        self.journal_write(run_id, expect, vec![body], SpanIds::default())
    }

    /// Runs that failed because their journal is damaged and that are still in the store, with
    /// what is wrong.
    pub async fn damaged_runs(&self) -> Result<Vec<(RunId, String)>, Problem> {
        let mut damaged: Vec<(RunId, String)> = Vec::new();
        let (journal, mut after) = (store_journal()?, 0);
        loop {
            let page = self.store.events(&journal, after, PAGE).await?;
            let is_last = page.len() < PAGE;
            for event in page {
                after = event.seq;
                let body = Body::decode(&event.event_type, &event.payload)
                    .map_err(|error| Problem::internal("event of the store", error))?;
                if let Some(Body::RunDamaged(found)) = body
                    && !damaged.iter().any(|(run_id, _)| *run_id == found.run_id)
                    && !matches!(self.store.run(&found.run_id).await, Ok(None))
                {
                    damaged.push((found.run_id, found.finding));
                }
            }
            if is_last {
                return Ok(damaged);
            }
        }
    }

    /// Whether the journal of a run can be read to its end; what is wrong where it cannot.
    pub async fn journal_damage(&self, run_id: &RunId) -> Result<Option<String>, Problem> {
        let mut after = 0;
        loop {
            match self.store.events(run_id, after, PAGE).await {
                Ok(page) => match page.last() {
                    Some(last) => after = last.seq,
                    None => break,
                },
                Err(StoreError::Damaged(finding)) => return Ok(Some(finding)),
                Err(error) => return Err(error.into()),
            }
        }
        match self.store.run(run_id).await {
            Ok(_) => Ok(None),
            Err(StoreError::Damaged(finding)) => Ok(Some(finding)),
            Err(error) => Err(commit_problem(error.into())),
        }
    }
}

fn store_journal() -> Result<RunId, Problem> {
    STORE_JOURNAL
        .parse()
        .map_err(|error| Problem::internal("journal of the store", error))
}
