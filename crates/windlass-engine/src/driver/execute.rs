//! Executing a run: its code over its journal, then the ending the outcome asks for.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt as _;
use serde_json::Value;
use tracing::Instrument as _;
use windlass_types::{
    Body, Event, Problem, RunId, code,
    journal::{
        ApprovalGate, RunCancelled, RunCompleted, RunFailed, RunHeld, RunRolledBack, RunStarted, RunUnwinding,
        UnwindReason,
    },
};

use super::{
    Shared,
    journal_context::JournalContext,
    live::LiveRun,
    lock,
    memo::Memo,
    unwind::unwind,
};
use crate::run::{RunContext, RunError, RunKind, SIGNAL_APPROVAL, SIGNAL_ROLLBACK, WaitRequest};

const PAGE: usize = 2000;

/// Executes a run until it ends, is held or is suspended. Returns whether it ended, so that the
/// driver looks once more for what was asked of it meanwhile.
pub(super) async fn execute(shared: &Shared, run_id: &RunId, live: &Arc<LiveRun>) -> bool {
    let events = match load(shared, run_id).await {
        Ok(events) => events,
        Err(error) => {
            // Never replayed from bad data: the run stays as it is and is reported.
            tracing::error!(%run_id, %error, "the journal cannot be read; the run is left alone");
            return false;
        }
    };
    let memo = match Memo::from_events(&events) {
        Ok(memo) => memo,
        Err(error) => {
            tracing::error!(%run_id, %error, "the journal cannot be understood; the run is left alone");
            return false;
        }
    };
    for (seq, signal) in &memo.signals {
        live.deliver(*seq, signal.clone());
    }
    let rollback = memo.signals.values().any(|signal| signal.signal == SIGNAL_ROLLBACK);
    if memo.ended || (memo.completed && !rollback) {
        return false;
    }
    let context = JournalContext::new(&shared.engine, run_id, memo, live, shared.epoch, &shared.stop);
    let created = &context.created;
    let span = windlass_telemetry::run_span(created.trace_id, context.own_span(), run_id, &created.kind);
    match drive(&context).instrument(span).await {
        Ok(()) => true,
        Err(_suspended) => false,
    }
}

async fn load(shared: &Shared, run_id: &RunId) -> Result<Vec<Event>, windlass_ports::StoreError> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = shared.engine.store.events(run_id, after, PAGE).await?;
        let last_page = page.len() < PAGE;
        events.extend(page);
        if last_page {
            return Ok(events);
        }
    }
}

async fn drive(context: &JournalContext) -> Result<(), RunError> {
    let (attempt, completed) = {
        let memo = lock(&context.memo);
        (memo.attempts + 1, memo.completed)
    };
    let started = RunStarted { epoch: context.epoch(), attempt };
    context.journal(vec![started.into()], context.own_span()).await?;
    let Some(kind) = context.engine.kinds().get(&context.created.kind) else {
        context.hold(&format!("this version has no code for runs of kind {:?}", context.created.kind));
        return end_held(context).await;
    };
    let outcome = run_code(context, &*kind).await;
    if lock(&context.held).is_some() {
        return end_held(context).await;
    }
    match outcome {
        Err(RunError::Suspended) => Err(RunError::Suspended),
        Ok(_) if completed => {
            let residue = undo_all(context, UnwindReason::Rollback, None).await?;
            finish(context, RunRolledBack { residue }.into()).await
        }
        Ok(output) => finish(context, RunCompleted { output }.into()).await,
        Err(RunError::Failed(problem)) => {
            let residue = undo_all(context, UnwindReason::Failed, Some(problem.clone())).await?;
            finish(context, RunFailed { problem, residue }.into()).await
        }
        Err(RunError::Cancelled) => {
            let residue = undo_all(context, UnwindReason::Cancelled, None).await?;
            finish(context, RunCancelled { residue }.into()).await
        }
    }
}

async fn run_code(context: &JournalContext, kind: &dyn RunKind) -> Result<Value, RunError> {
    let code = async {
        pass_gate(context).await?;
        kind.run(context, context.created.input.clone()).await
    };
    match AssertUnwindSafe(code).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "panic".to_owned());
            Err(Problem::internal("run code", text).into())
        }
    }
}

/// Waits for the approval that policy wanted before the first step.
async fn pass_gate(context: &JournalContext) -> Result<(), RunError> {
    let Some(ApprovalGate::Wanted { approvers, .. }) = &context.created.approval else {
        return Ok(());
    };
    let request = WaitRequest {
        name: "approval before start".to_owned(),
        signal: SIGNAL_APPROVAL.to_owned(),
        prompt: Some(format!("{} (approvers: {})", context.created.title, approvers.join(", "))),
        plan_digest: context.created.plan_digest,
        timeout: None,
    };
    match context.wait_for(request).await? {
        Some(signal) => Ok(signal.require_approval()?),
        None => Err(Problem::new(&code::TIMEOUT, "nobody answered the approval in time").into()),
    }
}

async fn undo_all(
    context: &JournalContext,
    reason: UnwindReason,
    problem: Option<Problem>,
) -> Result<Vec<String>, RunError> {
    if lock(&context.memo).unwinding.is_none() {
        let unwinding = RunUnwinding { reason, problem };
        context.journal(vec![unwinding.into()], context.own_span()).await?;
    }
    unwind(context).await
}

async fn end_held(context: &JournalContext) -> Result<(), RunError> {
    let problem = lock(&context.held)
        .clone()
        .unwrap_or_else(|| Problem::internal("run", "held without a reason"));
    if context.live.cancel_requested() {
        // Nobody can undo what this version does not understand: say so and let go.
        let residue = lock(&context.memo).effects();
        return finish(context, RunCancelled { residue }.into()).await;
    }
    context.journal(vec![RunHeld { problem }.into()], context.own_span()).await?;
    Err(RunError::Suspended)
}

async fn finish(context: &JournalContext, body: Body) -> Result<(), RunError> {
    context.journal(vec![body], context.own_span()).await.map(drop)
}
