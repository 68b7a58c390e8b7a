//! `windlass runs rollback`: plan → confirm → apply of taking a completed run back.

use clap::Args;
use serde_json::json;
use windlass_types::{Problem, RunState};

use crate::{
    flow::{
        Applied, ApplyArgs, ChangeOperations, RunArg, Wanted, apply_change, conclude, find_run,
    },
    session::{Report, Session},
};

const OPERATIONS: ChangeOperations = ChangeOperations {
    plan: "runs.rollback_plan",
    apply: "runs.rollback",
};

#[derive(Args, Debug)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    run: RunArg,
    #[command(flatten)]
    apply: ApplyArgs,
}

impl RollbackArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        let record = session
            .engine()
            .visible_run(session.principal(), &run_id)
            .await?;
        let other_run = Some((run_id.clone(), record.last_seq));
        let input = json!({ "run_id": run_id });
        match apply_change(session, OPERATIONS, input, &self.apply, other_run).await? {
            Applied::Early(report) => Ok(report),
            Applied::Settled(run) if run.state == RunState::Completed => {
                let message = format!("run {run_id} was rolled back by run {}", run.run_id);
                session.printer.data(&message);
                session
                    .printer
                    .hint(&format!("windlass runs verify {run_id}"));
                Ok(Report::new(
                    message,
                    json!({ "rolled_back": run_id, "run": run }),
                ))
            }
            Applied::Settled(run) => conclude(session, &run, Wanted::Completed),
        }
    }
}
