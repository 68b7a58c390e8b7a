//! A failed stack out of the way of its next creation: confirmed first, then deleted and followed
//! until it is gone.

use serde_json::json;
use windlass_engine::run::{Entry, RunContext, RunError};
use windlass_stack_lifecycle::Proposal;
use windlass_stack_lifecycle::delete::Deletion;
use windlass_stack_lifecycle::plan::Plan;
use windlass_types::{Problem, code};

use super::change::{confirmed_plan, unconfirmed, with_plan};
use super::{Job, PLAN, delete, failure, report};
use crate::desk::Desk;
use crate::fault;

/// The plan, which was shown and confirmed; it is refused otherwise, with what they need
/// to do so.
pub(super) async fn confirmed(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    proposal: &Proposal,
    failed: Deletion,
) -> Result<Plan, RunError> {
    let plan = Plan::recreating(proposal, failed);
    let kept = desk.keep(PLAN, &plan).await?;
    context.record(vec![Entry::Artifact(kept)]).await?;
    if let Some(confirmed) = &job.confirmed {
        let seen = confirmed_plan(desk, &confirmed.run_id).await?;
        plan.prove_equal(&seen)
            .map_err(|fault| with_plan(fault::problem(fault), context, &plan))?;
    }
    if !(job.confirm && job.confirmed.is_some()) {
        return Err(with_plan(unconfirmed(&plan), context, &plan).into());
    }
    Ok(plan)
}

/// Deletes the failed stack and follows it to its end.
pub(super) async fn delete_failed(
    context: &dyn RunContext,
    desk: &Desk,
    job: &Job,
    proposal: &Proposal,
    failed: &Deletion,
) -> Result<(), RunError> {
    delete::clear(context, desk, job, failed).await?;
    report::progress(context, "deleting", "Deleting the failed stack", Some(0)).await?;
    // The token of the creation that follows is the run's id itself.
    let token = format!("{}-recreate", context.run_id());
    let trail = delete::delete_stack(context, desk, job, failed, &token).await?;
    if trail.succeeded() == Some(true) {
        return Ok(());
    }
    let stack = &proposal.stack_name;
    let report = failure::report(context, desk, job, &trail, &proposal.names, stack).await?;
    Err(failure::problem(&code::DEPLOY_FAILED, &report, "deploying").into())
}

/// The refusal of a plan that deletes a failed stack without a yes to it.
pub(super) fn stuck(plan: &Plan) -> Problem {
    let stack = &plan.stack_name;
    Problem::new(
        &code::CONFIRM_REQUIRED,
        format!(
            "the first creation of {stack} failed: this deploy deletes the failed stack and creates \
             it again"
        ),
    )
    .with("reason", "stuck_stack")
    .with("recreate", json!(true))
    .next("show the plan to the user; repeat with confirm=true and this confirmToken")
}
