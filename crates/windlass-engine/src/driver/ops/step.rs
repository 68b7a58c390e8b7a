//! `perform`: intent → work → outcome, once.

use std::time::Instant;

use serde_json::Value;
use tracing::Instrument as _;
use windlass_telemetry::metrics;
use windlass_types::{
    Digest, Problem,
    journal::{StepCompleted, StepFailed, StepStarted},
};

use super::super::{journal_context::JournalContext, lock, probe::ProbeAction, unwind::Undo};
use crate::run::{RunError, StepAttempt, StepMode, StepRequest, StepWork};

pub(in super::super) async fn perform(
    context: &JournalContext,
    request: StepRequest,
    mut work: StepWork,
) -> Result<Value, RunError> {
    let key = context.key(&request.name);
    let input_hash = Digest::of_json(&request.input);
    let memo = lock(&context.memo).steps.get(&key).cloned();
    let (mut attempt, mut retry_at) = match memo {
        None => {
            context.guard()?;
            (1, None)
        }
        Some(memo) if memo.input_hash != input_hash => {
            return Err(context.hold(&format!(
                "step {key:?} has another input than its journal records"
            )));
        }
        Some(memo) => match memo.outcome {
            Some(Ok(output)) => {
                remember_undo(context, &key, request.mode, &output, work);
                return Ok(output);
            }
            Some(Err(problem)) => return Err(problem.into()),
            None if memo.retry_at.is_some() => {
                context.guard()?;
                (memo.attempts + 1, memo.retry_at)
            }
            // The effect may have happened: it is brought to its end even when the run has been
            // cancelled since, because only a recorded effect can be undone.
            None if context.is_stopping() => return Err(RunError::Suspended),
            None => (memo.attempts + 1, None),
        },
    };
    let idempotency_key =
        Digest::of_parts(&[context.run_id.as_str().as_bytes(), key.as_bytes()]).to_string();
    let spans = context.child_span();
    loop {
        if let Some(moment) = retry_at {
            tokio::select! {
                () = context.engine.clock.sleep_until(moment) => {}
                () = context.live.cancelled() => return Err(RunError::Cancelled),
                () = context.stopped() => return Err(RunError::Suspended),
            }
        }
        if request.mode == StepMode::Effect {
            let started = StepStarted {
                key: key.clone(),
                input_hash,
                idempotency_key: idempotency_key.clone(),
                attempt,
            };
            context.journal(vec![started.into()], spans).await?;
            lock(&context.open).insert(key.clone());
        }
        let span = windlass_telemetry::step_span(context.created.trace_id, spans, &key);
        let began = Instant::now();
        let result = execute(
            context,
            &key,
            request.mode,
            &mut work,
            &idempotency_key,
            attempt,
        )
        .instrument(span)
        .await?;
        let labels = [context.created.kind.as_str()];
        context
            .engine
            .metrics()
            .observe(&metrics::STEP_SECONDS, &labels, began.elapsed());
        match result {
            Ok(output) => {
                let completed = StepCompleted {
                    key: key.clone(),
                    input_hash,
                    output: output.clone(),
                    undoable: work.undo.is_some(),
                    effect: request.effect.clone(),
                };
                context.journal(vec![completed.into()], spans).await?;
                lock(&context.open).remove(&key);
                remember_undo(context, &key, request.mode, &output, work);
                return Ok(output);
            }
            Err(problem) => {
                let again = problem.code().retryable && attempt < request.retry.max_attempts;
                retry_at = again.then(|| context.engine.now().after(request.retry.pause(attempt)));
                let failed = StepFailed {
                    key: key.clone(),
                    input_hash,
                    problem: problem.clone(),
                    attempt,
                    retry_at,
                };
                context.journal(vec![failed.into()], spans).await?;
                lock(&context.open).remove(&key);
                if !again {
                    return Err(problem.into());
                }
                attempt += 1;
            }
        }
    }
}

async fn execute(
    context: &JournalContext,
    key: &str,
    mode: StepMode,
    work: &mut StepWork,
    idempotency_key: &str,
    attempt: u32,
) -> Result<Result<Value, Problem>, RunError> {
    let step = StepAttempt {
        idempotency_key: idempotency_key.to_owned(),
        attempt,
    };
    if let Some(probe) = &context.engine.probe {
        match probe.before_work(&context.run_id, key) {
            ProbeAction::Continue => {}
            ProbeAction::Fail(problem) => return Ok(Err(problem)),
            ProbeAction::Twice => {
                if let Err(problem) = (work.work)(step.clone()).await {
                    return Ok(Err(problem));
                }
            }
        }
    }
    let running = (work.work)(step);
    match mode {
        StepMode::Effect => Ok(running.await),
        // A computation leaves nothing behind, so it need not be finished to be cancelled.
        StepMode::Pure => tokio::select! {
            result = running => Ok(result),
            () = context.live.cancelled() => Err(RunError::Cancelled),
            () = context.stopped() => Err(RunError::Suspended),
        },
    }
}

fn remember_undo(
    context: &JournalContext,
    key: &str,
    mode: StepMode,
    output: &Value,
    work: StepWork,
) {
    let key = key.to_owned();
    let undo = match (work.undo, mode) {
        (Some(mut undo), _) => {
            let output = output.clone();
            let undo = Box::new(move || undo(output.clone()));
            Undo::Step { key, undo }
        }
        (None, StepMode::Effect) => Undo::Nothing { key },
        (None, StepMode::Pure) => return,
    };
    lock(&context.undos).push(undo);
}
