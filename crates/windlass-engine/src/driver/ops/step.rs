//! `perform`: intent → work → outcome, once.

use std::{sync::Arc, time::Instant};

use serde_json::Value;
use tracing::Instrument as _;
use windlass_telemetry::metrics;
use windlass_types::{
    Body, Digest, Problem, Shortage,
    journal::{StepCompleted, StepFailed, StepStarted},
};

use super::super::{
    journal_context::JournalContext,
    lock,
    probe::ProbeAction,
    shortage::{self, Pause},
    step_calls::JournalStep,
    unwind::Undo,
};
use crate::run::{RunError, StepAttempt, StepContext, StepMode, StepRequest, StepWork};

/// The signal that a step took, where the body says that it did.
fn taken_signal(body: &Body) -> Option<u64> {
    match body {
        Body::WaitCompleted(wait) => wait.signal_seq,
        _ => None,
    }
}

/// The key by which the outside world may recognise a repetition.
pub(super) fn idempotency_key(context: &JournalContext, key: &str) -> String {
    Digest::of_parts(&[context.run_id.as_str().as_bytes(), key.as_bytes()]).to_string()
}

pub(in super::super) async fn perform<'a>(
    context: &'a JournalContext,
    request: StepRequest,
    mut work: StepWork<'a>,
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
            None if request.mode == StepMode::Paid => {
                context.guard()?;
                (memo.attempts + 1, None)
            }
            None => (memo.attempts + 1, None),
        },
    };
    let idempotency_key = idempotency_key(context, &key);
    let spans = context.child_span();
    loop {
        if let Some(moment) = retry_at {
            tokio::select! {
                () = context.engine.until(moment) => {}
                () = context.live.cancelled() => return Err(RunError::Cancelled),
                () = context.stopped() => return Err(RunError::Suspended),
            }
        }
        if request.mode != StepMode::Pure {
            let started = StepStarted {
                key: key.clone(),
                input_hash,
                idempotency_key: idempotency_key.clone(),
                attempt,
                paid: request.mode == StepMode::Paid,
            };
            let mut bodies: Vec<Body> = shortage::ended(context, &key).into_iter().collect();
            bodies.push(started.into());
            context.journal(bodies, spans).await?;
            if request.mode == StepMode::Effect {
                lock(&context.open).insert(key.clone());
            }
        }
        let span = windlass_telemetry::step_span(context.created.trace_id, spans, &key);
        let began = Instant::now();
        let step = StepAttempt {
            idempotency_key: idempotency_key.clone(),
            attempt,
        };
        let executed = execute(context, &key, request.mode, &mut work, step);
        let (result, mut bodies) = executed.instrument(span).await?;
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
                // What the step leaves and that it is done are one commit: neither without the
                // other, and neither twice.
                bodies.push(completed.into());
                bodies.extend(shortage::ended(context, &key));
                let taken: Vec<u64> = bodies.iter().filter_map(taken_signal).collect();
                context.journal(bodies, spans).await?;
                for seq in taken {
                    context.live.mark_consumed(seq);
                }
                lock(&context.open).remove(&key);
                remember_undo(context, &key, request.mode, &output, work);
                return Ok(output);
            }
            Err(problem) => {
                let is_reported =
                    request.reports_full_disk && Shortage::of(&problem) == Some(Shortage::Space);
                let pause = match is_reported {
                    true => None,
                    false => Pause::after(context, &key, &problem, attempt),
                };
                let again = pause.is_some()
                    || problem.code().retryable && attempt < request.retry.max_attempts;
                retry_at = match &pause {
                    Some(pause) => Some(pause.until),
                    None => {
                        again.then(|| context.engine.steady().after(request.retry.pause(attempt)))
                    }
                };
                let failed = StepFailed {
                    key: key.clone(),
                    input_hash,
                    problem: problem.clone(),
                    attempt,
                    retry_at,
                };
                if again {
                    bodies.clear();
                }
                bodies.push(failed.into());
                match (pause, retry_at) {
                    (Some(pause), Some(until)) => {
                        shortage::note(context, &key, until);
                        bodies.push(pause.started());
                    }
                    _ => bodies.extend(shortage::ended(context, &key)),
                }
                context.journal(bodies, spans).await?;
                lock(&context.open).remove(&key);
                if !again {
                    return Err(problem.into());
                }
                attempt += 1;
            }
        }
    }
}

type Executed = (Result<Value, Problem>, Vec<Body>);

/// One try of the work: its result, and what it leaves on record with it.
async fn execute<'a>(
    context: &'a JournalContext,
    key: &str,
    mode: StepMode,
    work: &mut StepWork<'a>,
    attempt: StepAttempt,
) -> Result<Executed, RunError> {
    if let Some(probe) = &context.engine.probe {
        match probe.before_work(&context.run_id, key) {
            ProbeAction::Continue => {}
            ProbeAction::Fail(problem) => return Ok((Err(problem), Vec::new())),
            ProbeAction::Twice => {
                let (result, bodies) = try_once(context, key, mode, work, attempt.clone()).await?;
                if let Err(problem) = result {
                    return Ok((Err(problem), bodies));
                }
            }
        }
    }
    try_once(context, key, mode, work, attempt).await
}

async fn try_once<'a>(
    context: &'a JournalContext,
    key: &str,
    mode: StepMode,
    work: &mut StepWork<'a>,
    attempt: StepAttempt,
) -> Result<Executed, RunError> {
    let step = Arc::new(JournalStep::new(context, key, mode));
    let calls = Arc::clone(&step) as Arc<dyn crate::run::StepCalls + 'a>;
    let running = (work.work)(StepContext::new(attempt, calls));
    let result = tokio::select! {
        biased;
        result = running => result,
        error = step.aborted() => return Err(error),
        // What leaves nothing behind need not be finished to be cancelled.
        () = context.live.cancelled(), if mode != StepMode::Effect => {
            return Err(RunError::Cancelled);
        }
        // What was paid for is waited for, as an effect is.
        () = step.stopped(), if mode == StepMode::Pure => return Err(RunError::Suspended),
    };
    step.flush_text();
    Ok((result, step.take_kept()))
}

fn remember_undo(
    context: &JournalContext,
    key: &str,
    mode: StepMode,
    output: &Value,
    work: StepWork<'_>,
) {
    let key = key.to_owned();
    let undo = match (work.undo, mode) {
        (Some(mut undo), _) => {
            let output = output.clone();
            let undo = Box::new(move || undo(output.clone()));
            Undo::Step { key, undo }
        }
        (None, StepMode::Effect) => Undo::Nothing { key },
        (None, StepMode::Pure | StepMode::Paid) => return,
    };
    lock(&context.undos).push(undo);
}
