//! `child`: another run, awaited; cancelled with its parent, rolled back with it.

use serde_json::Value;
use windlass_ports::{CommitError, entropy::random};
use windlass_types::{
    Problem, RunId, RunRecord, RunState, Surface, code,
    journal::{ChildCompleted, ChildOutcome, ChildStarted, ParentRef, RunCreated},
};

use super::super::{journal_context::JournalContext, lock, unwind::Undo};
use crate::{
    Engine,
    run::{ChildRequest, RunError, SIGNAL_CANCEL, SIGNAL_ROLLBACK},
};

pub(in super::super) async fn run(context: &JournalContext, request: ChildRequest) -> Result<Value, RunError> {
    let key = context.key(&request.name);
    let memo = lock(&context.memo).children.get(&key).cloned();
    let run_id = match memo {
        Some(memo) => match memo.outcome {
            Some(outcome) => return settle(context, key, memo.run_id, outcome),
            None => memo.run_id,
        },
        None => {
            context.guard()?;
            let run_id = RunId::from_random(random(&*context.engine.entropy));
            let started = ChildStarted { key: key.clone(), run_id: run_id.clone(), kind: request.kind.clone() };
            context.journal(vec![started.into()], context.own_span()).await?;
            run_id
        }
    };
    create(context, &key, &run_id, request).await?;
    let record = wait_for_end(context, &run_id).await?;
    let outcome = outcome_of(&record);
    let completed = ChildCompleted { key: key.clone(), run_id: run_id.clone(), outcome: outcome.clone() };
    context.journal(vec![completed.into()], context.own_span()).await?;
    settle(context, key, run_id, outcome)
}

/// Creates the child unless an earlier attempt of the parent did.
async fn create(
    context: &JournalContext,
    key: &str,
    run_id: &RunId,
    request: ChildRequest,
) -> Result<(), RunError> {
    let created = RunCreated {
        config_hash: crate::run::config_hash(&request.kind, &request.input),
        kind: request.kind,
        principal: context.created.principal.clone(),
        surface: Surface::Engine,
        parent: None,
        trace_id: context.created.trace_id,
        idempotency_key: None,
        input: request.input,
        plan_digest: context.created.plan_digest,
        confirm_token: None,
        // The parent's plan, and so its approval, covers its children.
        approval: None,
        title: request.title,
    };
    let parent = ParentRef { run_id: context.run_id.clone(), key: key.to_owned() };
    match context.engine.create_child(run_id.clone(), created, parent).await {
        Ok(_) => Ok(()),
        Err(CommitError::Store(error)) => Err(Problem::from(error).into()),
        Err(error) => Err(Problem::internal("child run", error).into()),
    }
}

async fn wait_for_end(context: &JournalContext, run_id: &RunId) -> Result<RunRecord, RunError> {
    let mut changes = context.engine.store.changes();
    let mut cancel_sent = false;
    loop {
        changes.mark_unchanged();
        let record = read(&context.engine, run_id).await?;
        if record.state.is_final() || record.state == RunState::Held {
            return Ok(record);
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = context.live.cancelled(), if !cancel_sent => {
                cancel_sent = true;
                let active = vec![RunState::Queued, RunState::Running, RunState::Waiting];
                // Refused when the child has just ended, which is as good.
                let _ = context.engine.signal_child(run_id, SIGNAL_CANCEL, active).await;
            }
            () = context.stopped() => return Err(RunError::Suspended),
        }
    }
}

async fn read(engine: &Engine, run_id: &RunId) -> Result<RunRecord, RunError> {
    match engine.store.run(run_id).await {
        Ok(Some(record)) => Ok(record),
        Ok(None) => Err(Problem::internal("child run", format!("{run_id} has disappeared")).into()),
        Err(error) => Err(Problem::from(error).into()),
    }
}

fn outcome_of(record: &RunRecord) -> ChildOutcome {
    match (record.state, &record.problem) {
        (RunState::Completed, _) => {
            ChildOutcome::Completed { output: record.output.clone().unwrap_or(Value::Null) }
        }
        (_, Some(problem)) => ChildOutcome::Failed { problem: problem.clone() },
        (state, None) => ChildOutcome::Failed {
            problem: Problem::new(&code::CANCELLED, format!("child run {} is {}", record.run_id, state.as_str()))
                .with("run_id", record.run_id.as_str()),
        },
    }
}

fn settle(
    context: &JournalContext,
    key: String,
    run_id: RunId,
    outcome: ChildOutcome,
) -> Result<Value, RunError> {
    match outcome {
        ChildOutcome::Completed { output } => {
            let engine = context.engine.clone();
            let undo = Box::new(move || {
                let (engine, run_id) = (engine.clone(), run_id.clone());
                Box::pin(async move { roll_back(&engine, &run_id).await }) as _
            });
            lock(&context.undos).push(Undo { key, undo });
            Ok(output)
        }
        ChildOutcome::Failed { problem } => Err(problem.into()),
    }
}

/// Rolls a completed child back and waits until that is done. Harmless when repeated.
async fn roll_back(engine: &Engine, run_id: &RunId) -> Result<(), Problem> {
    match engine.signal_child(run_id, SIGNAL_ROLLBACK, vec![RunState::Completed]).await {
        Ok(()) | Err(CommitError::Unexpected { .. }) => {}
        Err(error) => return Err(crate::engine::commit_problem(error)),
    }
    let mut changes = engine.store.changes();
    loop {
        changes.mark_unchanged();
        let record = engine
            .store
            .run(run_id)
            .await?
            .ok_or_else(|| Problem::internal("child run", format!("{run_id} has disappeared")))?;
        match record.state {
            RunState::RolledBack if record.residue.is_empty() => return Ok(()),
            RunState::RolledBack => {
                return Err(Problem::new(&code::UNDO_CONFLICT, format!("child run {run_id} could not be undone wholly"))
                    .with("run_id", run_id.as_str())
                    .with("residue", serde_json::json!(record.residue)));
            }
            RunState::Held => {
                return Err(record.problem.unwrap_or_else(|| Problem::internal("child run", "held")));
            }
            _ => {}
        }
        if changes.changed().await.is_err() {
            return Err(Problem::internal("store", "the change feed ended"));
        }
    }
}
