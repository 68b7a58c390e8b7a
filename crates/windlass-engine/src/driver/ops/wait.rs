//! `wait_for`: until a signal of that name is in the journal, or the time runs out.

use std::{collections::BTreeSet, future};

use serde_json::Value;
use windlass_text::visible;
use windlass_types::{
    Timestamp,
    journal::{ApprovalGate, SignalReceived, WaitCompleted, WaitStarted},
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
                consume(context, &request, &key, seq);
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
                .map(|timeout| context.engine.steady().after(timeout));
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
        if let Some((seq, signal)) = decision(context, &request, &key) {
            consume(context, &request, &key, seq);
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
                Some(deadline) => context.engine.until(deadline).await,
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

/// The signal that ends the wait: the first that answers it. An approval by several is decided by
/// the first no, or by the yes of the last approver that was missing.
fn decision(
    context: &JournalContext,
    request: &WaitRequest,
    key: &str,
) -> Option<(u64, SignalReceived)> {
    let quorum = quorum(context, request);
    let mut approved_by = BTreeSet::new();
    let heard = context
        .live
        .unconsumed(|signal| answers(signal, request, key));
    heard.into_iter().find(|(_, signal)| {
        let is_yes = signal.payload.get("approved").and_then(Value::as_bool) == Some(true);
        if quorum == 1 || signal.signal != SIGNAL_APPROVAL || !is_yes {
            return true;
        }
        approved_by.insert(signal.principal.person());
        approved_by.len() as u64 >= u64::from(quorum)
    })
}

/// How many have to approve; as before the start of the run where the wait does not say who.
fn quorum(context: &JournalContext, request: &WaitRequest) -> u32 {
    match &context.created.approval {
        Some(ApprovalGate::Wanted { terms, .. }) if request.terms.is_empty() => terms.quorum,
        _ => request.terms.quorum,
    }
}

/// Takes what ended the wait, and every answer to it before that.
fn consume(context: &JournalContext, request: &WaitRequest, key: &str, decided: u64) {
    context.live.mark_consumed(decided);
    if quorum(context, request) > 1 {
        for (seq, _) in context
            .live
            .unconsumed(|signal| answers(signal, request, key))
        {
            if seq < decided {
                context.live.mark_consumed(seq);
            }
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
        prompt: request
            .prompt
            .as_deref()
            .map(|prompt| visible(prompt).into_owned()),
        plan_digest: request.plan_digest,
        terms: request.terms.clone(),
        lines: request
            .lines
            .iter()
            .map(|line| visible(line).into_owned())
            .collect(),
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
