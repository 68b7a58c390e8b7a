//! `wait_for`: until a signal of that name is in the journal, or the time runs out.

use std::future;

use windlass_types::{
    Timestamp,
    journal::{SignalReceived, WaitCompleted, WaitStarted},
};

use super::super::{journal_context::JournalContext, lock};
use crate::run::{ANSWERED_WAIT, RunError, SIGNAL_APPROVAL, Signal, WaitRequest};

pub(in super::super) async fn wait_for(
    context: &JournalContext,
    request: WaitRequest,
) -> Result<Option<Signal>, RunError> {
    let mut working = context.activity.work();
    let key = context.key(&request.name);
    let memo = lock(&context.memo).waits.get(&key).cloned();
    let deadline = match memo {
        Some(memo) => match memo.completed {
            Some(None) => return Ok(None),
            Some(Some(seq)) => {
                context.live.mark_consumed(seq);
                return match context.live.get(seq) {
                    Some(signal) => Ok(Some(signal.into())),
                    None => Err(context.hold(&format!("the signal of wait {key:?} is missing"))),
                };
            }
            None => {
                context.guard()?;
                memo.deadline
            }
        },
        None => {
            context.guard()?;
            let deadline = request
                .timeout
                .map(|timeout| context.engine.now().after(timeout));
            let started = started(&key, &request, deadline);
            context
                .journal(vec![started.into()], context.own_span())
                .await?;
            deadline
        }
    };
    let mut arrivals = context.live.arrivals();
    loop {
        arrivals.mark_unchanged();
        if let Some((seq, signal)) = context.live.next(|signal| answers(signal, &request, &key)) {
            context.live.mark_consumed(seq);
            let completed = WaitCompleted {
                key,
                signal_seq: Some(seq),
            };
            context
                .journal(vec![completed.into()], context.own_span())
                .await?;
            return Ok(Some(signal.into()));
        }
        let timeout = async {
            match deadline {
                Some(deadline) => context.engine.clock.sleep_until(deadline).await,
                None => future::pending().await,
            }
        };
        let is_late = {
            let _waiting = working.pause();
            tokio::select! {
                // The sender lives in the context, so this cannot fail.
                _ = arrivals.changed() => false,
                () = context.live.cancelled() => return Err(RunError::Cancelled),
                () = context.stopped() => return Err(RunError::Suspended),
                () = timeout => true,
            }
        };
        if is_late {
            let completed = WaitCompleted {
                key,
                signal_seq: None,
            };
            context
                .journal(vec![completed.into()], context.own_span())
                .await?;
            return Ok(None);
        }
    }
}

/// The event that a wait begins with.
pub(in super::super) fn started(
    key: &str,
    request: &WaitRequest,
    deadline: Option<Timestamp>,
) -> WaitStarted {
    WaitStarted {
        key: key.to_owned(),
        signal: request.signal.clone(),
        also: request.also.clone(),
        question: request.question.clone(),
        prompt: request.prompt.clone(),
        plan_digest: request.plan_digest,
        approvers: request.approvers.clone(),
        lines: request.lines.clone(),
        deadline,
    }
}

/// An approval answers the one question it was given to; a second yes to that question must not
/// pass for a yes to the next.
fn answers(signal: &SignalReceived, request: &WaitRequest, key: &str) -> bool {
    if request.also.as_deref() == Some(&signal.signal) {
        return true;
    }
    let question = request.question.as_deref().unwrap_or(key);
    signal.signal == request.signal
        && (request.signal != SIGNAL_APPROVAL
            || signal
                .payload
                .get(ANSWERED_WAIT)
                .is_some_and(|answered| answered == question))
}

impl From<SignalReceived> for Signal {
    fn from(signal: SignalReceived) -> Self {
        Self {
            name: signal.signal,
            principal: signal.principal,
            payload: signal.payload,
        }
    }
}
