//! `launch_cancel`: a run stops, wherever it is.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use windlass_engine::operation::{CallContext, Operation};
use windlass_launch_model::LaunchState;
use windlass_types::{Problem, RunId};

use super::{Desk, run_example, run_input, telling, traced::traced};
use crate::{arguments::Arguments, precondition};

/// How long the answer waits for the run to end. It is cancelled in any case.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The answer, for its schema.
#[derive(Serialize, JsonSchema)]
struct CancelledRun {
    run_id: RunId,
    cancelled: bool,
    state: LaunchState,
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    telling(
        "cancel",
        "Cancel a launch",
        "Stops a run in whatever state it is and takes its checkouts away. Cancelling it again \
         gives the same answer.",
        run_input(),
    )
    .example("A run", run_example())
    .judged_by_plan()
    .output::<CancelledRun>()
    .handle_json(move |context, input| {
        let desk = desk.clone();
        async move {
            let run_id = Arguments::read(input, &["run_id"])?.run_id()?;
            let answer = cancel(&desk, &context, &run_id);
            let tool = "launch_cancel";
            traced(&desk, &context, tool, &run_id, answer).await?;
            let answer = json!({
                "run_id": run_id,
                "cancelled": true,
                "state": LaunchState::Cancelled,
            });
            Ok((answer, Some(run_id)))
        }
    })
}

async fn cancel(desk: &Desk, context: &CallContext, run_id: &RunId) -> Result<(), Problem> {
    let view = desk.judged_view(context, run_id).await?;
    match view.state {
        LaunchState::Cancelled => return Ok(()),
        LaunchState::Done | LaunchState::Failed => return Err(precondition::cannot_cancel(&view)),
        _ => {}
    }
    let asked = desk.engine.cancel(&context.principal, run_id, None).await;
    if asked.is_ok() {
        // A wait is settled too, so that one look may not be enough.
        let until = desk.engine.now().after(TIMEOUT);
        loop {
            let record = desk.record(context, run_id).await?;
            if record.state.is_final() || desk.engine.now() >= until {
                break;
            }
            let look = Duration::from_millis(500);
            desk.engine
                .events_after(run_id, record.last_seq, 1, look)
                .await?;
        }
    }
    let view = desk.view(context, run_id).await?;
    match (view.state, asked) {
        (LaunchState::Done | LaunchState::Failed, _) => Err(precondition::cannot_cancel(&view)),
        (LaunchState::Cancelled, _) | (_, Ok(())) => Ok(()),
        (_, Err(problem)) => Err(problem),
    }
}
