//! An operation of CloudFormation, followed by its events to its end.
//!
//! A trail is plain data: any process that has it, after any crash, continues where it ends. Events
//! are read newest first down to the last one seen and taken in order; the stack is named by its
//! ARN, since a deleted one has no name. What no event says is read from the stack's own status
//! ([`crate::before`]). The fold is pure; `look` is one poll and `to_end` the loop.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use windlass_ports::aws::{ChangeSetAddress, PropertyValues, StackEvent, StackEventsRequest};
use windlass_types::Timestamp;

use crate::access::{Access, Pacing, Pause};
use crate::before::{StackMark, Verdict, judge};
use crate::fault::Fault;
use crate::reason::is_cancellation;
use crate::status::{Operation, is_failed, is_settled};

/// How many failed events are remembered; the first one is what matters.
const MOST_FAILURES: usize = 50;
/// After this many polls without news the stack itself is asked.
const IDLE_LOOKS: u32 = 3;

const STACK_TYPE: &str = "AWS::CloudFormation::Stack";

/// How far an operation has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trail {
    /// The stack's ARN.
    pub stack_id: String,
    /// The token of the operation.
    pub token: String,
    /// What is done.
    pub operation: Operation,
    /// Logical ids that will change.
    pub planned: BTreeSet<String>,
    /// Those of them that are through.
    pub finished: BTreeSet<String>,
    /// The last event that was seen.
    pub last_event_id: Option<String>,
    /// Whether an event of this operation was seen.
    pub is_started: bool,
    /// The stack's newest status in this operation.
    pub stack_status: String,
    /// Failed events that are not cancellations, oldest first.
    pub failures: Vec<StackEvent>,
    /// How many resources were stopped because another failed.
    pub cancelled: u32,
    /// Never goes down.
    pub percent: u8,
    /// The status it ended with.
    pub ended: Option<String>,
    /// Looks without news.
    #[serde(default)]
    pub idle: u32,
    /// The stack before the operation, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<StackMark>,
    /// The ARN of the change set that is executed, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_set_id: Option<String>,
}

impl Trail {
    /// The trail of an operation that begins now. Events up to `after` are older than it.
    pub fn new(
        stack_id: impl Into<String>,
        token: impl Into<String>,
        operation: Operation,
        planned: impl IntoIterator<Item = String>,
        after: Option<String>,
    ) -> Self {
        Self {
            stack_id: stack_id.into(),
            token: token.into(),
            operation,
            planned: planned.into_iter().collect(),
            finished: BTreeSet::new(),
            last_event_id: after,
            is_started: false,
            stack_status: String::new(),
            failures: Vec::new(),
            cancelled: 0,
            percent: 0,
            ended: None,
            idle: 0,
            before: None,
            change_set_id: None,
        }
    }

    /// Takes events in order, oldest first; returns those that belong to the operation.
    pub fn take(&mut self, events: Vec<StackEvent>) -> Vec<StackEvent> {
        let mut own = Vec::new();
        for event in events {
            self.last_event_id = Some(event.event_id.clone());
            if !self.is_started {
                if !self.begins_with(&event) {
                    continue;
                }
                self.is_started = true;
            }
            // One operation at a time: what comes after the first of ours is ours, also what a
            // cancellation with a token of its own causes.
            if self.ended.is_none() {
                self.fold(&event);
                own.push(event);
            }
        }
        own
    }

    /// Whether an event is the operation's first: it has its token, or no token at all, as in
    /// emulators, and says that the stack does what was asked of it. Events are newer than the
    /// operation's intent, so another operation's would have made the call fail.
    fn begins_with(&self, event: &StackEvent) -> bool {
        let token = event.client_request_token.as_deref();
        match token.filter(|token| !token.is_empty()) {
            Some(token) => token == self.token,
            None => self.is_stack_itself(event) && self.operation.shows_in(&event.resource_status),
        }
    }

    fn fold(&mut self, event: &StackEvent) {
        let status = event.resource_status.as_str();
        if self.is_stack_itself(event) {
            self.stack_status = status.to_owned();
            if is_settled(status) {
                self.end(status);
            }
            return;
        }
        let reason = event.resource_status_reason.as_deref().unwrap_or_default();
        if is_failed(status) {
            if is_cancellation(reason) {
                self.cancelled += 1;
            } else if self.failures.len() < MOST_FAILURES {
                self.failures.push(event.clone());
            }
        }
        if is_settled(status) && self.planned.contains(&event.logical_resource_id) {
            self.finished.insert(event.logical_resource_id.clone());
        }
        self.percent = self.percent.max(self.share());
    }

    /// Finished of planned; 100 is said only at the end.
    fn share(&self) -> u8 {
        let planned = self.planned.len().max(1);
        let share = self.finished.len() * 100 / planned;
        u8::try_from(share.min(99)).unwrap_or(99)
    }

    fn end(&mut self, status: &str) {
        self.stack_status = status.to_owned();
        self.ended = Some(status.to_owned());
        if self.operation.succeeded(status) {
            self.percent = 100;
        }
    }

    /// The stack's own event; a nested stack's has another physical id.
    fn is_stack_itself(&self, event: &StackEvent) -> bool {
        event.resource_type == STACK_TYPE
            && event.physical_resource_id.as_deref() == Some(&self.stack_id)
    }

    /// Whether it succeeded; `None` while it continues.
    pub fn succeeded(&self) -> Option<bool> {
        let status = self.ended.as_deref()?;
        Some(self.operation.succeeded(status))
    }

    /// The phase its progress is reported under.
    pub fn phase(&self) -> &'static str {
        self.operation.phase(&self.stack_status)
    }
}

/// One poll: the trail as it is now, and the new events in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// How far it has come.
    pub trail: Trail,
    /// What is new, oldest first.
    pub events: Vec<StackEvent>,
}

/// Polls once. Looking twice from the same trail gives at least the same events again.
pub async fn look(access: &Access, trail: &Trail) -> Result<Look, Fault> {
    let mut trail = trail.clone();
    let mut events = news(access, &mut trail).await?;
    if !events.is_empty() {
        trail.idle = 0;
        return Ok(Look { trail, events });
    }
    trail.idle += 1;
    // Without a sign that it has begun, events may never come: the stack is asked at every look.
    if (!trail.is_started || trail.idle.is_multiple_of(IDLE_LOOKS))
        && let Some(status) = end_by_status(access, &mut trail).await?
    {
        // What happened between the two questions is not lost; it may say why it failed.
        events = news(access, &mut trail).await?;
        if trail.ended.is_none() && events.is_empty() {
            trail.end(&status);
        }
    }
    Ok(Look { trail, events })
}

/// The status that the operation ended with, by the stack itself; notes how far it is.
async fn end_by_status(access: &Access, trail: &mut Trail) -> Result<Option<String>, Fault> {
    let cloud = &access.cloud;
    let found = cloud
        .describe_stack(&access.target, &trail.stack_id)
        .await?;
    Ok(match judge(trail, found.as_ref()) {
        Verdict::Ended(status) => Some(status),
        Verdict::Running(status) => {
            trail.is_started = true;
            trail.stack_status = status;
            None
        }
        // A new stack may not be visible at once.
        Verdict::Gone => (trail.idle >= IDLE_LOOKS).then(|| "DELETE_COMPLETE".to_owned()),
        Verdict::Unbegun => match found {
            Some(stack) if is_settled(&stack.stack_status) => is_executed(access, trail)
                .await?
                .then_some(stack.stack_status),
            _ => None,
        },
    })
}

/// Whether the change set says that its execution is over.
async fn is_executed(access: &Access, trail: &Trail) -> Result<bool, Fault> {
    let Some(change_set) = &trail.change_set_id else {
        return Ok(false);
    };
    let address = ChangeSetAddress {
        stack: trail.stack_id.clone(),
        change_set: change_set.clone(),
    };
    let described = access
        .cloud
        .describe_change_set(&access.target, &address, PropertyValues::Omit)
        .await;
    match described {
        Ok(set) => Ok(matches!(
            set.execution_status.as_str(),
            "EXECUTE_COMPLETE" | "EXECUTE_FAILED"
        )),
        Err(failure) if failure.is_not_found() => Ok(false),
        Err(failure) => Err(failure.into()),
    }
}

/// What happened since the trail's last event, oldest first.
async fn news(access: &Access, trail: &mut Trail) -> Result<Vec<StackEvent>, Fault> {
    let request = StackEventsRequest {
        stack: trail.stack_id.clone(),
        after_event_id: trail.last_event_id.clone(),
        limit: None,
    };
    let mut events = match access.cloud.stack_events(&access.target, request).await {
        Ok(events) => events,
        // A deleted stack's events are kept for a while only.
        Err(failure) if failure.is_not_found() => Vec::new(),
        Err(failure) => return Err(failure.into()),
    };
    events.reverse();
    // An emulator may look an ARN up by the name in it.
    events.retain(|event| event.stack_id.is_empty() || event.stack_id == trail.stack_id);
    Ok(trail.take(events))
}

/// Follows to the end, handing each batch of news to `seen` together with the trail. Transient
/// failures are waited out; the deadline is a `TIMEOUT` and cancels nothing. The trail is up to
/// date on every way out.
pub async fn to_end(
    access: &Access,
    trail: &mut Trail,
    deadline: Timestamp,
    seen: &mut (dyn FnMut(&Trail, &[StackEvent]) + Send),
) -> Result<(), Fault> {
    let mut pacing = Pacing::default();
    loop {
        match look(access, trail).await {
            Ok(found) => {
                *trail = found.trail;
                if !found.events.is_empty() {
                    pacing.reset();
                    seen(trail, &found.events);
                }
            }
            Err(fault) if fault.is_transient() => {}
            Err(fault) => return Err(fault),
        }
        if trail.ended.is_some() {
            return Ok(());
        }
        if access.pause(&mut pacing, deadline).await == Pause::TooLate {
            return Err(timeout(trail));
        }
    }
}

fn timeout(trail: &Trail) -> Fault {
    let status = if trail.stack_status.is_empty() {
        "not begun"
    } else {
        trail.stack_status.as_str()
    };
    Fault::timeout(format!(
        "{} is still {status} at {} % after the time limit; AWS continues with it",
        trail.stack_id, trail.percent
    ))
    .with("stackId", trail.stack_id.as_str())
    .with("stackStatus", status)
    .with("percent", trail.percent)
    .with("clientRequestToken", trail.token.as_str())
    .next("watch the run, or cancel it")
}

/// The newest event of a stack: what happens next is newer than it.
pub async fn newest_event(access: &Access, stack: &str) -> Result<Option<String>, Fault> {
    let request = StackEventsRequest {
        stack: stack.to_owned(),
        after_event_id: None,
        limit: Some(1),
    };
    let events = access.cloud.stack_events(&access.target, request).await?;
    Ok(events.into_iter().next().map(|event| event.event_id))
}

/// Whether the stack has events of an operation: it was begun, whatever became of the call.
pub async fn is_begun(
    access: &Access,
    stack: &str,
    token: &str,
    after: Option<&str>,
) -> Result<bool, Fault> {
    let request = StackEventsRequest {
        stack: stack.to_owned(),
        after_event_id: after.map(str::to_owned),
        limit: None,
    };
    match access.cloud.stack_events(&access.target, request).await {
        Ok(events) => Ok(events
            .iter()
            .any(|event| event.client_request_token.as_deref() == Some(token))),
        Err(failure) if failure.is_not_found() => Ok(false),
        Err(failure) => Err(failure.into()),
    }
}
