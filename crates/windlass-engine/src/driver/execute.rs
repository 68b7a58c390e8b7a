//! Executing a run: its code over its journal, then the ending the outcome asks for.

use std::{any::Any, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use futures::FutureExt as _;
use serde_json::Value;
use tracing::Instrument as _;
use windlass_ports::{CommitError, Expect, Fence, LeaseName, LeaseUse, RunStanding, StoreError};
use windlass_telemetry::metrics;
use windlass_types::{
    Body, Event, Problem, RunId, RunState, SpanId, code,
    event::SpanIds,
    journal::{
        ApprovalGate, RunCancelled, RunCompleted, RunCreated, RunFailed, RunHeld, RunRolledBack,
        RunStarted, RunUnwinding, UnwindReason,
    },
};

use super::{
    Shared, journal_context::JournalContext, live::LiveRun, lock, memo::Memo, ops::wait,
    unwind::unwind,
};
use crate::{
    Engine,
    run::{
        Ended, GATE_WAIT, RunContext, RunError, RunKind, SIGNAL_APPROVAL, SIGNAL_CANCEL,
        SIGNAL_ROLLBACK, WaitRequest,
    },
    store_retry,
};

const PAGE: usize = 2000;

/// How long code must have waited for nothing but a moment or a signal before its run is parked:
/// what is woken soon need not be executed over its journal again.
const LINGER: Duration = Duration::from_secs(10);

/// Takes the run if it is due or was left behind, and executes it until it ends, is held, is
/// parked or is suspended.
pub(super) async fn execute(shared: &Shared, run_id: &RunId, live: &Arc<LiveRun>) {
    while !*shared.stop.borrow() {
        // What happens from here on is either in the journal that is read below, or asked again.
        live.is_asked_again();
        let Some(standing) = stand(shared, run_id).await else {
            return;
        };
        if !can_take(shared, &standing) {
            return;
        }
        let events = match load(shared, run_id).await {
            Ok(events) => events,
            // Never replayed from bad data.
            Err(StoreError::Damaged(finding)) => {
                shared.engine.fail_damaged(run_id, &finding).await;
                return;
            }
            Err(error) => {
                tracing::error!(%run_id, %error, "the journal cannot be read; the run is left alone");
                return;
            }
        };
        let mut memo = match Memo::from_events(&events) {
            Ok(memo) => memo,
            Err(error) => {
                let finding = format!("it cannot be understood: {error}");
                shared.engine.fail_damaged(run_id, &finding).await;
                return;
            }
        };
        let rollback = memo
            .signals
            .values()
            .any(|signal| signal.signal == SIGNAL_ROLLBACK);
        if memo.ended || (memo.completed && !rollback) {
            return;
        }
        live.begin(&memo);
        let span = shared.engine.new_span();
        let end = events.last().map_or(0, |event| event.seq);
        match take(shared, run_id, &standing, &mut memo, end, span).await {
            Taken::Yes(fence, last_seq) => {
                let context =
                    JournalContext::new(shared, run_id, memo, live, fence, span, last_seq);
                drop(events);
                let created = &context.created;
                let span = windlass_telemetry::run_span(
                    created.trace_id,
                    context.own_span(),
                    run_id,
                    &created.kind,
                );
                tokio::select! {
                    biased;
                    // Steps end where they are: their attempts are on record, and the driver that
                    // has the run now repeats what has no outcome.
                    () = context.taken_over() => {
                        tracing::warn!(
                            %run_id,
                            driver = shared.id,
                            "another driver took over this run because this one stopped responding; its steps end here and write nothing"
                        );
                    }
                    // Suspended or not: the caller looks at the run once more if it was asked to.
                    _ = drive(&context).instrument(span) => {}
                }
                return;
            }
            Taken::Again => {}
            Taken::No => return,
        }
    }
}

async fn stand(shared: &Shared, run_id: &RunId) -> Option<RunStanding> {
    loop {
        match shared.engine.store.standing(run_id).await {
            Ok(standing) => return standing,
            Err(error) if store_retry::is_passing(&error) => {
                tracing::warn!(%run_id, %error, "the run cannot be read; trying again");
            }
            Err(StoreError::Damaged(finding)) => {
                shared.engine.fail_damaged(run_id, &finding).await;
                return None;
            }
            Err(error) => {
                tracing::error!(%run_id, %error, "the run cannot be read; it is left alone");
                return None;
            }
        }
        if !store_retry::pause(&shared.engine, &shared.stop).await {
            return None;
        }
    }
}

/// Whether there is something to do that no other driver does.
fn can_take(shared: &Shared, standing: &RunStanding) -> bool {
    match &standing.lease {
        Some(lease) => lease.driver == shared.id || !lease.is_alive,
        None => {
            let due = standing.due;
            due.is_signalled || due.at.is_some_and(|at| at <= shared.engine.steady())
        }
    }
}

/// Whether the run was left in order: it goes on where it waited, which is not another start.
fn is_parked(standing: &RunStanding) -> bool {
    standing.lease.is_none() && standing.state == RunState::Waiting
}

enum Taken {
    /// With the place of the journal's last event.
    Yes(Fence, u64),
    /// The run has moved on since it was read.
    Again,
    No,
}

/// What is recorded when the run is taken up: that it is started, unless it was parked, and at
/// once that it waits for the approval that policy wanted: an approver never finds it running.
fn beginning(shared: &Shared, standing: &RunStanding, memo: &mut Memo) -> Vec<Body> {
    if is_parked(standing) {
        return Vec::new();
    }
    memo.attempts += 1;
    let started = RunStarted {
        epoch: shared.id,
        attempt: memo.attempts,
    };
    let mut bodies = vec![started.into()];
    let is_new = memo.attempts == 1 && !memo.signals.values().any(|it| it.signal == SIGNAL_CANCEL);
    if let Some(request) = gate(&memo.created).filter(|_| is_new) {
        bodies.push(wait::started(GATE_WAIT, &request, None).into());
        memo.begin_wait(GATE_WAIT, None);
    }
    bodies
}

/// Takes the lease and records that the run is taken up.
async fn take(
    shared: &Shared,
    run_id: &RunId,
    standing: &RunStanding,
    memo: &mut Memo,
    last_seq: u64,
    span: SpanId,
) -> Taken {
    let name = LeaseName::Run(run_id.clone());
    let bodies = beginning(shared, standing, memo);
    let spans = SpanIds {
        span_id: span,
        parent_span_id: None,
    };
    let mut tries = 0;
    loop {
        let lease = LeaseUse::Take {
            name: name.clone(),
            driver: shared.id,
            replaces: standing.lease.as_ref().map(|lease| lease.epoch),
        };
        let taken = shared
            .engine
            .append(
                run_id,
                Expect::At(last_seq),
                bodies.clone(),
                spans,
                Some(lease),
            )
            .await;
        match taken {
            Ok(committed) => {
                let epoch = committed.epoch.unwrap_or_default();
                let last_seq = last_seq + bodies.len() as u64;
                return Taken::Yes(Fence { name, epoch }, last_seq);
            }
            Err(CommitError::Leased | CommitError::Unexpected { .. }) => return Taken::Again,
            Err(CommitError::Fenced) => {
                tracing::warn!("another process found this driver dead; it stops");
                shared.stop.send_replace(true);
                return Taken::No;
            }
            Err(CommitError::Store(error)) if store_retry::is_passing(&error) => {
                tracing::warn!(%run_id, %error, "the run cannot be resumed; trying again");
            }
            Err(error) => {
                tracing::error!(%run_id, %error, "the run cannot be resumed; it is left as it is");
                return Taken::No;
            }
        }
        tries += 1;
        if !store_retry::pause_longer(&shared.engine, &shared.stop, tries).await {
            return Taken::No;
        }
    }
}

async fn read_all(
    engine: &Engine,
    run_id: &RunId,
) -> Result<Vec<Event>, windlass_ports::StoreError> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = engine.store.events(run_id, after, PAGE).await?;
        let last_page = page.len() < PAGE;
        events.extend(page);
        if last_page {
            return Ok(events);
        }
    }
}

async fn load(shared: &Shared, run_id: &RunId) -> Result<Vec<Event>, windlass_ports::StoreError> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = match shared.engine.store.events(run_id, after, PAGE).await {
            Err(error) if store_retry::is_passing(&error) => {
                tracing::warn!(%run_id, %error, "the journal cannot be read; trying again");
                if !store_retry::pause(&shared.engine, &shared.stop).await {
                    return Err(error);
                }
                continue;
            }
            page => page?,
        };
        let last_page = page.len() < PAGE;
        events.extend(page);
        if last_page {
            return Ok(events);
        }
    }
}

async fn drive(context: &JournalContext) -> Result<(), RunError> {
    let completed = lock(&context.memo).completed;
    let Some(kind) = context.engine.kinds().get(&context.created.kind) else {
        context.hold(&format!(
            "this version has no code for runs of kind {:?}",
            context.created.kind
        ));
        return end_held(context).await;
    };
    let Some(outcome) = run_code(context, &*kind).await else {
        return Ok(());
    };
    if lock(&context.held).is_some() {
        return end_held(context).await;
    }
    let begun = lock(&context.memo).unwinding.clone();
    let is_begun = begun.is_some();
    let unwinding = match (begun, outcome) {
        (_, Err(RunError::Suspended)) => return Err(RunError::Suspended),
        // What was begun is brought to the end it was begun for, whatever the code says now.
        (Some(begun), _) => begun,
        (None, _) if completed => RunUnwinding {
            reason: UnwindReason::Rollback,
            problem: None,
        },
        (None, Ok(output)) => return finish(context, RunCompleted { output }.into()).await,
        (None, Err(RunError::Failed(problem))) => RunUnwinding {
            reason: UnwindReason::Failed,
            problem: Some(problem),
        },
        (None, Err(RunError::Cancelled)) => RunUnwinding {
            reason: UnwindReason::Cancelled,
            problem: None,
        },
    };
    if !is_begun {
        context
            .journal(vec![unwinding.clone().into()], context.own_span())
            .await?;
    }
    let residue = unwind(context).await?;
    let ending = match (unwinding.reason, unwinding.problem) {
        (UnwindReason::Rollback, _) => RunRolledBack { residue }.into(),
        (UnwindReason::Failed, Some(problem)) => RunFailed { problem, residue }.into(),
        (UnwindReason::Failed | UnwindReason::Cancelled, _) => RunCancelled { residue }.into(),
    };
    finish(context, ending).await
}

/// Executes the code; `None` when its run was parked.
async fn run_code(context: &JournalContext, kind: &dyn RunKind) -> Option<Result<Value, RunError>> {
    let code = async {
        pass_gate(context).await?;
        kind.run(context, context.created.input.clone()).await
    };
    let mut code = pin!(AssertUnwindSafe(code).catch_unwind());
    loop {
        tokio::select! {
            biased;
            outcome = &mut code => {
                return Some(outcome.unwrap_or_else(|panic| Err(panic_problem("run code", &*panic).into())));
            }
            () = has_rested(context) => {}
        }
        // The code is not polled meanwhile, so it still rests.
        if context.park().await {
            return None;
        }
    }
}

/// Resolves once the code has waited for nothing but a moment or a signal for a while.
async fn has_rested(context: &JournalContext) {
    let activity = &context.activity;
    loop {
        activity.resting().await;
        let mark = activity.mark();
        let engine = &context.engine;
        engine.clock.sleep_until(engine.now().after(LINGER)).await;
        if activity.rests() && activity.mark() == mark {
            return;
        }
    }
}

/// The failure that a panic of domain code is.
pub(super) fn panic_problem(place: &str, panic: &(dyn Any + Send)) -> Problem {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Problem::internal(place, text.unwrap_or("panic"))
}

/// The approval that policy wanted before the first step.
fn gate(created: &RunCreated) -> Option<WaitRequest> {
    let Some(ApprovalGate::Wanted { terms, .. }) = &created.approval else {
        return None;
    };
    let lines = created
        .subject
        .as_ref()
        .map(|subject| subject.lines.clone());
    Some(WaitRequest {
        prompt: Some(format!(
            "{} (approvers: {})",
            created.title,
            terms.approvers.join(", ")
        )),
        plan_digest: created.plan_digest,
        terms: terms.clone(),
        lines: lines.unwrap_or_default(),
        ..WaitRequest::new(GATE_WAIT, SIGNAL_APPROVAL)
    })
}

/// Waits for it.
async fn pass_gate(context: &JournalContext) -> Result<(), RunError> {
    let Some(request) = gate(&context.created) else {
        return Ok(());
    };
    match context.wait_for(request).await? {
        Some(signal) => Ok(signal.require_approval()?),
        None => Err(Problem::new(&code::TIMEOUT, "nobody answered the approval in time").into()),
    }
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
    finish(context, RunHeld { problem }.into()).await
}

async fn finish(context: &JournalContext, body: Body) -> Result<(), RunError> {
    let state = match &body {
        Body::RunCompleted(_) => RunState::Completed,
        Body::RunFailed(_) => RunState::Failed,
        Body::RunCancelled(_) => RunState::Cancelled,
        Body::RunRolledBack(_) => RunState::RolledBack,
        _ => RunState::Held,
    };
    let labels = [context.created.kind.as_str(), state.as_str()];
    context
        .engine
        .metrics()
        .count(&metrics::RUNS_FINISHED, &labels);
    let mut bodies = farewells(context, &body).await;
    bodies.push(body);
    context.journal(bodies, context.own_span()).await.map(drop)
}

/// What is sent because the run ends, as events of the same commit. A target that may not be
/// called, or a record that cannot be read, does not keep a run from ending.
async fn farewells(context: &JournalContext, ending: &Body) -> Vec<Body> {
    if !matches!(
        ending,
        Body::RunCompleted(_) | Body::RunFailed(_) | Body::RunCancelled(_)
    ) {
        return Vec::new();
    }
    let engine = &context.engine;
    let Some(kind) = engine.kinds().get(&context.created.kind) else {
        return Vec::new();
    };
    let record = engine.store.run(&context.run_id).await;
    let events = read_all(engine, &context.run_id).await;
    let (Ok(Some(record)), Ok(events)) = (record, events) else {
        tracing::warn!(run_id = %context.run_id, "the run ends without telling anybody: it cannot be read");
        return Vec::new();
    };
    let ended = Ended {
        record: &record,
        events: &events,
        ending,
        at: engine.now(),
    };
    let mut bodies = Vec::new();
    for request in kind.farewell(&ended).await {
        match super::ops::webhook::delivery(context, request) {
            Ok(enqueued) => bodies.push(enqueued.into()),
            Err(problem) => {
                tracing::warn!(run_id = %context.run_id, %problem, "a webhook is not sent");
            }
        }
    }
    bodies
}
