//! `paid` inside a step: intent → work → result, on record before the step sees it.

use serde_json::Value;
use windlass_types::{
    Digest, Problem,
    journal::{StepCompleted, StepStarted},
};

use super::{
    super::{lock, probe::ProbeAction, step_calls::JournalStep},
    step::idempotency_key,
};
use crate::run::{PaidFn, PaidRequest, RunError, StepAttempt, StepMode};

/// Returns the result that is known, or does the work. What ends the run ends the step's try.
pub(in super::super) async fn pay(
    step: &JournalStep<'_>,
    request: PaidRequest,
    mut work: PaidFn<'_>,
) -> Result<Value, Problem> {
    let context = step.context;
    let key = step.inner_key(&request.name);
    let input_hash = Digest::of_json(&request.input);
    let memo = lock(&context.memo).steps.get(&key).cloned();
    let attempt = match memo {
        Some(memo) if memo.input_hash != input_hash => {
            let reason = format!("step {key:?} has another input than its journal records");
            return step.abort(context.hold(&reason)).await;
        }
        Some(memo) => match memo.outcome {
            Some(outcome) => return outcome,
            None => memo.attempts + 1,
        },
        None => 1,
    };
    // An effect is brought to its end whatever happens to the run.
    if step.mode != StepMode::Effect
        && let Err(error) = context.guard()
    {
        return match error {
            RunError::Failed(problem) => Err(problem),
            error => step.abort(error).await,
        };
    }
    let paying = step.paying();
    let spans = context.child_span();
    let started = StepStarted {
        key: key.clone(),
        input_hash,
        idempotency_key: idempotency_key(context, &key),
        attempt,
        paid: true,
    };
    let try_of = StepAttempt {
        idempotency_key: started.idempotency_key.clone(),
        attempt,
    };
    if let Err(error) = context.journal(vec![started.into()], spans).await {
        return step.abort(error).await;
    }
    lock(&context.memo).note_paid(&key, input_hash, attempt, None);
    if let Some(probe) = &context.engine.probe {
        match probe.before_work(&context.run_id, &key) {
            ProbeAction::Continue => {}
            ProbeAction::Fail(problem) => return Err(problem),
            ProbeAction::Twice => drop(work(try_of.clone()).await?),
        }
    }
    let output = work(try_of).await?;
    let completed = StepCompleted {
        key: key.clone(),
        input_hash,
        output: output.clone(),
        undoable: false,
        effect: None,
    };
    if let Err(error) = context.journal(vec![completed.into()], spans).await {
        return step.abort(error).await;
    }
    lock(&context.memo).note_paid(&key, input_hash, attempt, Some(output.clone()));
    drop(paying);
    Ok(output)
}
