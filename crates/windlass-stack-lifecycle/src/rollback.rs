//! Rolling back: which way the stack's state asks for, and the two ways CloudFormation has.
//!
//! The third way, an earlier version, is a deployment of that version and goes through plan and
//! confirmation as any other.

use serde::{Deserialize, Serialize};
use windlass_ports::aws::{Stack, StackCall, StackResource};
use windlass_types::Timestamp;

use crate::access::Access;
use crate::before::StackMark;
use crate::change_set::client_token;
use crate::fault::{Fault, FaultKind};
use crate::follow::{self, Trail};
use crate::situation::blockers;
use crate::status::{Operation, is_busy};
use crate::stuck;

/// How a stack is rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A failed operation that was left as it was is rolled back (RollbackStack).
    Undo,
    /// A failed rollback continues (ContinueUpdateRollback).
    Continue,
    /// An earlier version is deployed.
    Redeploy,
}

/// The mode a stack's status asks for.
pub fn mode(stack: &Stack) -> Result<Mode, Fault> {
    match stack.stack_status.as_str() {
        "CREATE_FAILED" | "UPDATE_FAILED" => Ok(Mode::Undo),
        "UPDATE_ROLLBACK_FAILED" => Ok(Mode::Continue),
        "CREATE_COMPLETE"
        | "UPDATE_COMPLETE"
        | "UPDATE_ROLLBACK_COMPLETE"
        | "IMPORT_COMPLETE"
        | "IMPORT_ROLLBACK_COMPLETE" => Ok(Mode::Redeploy),
        status if is_busy(status) => Err(Fault::new(
            FaultKind::Validation,
            "stack_busy",
            format!("the stack {} is busy: it is in {status}", stack.stack_name),
        )
        .with("stackName", stack.stack_name.as_str())
        .with("status", status)
        .next("wait until it has ended")),
        _ => Err(stuck::fault(stack, &[])),
    }
}

/// A rollback that is about to begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RollbackIntent {
    /// The stack's ARN.
    pub stack_id: String,
    /// How.
    pub mode: Mode,
    /// Shows in every event of it.
    pub token: String,
    /// The newest event from before.
    pub after_event: Option<String>,
    /// The stack before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<StackMark>,
    /// Logical ids that are taken as they are.
    pub skip: Vec<String>,
    /// Logical ids that will probably change.
    pub planned: Vec<String>,
    /// The role CloudFormation acts as.
    pub role_arn: Option<String>,
}

impl RollbackIntent {
    /// The trail to follow it by.
    pub fn trail(&self) -> Trail {
        Trail {
            before: self.before.clone(),
            ..Trail::new(
                &self.stack_id,
                &self.token,
                Operation::Rollback,
                self.planned.iter().cloned(),
                self.after_event.clone(),
            )
        }
    }
}

/// The intent of an undo or a continued rollback. Refuses to skip what has not failed.
pub async fn intend(
    access: &Access,
    stack: &Stack,
    mode: Mode,
    skip: &[String],
    run_id: &str,
) -> Result<RollbackIntent, Fault> {
    if mode == Mode::Redeploy {
        return Err(Fault::new(
            FaultKind::Internal,
            "wrong_rollback_mode",
            "an earlier version is deployed, not rolled back to by CloudFormation",
        ));
    }
    let failed = blockers(access, &stack.stack_id).await?;
    require_skippable(stack, mode, skip, &failed)?;
    let resources = access
        .cloud
        .stack_resources(&access.target, &stack.stack_id)
        .await?;
    Ok(RollbackIntent {
        stack_id: stack.stack_id.clone(),
        mode,
        token: client_token(run_id),
        after_event: follow::newest_event(access, &stack.stack_id).await?,
        before: StackMark::of(access, &stack.stack_id).await?,
        skip: skip.to_vec(),
        planned: resources
            .into_iter()
            .map(|resource| resource.logical_resource_id)
            .collect(),
        role_arn: stack.role_arn.clone(),
    })
}

fn require_skippable(
    stack: &Stack,
    mode: Mode,
    skip: &[String],
    failed: &[StackResource],
) -> Result<(), Fault> {
    if skip.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = failed
        .iter()
        .filter(|resource| resource.resource_status == "UPDATE_FAILED")
        .map(|resource| resource.logical_resource_id.as_str())
        .collect();
    let wrong = skip
        .iter()
        .find(|id| mode != Mode::Continue || !ids.contains(&id.as_str()));
    let Some(wrong) = wrong else {
        return Ok(());
    };
    let message = format!(
        "resourcesToSkip names {wrong}, which does not block a rollback of {} ({}); what does: {}",
        stack.stack_name,
        stack.stack_status,
        if ids.is_empty() {
            "nothing".to_owned()
        } else {
            ids.join(", ")
        }
    );
    Err(
        Fault::new(FaultKind::Validation, "skip_not_allowed", message)
            .with("stackName", stack.stack_name.as_str())
            .with("blockers", ids),
    )
}

/// Begins a rollback, or finds that it was begun; then it is followed.
pub async fn begin(
    access: &Access,
    intent: &RollbackIntent,
    deadline: Timestamp,
) -> Result<(), Fault> {
    let after = intent.after_event.as_deref();
    if follow::is_begun(access, &intent.stack_id, &intent.token, after).await? {
        return Ok(());
    }
    let call = || StackCall {
        role_arn: intent.role_arn.clone(),
        ..StackCall::new(&intent.stack_id, &intent.token)
    };
    let cloud = &access.cloud;
    let target = &access.target;
    let begun = access
        .patiently(deadline, || match intent.mode {
            Mode::Continue => cloud.continue_update_rollback(target, call(), intent.skip.clone()),
            Mode::Undo | Mode::Redeploy => cloud.rollback_stack(target, call()),
        })
        .await;
    let Err(failure) = begun else {
        return Ok(());
    };
    // A first try whose answer was lost has begun it: then the state refuses the second.
    if follow::is_begun(access, &intent.stack_id, &intent.token, after).await? {
        return Ok(());
    }
    let mut fault = Fault::from(failure);
    if fault.kind == FaultKind::Validation {
        fault.kind = FaultKind::RollbackFailed;
    }
    Err(fault)
}
