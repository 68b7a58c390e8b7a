//! Executing a change set once, whatever happens to the one who asks.
//!
//! The intent is recorded before the call. Taking up an intent first finds out how far it came:
//! events with its token, else the change set's execution status. So `begin` is also how a
//! deployment is resumed after a crash, a cut connection or a lost answer.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use windlass_ports::aws::{
    ChangeSet, ChangeSetAddress, ExecuteChangeSet, PropertyValues, StackCall,
};
use windlass_types::Timestamp;

use crate::access::{Access, MOST_UNEXPLAINED, Pacing, Pause};
use crate::before::StackMark;
use crate::change_set::client_token;
use crate::fault::{Fault, FaultKind};
use crate::follow::{self, Trail};
use crate::plan::Plan;
use crate::status::{Operation, is_busy};

/// Whether what succeeded stays when something fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The stack goes back to what it was.
    Rollback,
    /// The stack stays as it is.
    Keep,
}

/// What is about to be executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecuteIntent {
    /// The stack's ARN.
    pub stack_id: String,
    /// The change set's ARN.
    pub change_set_id: String,
    /// Shows in every event of it.
    pub token: String,
    /// The newest event from before.
    pub after_event: Option<String>,
    /// The stack before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<StackMark>,
    /// Logical ids that will change.
    pub planned: BTreeSet<String>,
    /// What happens when it fails.
    pub on_failure: OnFailure,
}

impl ExecuteIntent {
    /// The trail to follow it by.
    pub fn trail(&self) -> Trail {
        Trail {
            before: self.before.clone(),
            change_set_id: Some(self.change_set_id.clone()),
            ..Trail::new(
                &self.stack_id,
                &self.token,
                Operation::Deploy,
                self.planned.iter().cloned(),
                self.after_event.clone(),
            )
        }
    }

    fn address(&self) -> ChangeSetAddress {
        ChangeSetAddress {
            stack: self.stack_id.clone(),
            change_set: self.change_set_id.clone(),
        }
    }
}

/// The intent of executing a change set whose plan was proved equal to the confirmed one.
pub async fn intend(
    access: &Access,
    set: &ChangeSet,
    plan: &Plan,
    run_id: &str,
    on_failure: OnFailure,
) -> Result<ExecuteIntent, Fault> {
    Ok(ExecuteIntent {
        stack_id: set.stack_id.clone(),
        change_set_id: set.change_set_id.clone(),
        token: client_token(run_id),
        after_event: follow::newest_event(access, &set.stack_id).await?,
        before: StackMark::of(access, &set.stack_id).await?,
        planned: plan
            .changes
            .iter()
            .map(|change| change.logical_id.clone())
            .collect(),
        on_failure,
    })
}

/// How far an intent came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The stack has events with its token.
    HasEvents,
    /// The change set has this execution status.
    Set(String),
    /// There are neither.
    Gone,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was begun: follow it.
    Attach,
    /// It was not: execute it.
    Execute,
    /// It cannot be: plan again, compare, continue or stop.
    Replan,
}

/// Decides; pure.
pub fn decide(standing: &Standing) -> Step {
    match standing {
        Standing::HasEvents => Step::Attach,
        Standing::Gone => Step::Replan,
        Standing::Set(status) => match status.as_str() {
            "AVAILABLE" => Step::Execute,
            "EXECUTE_IN_PROGRESS" | "EXECUTE_COMPLETE" | "EXECUTE_FAILED" => Step::Attach,
            // Another change was executed in the meantime.
            _ => Step::Replan,
        },
    }
}

/// Finds out how far an intent came.
pub async fn standing(access: &Access, intent: &ExecuteIntent) -> Result<Standing, Fault> {
    let after = intent.after_event.as_deref();
    if follow::is_begun(access, &intent.stack_id, &intent.token, after).await? {
        return Ok(Standing::HasEvents);
    }
    let described = access
        .cloud
        .describe_change_set(&access.target, &intent.address(), PropertyValues::Omit)
        .await;
    match described {
        // One of the same name that an earlier stack had.
        Ok(set) if set.stack_id != intent.stack_id => Ok(Standing::Gone),
        Ok(set) => Ok(Standing::Set(set.execution_status)),
        Err(failure) if failure.is_not_found() => Ok(Standing::Gone),
        Err(failure) => Err(failure.into()),
    }
}

/// How an intent was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Begun {
    /// It was executed now.
    Executed,
    /// It had been before.
    Attached,
    /// The change set is gone or obsolete and nothing was executed: plan again.
    Replan,
}

/// Begins an intent, or finds that it was begun. Never executes twice: the same token goes with
/// every call, and a call without an answer is looked into before it is repeated.
pub async fn begin(
    access: &Access,
    intent: &ExecuteIntent,
    deadline: Timestamp,
) -> Result<Begun, Fault> {
    let mut pacing = Pacing::default();
    let mut unexplained = 0;
    loop {
        match try_begin(access, intent).await {
            Ok(begun) => return Ok(begun),
            Err(fault) if fault.is_transient() || is_race(&fault) => {
                let aws = fault.aws.as_ref();
                unexplained += u32::from(aws.is_some_and(|aws| aws.is_unexplained()));
                if unexplained > MOST_UNEXPLAINED {
                    return Err(fault);
                }
                if access.pause(&mut pacing, deadline).await == Pause::TooLate {
                    return Err(fault);
                }
            }
            Err(fault) => return Err(fault),
        }
    }
}

async fn try_begin(access: &Access, intent: &ExecuteIntent) -> Result<Begun, Fault> {
    match decide(&standing(access, intent).await?) {
        Step::Attach => Ok(Begun::Attached),
        Step::Replan => Ok(Begun::Replan),
        Step::Execute => {
            let request = ExecuteChangeSet {
                address: intent.address(),
                client_request_token: Some(intent.token.clone()),
                disable_rollback: Some(intent.on_failure == OnFailure::Keep),
            };
            let cloud = &access.cloud;
            match cloud.execute_change_set(&access.target, request).await {
                Ok(()) => Ok(Begun::Executed),
                Err(failure) => Err(refused(failure.into(), intent)),
            }
        }
    }
}

/// CloudFormation checks a change set before it can be executed, so what it refuses now is a failed
/// deployment. An emulator that executes within the call says here which resource it cannot make.
fn refused(mut fault: Fault, intent: &ExecuteIntent) -> Fault {
    if fault.kind == FaultKind::Validation && !is_race(&fault) {
        fault.kind = FaultKind::DeployFailed;
        fault.reason = "execution_refused".to_owned();
        return fault
            .with("phase", "deploying")
            .with("stackId", intent.stack_id.as_str())
            .next("fix what the message names and deploy again");
    }
    fault
}

/// A repeated call that lost against its own first try.
fn is_race(fault: &Fault) -> bool {
    fault.aws.as_ref().is_some_and(|aws| {
        matches!(
            aws.code.as_str(),
            "InvalidChangeSetStatus"
                | "InvalidChangeSetStatusException"
                | "TokenAlreadyExistsException"
        )
    })
}

/// The result of cancelling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Cancelled {
    /// The update is being rolled back; follow it on.
    Requested,
    /// It had ended already, or is on its way back.
    TooLate {
        /// The stack's status.
        status: String,
    },
}

/// Cancels a running deployment. A creation cannot be cancelled, only deleted.
pub async fn cancel(access: &Access, intent: &ExecuteIntent) -> Result<Cancelled, Fault> {
    let stack = access
        .cloud
        .describe_stack(&access.target, &intent.stack_id)
        .await?;
    let status = stack.map_or_else(|| "DELETE_COMPLETE".to_owned(), |stack| stack.stack_status);
    match status.as_str() {
        "UPDATE_IN_PROGRESS" => {
            // A token belongs to one operation only.
            let call = StackCall::new(&intent.stack_id, format!("{}-cancel", intent.token));
            access.cloud.cancel_update(&access.target, call).await?;
            Ok(Cancelled::Requested)
        }
        "CREATE_IN_PROGRESS" => {
            let message = format!(
                "the creation of {} cannot be cancelled; CloudFormation only deletes it",
                intent.stack_id
            );
            Err(
                Fault::new(FaultKind::Validation, "create_not_cancellable", message)
                    .with("stackId", intent.stack_id.as_str())
                    .with("status", status)
                    .next("delete the stack with confirm=true, or let the creation end"),
            )
        }
        _ => Ok(Cancelled::TooLate { status }),
    }
}

/// Whether the stack is still at work on anything; for a run that gives up waiting.
pub async fn is_running(access: &Access, stack_id: &str) -> Result<bool, Fault> {
    let stack = access
        .cloud
        .describe_stack(&access.target, stack_id)
        .await?;
    Ok(stack.is_some_and(|stack| is_busy(&stack.stack_status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_up_an_intent() {
        let set = |status: &str| Standing::Set(status.to_owned());
        let cases = [
            (Standing::HasEvents, Step::Attach),
            (set("AVAILABLE"), Step::Execute),
            (set("EXECUTE_IN_PROGRESS"), Step::Attach),
            (set("EXECUTE_COMPLETE"), Step::Attach),
            (set("EXECUTE_FAILED"), Step::Attach),
            (set("OBSOLETE"), Step::Replan),
            (set("UNAVAILABLE"), Step::Replan),
            (Standing::Gone, Step::Replan),
        ];
        for (standing, step) in cases {
            assert_eq!(decide(&standing), step, "{standing:?}");
        }
    }
}
