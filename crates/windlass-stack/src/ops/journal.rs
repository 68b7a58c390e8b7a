//! What was done to stacks from this machine, and what configs call their projects.

use std::cmp::Reverse;
use std::path::Path;

use windlass_engine::Engine;
use windlass_engine::contract::Contract as _;
use windlass_ports::BoxFuture;
use windlass_ports::store::RunFilter;
use windlass_stack_diagnose::{JournalAsk, JournalRecord, OperationJournal, ProjectNames};
use windlass_stack_lifecycle::change_set;
use windlass_types::{Problem, RunRecord, RunState};

use crate::contract::StackContract;
use crate::place::project_in;
use crate::run::{Job, Kind};

/// Runs of stacks, newest first.
pub(super) struct Journal(pub Engine);

impl OperationJournal for Journal {
    fn recent<'a>(
        &'a self,
        ask: &'a JournalAsk,
    ) -> BoxFuture<'a, Result<Vec<JournalRecord>, Problem>> {
        Box::pin(async move {
            let mut records = Vec::new();
            for kind in Kind::ALL {
                let filter = RunFilter {
                    kind: Some(kind.name().to_owned()),
                    principal: ask.principal.clone(),
                    limit: 200,
                    ..RunFilter::default()
                };
                let page = self.0.store.runs(filter).await?;
                records.extend(page.runs.iter().filter_map(|run| record(kind, run, ask)));
            }
            records.sort_by_key(|record: &JournalRecord| Reverse(record.started_at));
            records.truncate(ask.limit);
            Ok(records)
        })
    }
}

fn record(kind: Kind, run: &RunRecord, ask: &JournalAsk) -> Option<JournalRecord> {
    let job: Job = serde_json::from_value(run.input.clone()).ok()?;
    // A call may have left the project to a config that nobody could read then.
    let is_known = !job.stack.is_empty() && !job.stack.contains('*');
    let stack_name = is_known.then(|| job.stack.clone());
    let is_asked = |asked: &Option<String>, has: &Option<String>| match (asked, has) {
        (Some(asked), Some(has)) => asked == has,
        (Some(_), None) => false,
        (None, _) => true,
    };
    if !is_asked(&ask.stack_name, &stack_name) || !is_asked(&ask.region, &job.place.region) {
        return None;
    }
    let is_over = run.state.is_final();
    let code = match (run.state, &run.problem) {
        (RunState::Completed, _) => Some("OK"),
        (_, Some(problem)) => Some(StackContract.code_name(problem.code())),
        _ => None,
    };
    Some(JournalRecord {
        run_id: run.run_id.to_string(),
        operation: kind.operation().to_owned(),
        stack_name,
        client_request_token: Some(match kind {
            // What a preview makes and removes bears the name of its change set.
            Kind::Preview => change_set::name("preview", run.run_id.as_str()),
            _ => change_set::client_token(run.run_id.as_str()),
        }),
        principal: run.principal.id(),
        state: run.state.as_str().to_owned(),
        code: code.map(str::to_owned),
        started_at: run.created_at,
        ended_at: is_over.then_some(run.updated_at),
        plan_digest: run.plan_digest.map(|digest| digest.to_string()),
    })
}

/// Project names, from configs that need nobody to be read.
pub(super) struct ConfigNames;

impl ProjectNames for ConfigNames {
    fn project_name(
        &self,
        config_path: Option<&str>,
        directory: &Path,
    ) -> Result<Option<String>, Problem> {
        Ok(project_in(directory, config_path, None))
    }
}
