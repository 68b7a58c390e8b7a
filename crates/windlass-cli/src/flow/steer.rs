//! Sending a run a signal and following what it does.

use clap::Args;
use serde_json::{Value, json};
use windlass_engine::run::RunView;
use windlass_types::{Problem, RunId, run::has_approved};

use super::{
    change::detached,
    conclude::{Wanted, conclude},
    follow::Follow,
    run_ref::find_run,
};
use crate::session::{Report, Session};

// Flags of commands that send a run a signal.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SteerArgs {
    /// Send the request and return; do not wait for the run to react.
    #[arg(long)]
    pub(crate) detach: bool,
}

/// Calls a signalling operation on a run, then follows the run.
pub(crate) async fn steer(
    session: &Session,
    operation: &str,
    run: &str,
    mut input: Value,
    args: &SteerArgs,
    wanted: Wanted,
) -> Result<Report, Problem> {
    let run_id = find_run(session, run).await?;
    let before = session
        .engine()
        .visible_run(session.principal(), &run_id)
        .await?;
    if let Some(map) = input.as_object_mut() {
        map.insert("run_id".to_owned(), Value::from(run_id.as_str()));
    }
    if args.detach {
        let answer = session.call(operation, input).await?;
        return detached(session, "windlass runs", &run_id, answer.output).await;
    }
    let follow = Follow {
        after_seq: before.last_seq,
        ..Follow::new(&run_id)
    };
    session.call(operation, input).await?;
    if let Some(report) = one_of_several(session, &run_id).await {
        return Ok(report);
    }
    let followed = follow.run(session).await?;
    conclude(session, &followed, wanted)
}

/// The report of an approval that was counted and is not the last one the run waits for.
async fn one_of_several(session: &Session, run_id: &RunId) -> Option<Report> {
    let principal = session.principal();
    let record = session.engine().visible_run(principal, run_id).await.ok()?;
    let given = record.approved_by();
    let progress = record.wanted_approval()?.progress(given.len())?;
    if !has_approved(given, &principal.id()) {
        return None;
    }
    let message = format!("run {run_id} waits for another approver: {progress}");
    session.printer.data(&message);
    let run = RunView::from(record);
    Some(Report::new(message, json!({ "run": run })))
}
