//! `child`: another run, awaited; cancelled with its parent, rolled back with it.

use serde_json::Value;
use windlass_policy::{Targets, WithoutRule};
use windlass_ports::{CommitError, entropy::random};
use windlass_types::{
    Problem, RunId, RunRecord, RunState, Surface, code,
    journal::{
        ApprovalGate, ChangeSubject, ChildCompleted, ChildOutcome, ChildStarted, OnHeld, ParentRef,
        RunCreated,
    },
};

use super::super::{journal_context::JournalContext, lock, unwind::Undo};
use crate::{
    confirm::{Passage, Question},
    run::{ChildRequest, RunContext as _, RunError, SIGNAL_CANCEL, SIGNAL_ROLLBACK},
};

pub(in super::super) async fn run(
    context: &JournalContext,
    request: ChildRequest,
) -> Result<Value, RunError> {
    let key = context.key(&request.name);
    let memo = lock(&context.memo).children.get(&key).cloned();
    let (run_id, outcome) = match memo {
        Some(memo) => (memo.run_id, memo.outcome),
        None => {
            context.guard()?;
            let run_id = RunId::from_random(random(&*context.engine.entropy));
            let started = ChildStarted {
                key: key.clone(),
                run_id: run_id.clone(),
                kind: request.kind.clone(),
            };
            context
                .journal(vec![started.into()], context.own_span())
                .await?;
            (run_id, None)
        }
    };
    // From here on, also while it is under way: what a child did is for the parent to take back.
    lock(&context.undos).push(Undo::Child {
        key: key.clone(),
        run_id: run_id.clone(),
    });
    let outcome = match outcome {
        Some(outcome) => outcome,
        None => {
            create(context, &key, &run_id, request).await?;
            let record = wait_for_end(context, &run_id).await?;
            let outcome = outcome_of(&record);
            let completed = ChildCompleted {
                key,
                run_id,
                outcome: outcome.clone(),
            };
            context
                .journal(vec![completed.into()], context.own_span())
                .await?;
            outcome
        }
    };
    match outcome {
        ChildOutcome::Completed { output } => Ok(output),
        // Cancelled for its parent's sake: then that is what happened to the parent, too.
        ChildOutcome::Failed { .. } if context.live.cancel_requested() => Err(RunError::Cancelled),
        ChildOutcome::Failed { problem } => Err(problem.into()),
    }
}

/// Creates the child unless an earlier attempt of the parent did.
async fn create(
    context: &JournalContext,
    key: &str,
    run_id: &RunId,
    request: ChildRequest,
) -> Result<(), RunError> {
    let subject = ChangeSubject {
        operation: request.operation,
        targets: request.targets,
        effect: request.effect,
        lines: Vec::new(),
        // The parent's plan, and so its approval, covers its children unless a rule says more.
        yes: context.subject().is_some_and(|subject| subject.yes),
    };
    let judged = context.engine.judge(&Question {
        operation: &subject.operation,
        principal: &context.created.principal,
        targets: Targets::Known(&subject.targets),
        effect: subject.effect,
        without_rule: WithoutRule::ConfirmedByCall,
        yes: subject.yes,
    })?;
    let approval = match judged.passage {
        Passage::Free | Passage::OwnYes => None,
        Passage::Wanted { terms } => Some(ApprovalGate::Wanted {
            terms,
            rule: judged.rule,
        }),
    };
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
        approval,
        title: request.title,
        subject: Some(subject),
        holds: Vec::new(),
        on_held: OnHeld::default(),
    };
    let parent = ParentRef {
        run_id: context.run_id.clone(),
        key: key.to_owned(),
    };
    let create = || {
        context
            .engine
            .create_child(run_id.clone(), created.clone(), parent.clone())
    };
    match context.persist(create).await? {
        Ok(_) => Ok(()),
        Err(error) => Err(Problem::internal("child run", error).into()),
    }
}

async fn wait_for_end(context: &JournalContext, run_id: &RunId) -> Result<RunRecord, RunError> {
    // The driver of a run drives its children, also those an earlier driver left.
    context.engine.own_runs().note(run_id);
    let mut changes = context.engine.store.follow(run_id);
    let mut cancel_sent = false;
    loop {
        changes.mark_unchanged();
        let record = context.read_run(run_id).await?;
        let record = record
            .ok_or_else(|| Problem::internal("child run", format!("{run_id} has disappeared")))?;
        if record.state.is_final() || record.state == RunState::Held {
            return Ok(record);
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = context.live.cancelled(), if !cancel_sent => {
                cancel_sent = true;
                tell(context, run_id, SIGNAL_CANCEL).await?;
            }
            () = context.stopped() => return Err(RunError::Suspended),
        }
    }
}

/// Tells the child something. A child that has just moved on is not told, which is as good:
/// its waiter looks at it again.
async fn tell(
    context: &JournalContext,
    run_id: &RunId,
    signal: &'static str,
) -> Result<(), RunError> {
    let states = match signal {
        SIGNAL_ROLLBACK => vec![RunState::Completed],
        _ => vec![RunState::Queued, RunState::Running, RunState::Waiting],
    };
    match context
        .persist(|| context.engine.signal_child(run_id, signal, states.clone()))
        .await?
    {
        Ok(()) | Err(CommitError::Unexpected { .. }) => Ok(()),
        Err(error) => Err(Problem::internal("child run", error).into()),
    }
}

fn outcome_of(record: &RunRecord) -> ChildOutcome {
    match (record.state, &record.problem) {
        (RunState::Completed, _) => ChildOutcome::Completed {
            output: record.output.clone().unwrap_or(Value::Null),
        },
        (_, Some(problem)) => ChildOutcome::Failed {
            problem: problem.clone(),
        },
        (state, None) => ChildOutcome::Failed {
            problem: Problem::new(
                &code::CANCELLED,
                format!("child run {} is {}", record.run_id, state.as_str()),
            )
            .with("run_id", record.run_id.as_str()),
        },
    }
}

/// Cancels a child that is under way, rolls a completed one back, and waits until that is done.
/// Harmless when repeated. `None` when there was nothing to take back.
pub(in super::super) async fn take_back(
    context: &JournalContext,
    run_id: &RunId,
) -> Result<Option<Result<(), Problem>>, RunError> {
    context.engine.own_runs().note(run_id);
    let mut changes = context.engine.store.follow(run_id);
    let mut told = None;
    loop {
        changes.mark_unchanged();
        // Its parent may have died before it was created.
        let Some(record) = context.read_run(run_id).await? else {
            return Ok(None);
        };
        let signal = match record.state {
            RunState::Completed => Some(SIGNAL_ROLLBACK),
            RunState::Queued | RunState::Running | RunState::Waiting => Some(SIGNAL_CANCEL),
            RunState::Unwinding => None,
            RunState::Held => {
                return Ok(Some(Err(record
                    .problem
                    .unwrap_or_else(|| Problem::internal("child run", "held")))));
            }
            RunState::Failed | RunState::Cancelled | RunState::RolledBack
                if !record.residue.is_empty() =>
            {
                let message = format!("child run {run_id} could not be undone wholly");
                let problem = Problem::new(&code::UNDO_CONFLICT, message)
                    .with("run_id", run_id.as_str())
                    .with("residue", serde_json::json!(record.residue));
                return Ok(Some(Err(problem)));
            }
            RunState::RolledBack => return Ok(Some(Ok(()))),
            RunState::Failed | RunState::Cancelled => return Ok(None),
        };
        if let Some(signal) = signal.filter(|signal| told != Some(*signal)) {
            tell(context, run_id, signal).await?;
            told = Some(signal);
            continue;
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = context.stopped() => return Err(RunError::Suspended),
        }
    }
}
