//! Deleting a stack: what blocks it, what is lost, the call, the blockers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::aws::{DeleteStack, Stack, StackCall, StackResource, TemplateStage};
use windlass_types::Timestamp;

use crate::access::Access;
use crate::before::StackMark;
use crate::change::{Action, Change, StatefulChange, stateful_changes};
use crate::change_set::client_token;
use crate::empty::Clearing;
use crate::fault::{Fault, FaultKind};
use crate::follow::{self, Trail};
use crate::owner::require_own;
use crate::situation::Situation;
use crate::status::Operation;

/// What a deletion does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deletion {
    /// The stack.
    pub stack_name: String,
    /// Its ARN.
    pub stack_id: String,
    /// Its status before.
    pub status: String,
    /// What happens to each resource, by logical id.
    pub changes: Vec<Change>,
    /// Resources that hold data.
    pub stateful: Vec<StatefulChange>,
    /// What is emptied or stopped first.
    pub clearings: Vec<Clearing>,
    /// Logical ids that stay because the call says so.
    pub retain: Vec<String>,
}

impl Deletion {
    /// Logical ids of what is deleted.
    pub fn deleted(&self) -> Vec<String> {
        self.with_action(Action::Delete)
    }

    /// Logical ids of what stays in the account.
    pub fn retained(&self) -> Vec<String> {
        self.with_action(Action::Retain)
    }

    fn with_action(&self, action: Action) -> Vec<String> {
        self.changes
            .iter()
            .filter(|change| change.action == action)
            .map(|change| change.logical_id.clone())
            .collect()
    }
}

/// Plans a deletion, or refuses it: no stack, not ours, busy, protected, or resources to
/// retain where CloudFormation does not allow it yet.
pub async fn plan(
    access: &Access,
    stack_name: &str,
    retain: &[String],
    names: &BTreeMap<String, String>,
) -> Result<Deletion, Fault> {
    let situation = Situation::find(access, stack_name).await?;
    let Some(stack) = &situation.stack else {
        return Err(Fault::new(
            FaultKind::NotFound,
            "stack_not_found",
            format!("there is no stack {stack_name}"),
        )
        .with("kind", "stack")
        .with("stackName", stack_name)
        .next("`windlass stack info stacks` lists what exists in the region"));
    };
    let is_review = stack.stack_status == "REVIEW_IN_PROGRESS";
    if !(is_review && situation.owns_review) {
        require_own_or_empty(stack)?;
    }
    // A creation may be deleted while it runs: that is how it is cancelled.
    if stack.stack_status != "CREATE_IN_PROGRESS" {
        situation.require_free(access).await?;
    }
    require_unprotected(stack)?;
    let resources = access
        .cloud
        .stack_resources(&access.target, &stack.stack_id)
        .await?;
    require_retainable(stack, retain, &resources)?;
    let template = match is_review {
        true => Value::Null,
        false => {
            let text = access
                .cloud
                .get_template(&access.target, &stack.stack_id, TemplateStage::Original)
                .await?;
            serde_json::from_str(&text).unwrap_or(Value::Null)
        }
    };
    let changes = changes(&resources, &template, retain, names);
    Ok(Deletion {
        stack_name: stack_name.to_owned(),
        stack_id: stack.stack_id.clone(),
        status: stack.stack_status.clone(),
        stateful: stateful_changes(&changes),
        clearings: clearings(&resources, &changes),
        changes,
        retain: retain.to_vec(),
    })
}

/// A stack that only ever held a change set has neither tags nor a description to go by.
fn require_own_or_empty(stack: &Stack) -> Result<(), Fault> {
    let is_empty = stack.stack_status == "REVIEW_IN_PROGRESS";
    if is_empty { Ok(()) } else { require_own(stack) }
}

fn require_unprotected(stack: &Stack) -> Result<(), Fault> {
    if !stack.enable_termination_protection {
        return Ok(());
    }
    let name = &stack.stack_name;
    Err(Fault::new(
        FaultKind::Validation,
        "termination_protection",
        format!("the stack {name} is protected against deletion"),
    )
    .with("stackName", name.as_str())
    .next("set deploymentConfig.terminationProtection to false and deploy, then delete again"))
}

fn require_retainable(
    stack: &Stack,
    retain: &[String],
    resources: &[StackResource],
) -> Result<(), Fault> {
    if retain.is_empty() {
        return Ok(());
    }
    if stack.stack_status != "DELETE_FAILED" {
        let message = format!(
            "retainResources is allowed only after a deletion has failed; {} is in {}",
            stack.stack_name, stack.stack_status
        );
        return Err(
            Fault::new(FaultKind::Validation, "retain_not_allowed", message)
                .with("stackName", stack.stack_name.as_str())
                .with("status", stack.stack_status.as_str())
                .next("delete without retainResources first"),
        );
    }
    let failed: Vec<&str> = resources
        .iter()
        .filter(|resource| resource.resource_status == "DELETE_FAILED")
        .map(|resource| resource.logical_resource_id.as_str())
        .collect();
    let Some(wrong) = retain.iter().find(|id| !failed.contains(&id.as_str())) else {
        return Ok(());
    };
    let message = format!(
        "retainResources names {wrong}, whose deletion has not failed; failed are: {}",
        failed.join(", ")
    );
    Err(
        Fault::new(FaultKind::Validation, "retain_not_allowed", message)
            .with("stackName", stack.stack_name.as_str())
            .with("failed", failed),
    )
}

fn changes(
    resources: &[StackResource],
    template: &Value,
    retain: &[String],
    names: &BTreeMap<String, String>,
) -> Vec<Change> {
    let mut changes: Vec<Change> = resources
        .iter()
        .filter(|resource| resource.resource_status != "DELETE_COMPLETE")
        .map(|resource| {
            let id = &resource.logical_resource_id;
            let policy = template["Resources"][id]["DeletionPolicy"].as_str();
            let policy_action = match policy {
                _ if retain.contains(id) => "Retain",
                Some("Retain" | "RetainExceptOnCreate") => "Retain",
                Some("Snapshot") => "Snapshot",
                _ => "Delete",
            };
            Change {
                resource_name: names.get(id).unwrap_or(id).clone(),
                resource_type: resource.resource_type.clone(),
                logical_id: id.clone(),
                action: match policy_action {
                    "Retain" => Action::Retain,
                    _ => Action::Delete,
                },
                will_replace: Vec::new(),
                may_replace: Vec::new(),
                highlights: Vec::new(),
                reason: Some("the stack is deleted".to_owned()),
                policy_action: Some(policy_action.to_owned()),
                reasons: Vec::new(),
            }
        })
        .collect();
    changes.sort_by(|left, right| left.logical_id.cmp(&right.logical_id));
    changes
}

/// What CloudFormation cannot delete while it holds something; retained resources are untouched.
fn clearings(resources: &[StackResource], changes: &[Change]) -> Vec<Clearing> {
    let mut clearings = Vec::new();
    for change in changes
        .iter()
        .filter(|change| change.action == Action::Delete)
    {
        let found = resources
            .iter()
            .find(|resource| resource.logical_resource_id == change.logical_id)
            .and_then(|resource| resource.physical_resource_id.clone())
            .filter(|id| !id.is_empty());
        let Some(physical) = found else {
            continue;
        };
        let logical_id = change.logical_id.clone();
        clearings.extend(match change.resource_type.as_str() {
            "AWS::S3::Bucket" => Some(Clearing::Bucket {
                logical_id,
                bucket: physical,
            }),
            "AWS::ECR::Repository" => Some(Clearing::Repository {
                logical_id,
                repository: physical,
            }),
            "AWS::ECS::Service" => Some(Clearing::Service {
                logical_id,
                service: physical,
            }),
            _ => None,
        });
    }
    clearings
}

/// A deletion that is about to begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteIntent {
    /// The stack's ARN.
    pub stack_id: String,
    /// Shows in every event of it.
    pub token: String,
    /// The newest event from before.
    pub after_event: Option<String>,
    /// The stack before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<StackMark>,
    /// Logical ids that stay.
    pub retain: Vec<String>,
    /// Logical ids that will change.
    pub planned: Vec<String>,
    /// The role CloudFormation acts as.
    pub role_arn: Option<String>,
}

impl DeleteIntent {
    /// The trail to follow it by.
    pub fn trail(&self) -> Trail {
        Trail {
            before: self.before.clone(),
            ..Trail::new(
                &self.stack_id,
                &self.token,
                Operation::Delete,
                self.planned.iter().cloned(),
                self.after_event.clone(),
            )
        }
    }
}

/// The intent of a planned deletion.
pub async fn intend(
    access: &Access,
    deletion: &Deletion,
    run_id: &str,
    role_arn: Option<String>,
) -> Result<DeleteIntent, Fault> {
    Ok(DeleteIntent {
        stack_id: deletion.stack_id.clone(),
        token: client_token(run_id),
        after_event: follow::newest_event(access, &deletion.stack_id).await?,
        before: StackMark::of(access, &deletion.stack_id).await?,
        retain: deletion.retain.clone(),
        planned: deletion
            .changes
            .iter()
            .map(|change| change.logical_id.clone())
            .collect(),
        role_arn,
    })
}

/// Begins a deletion, or finds that it was begun; then it is followed.
pub async fn begin(
    access: &Access,
    intent: &DeleteIntent,
    deadline: Timestamp,
) -> Result<(), Fault> {
    let after = intent.after_event.as_deref();
    if follow::is_begun(access, &intent.stack_id, &intent.token, after).await? {
        return Ok(());
    }
    let request = DeleteStack {
        call: StackCall {
            role_arn: intent.role_arn.clone(),
            ..StackCall::new(&intent.stack_id, &intent.token)
        },
        retain_resources: intent.retain.clone(),
    };
    // The same token on every try, and what is deleted already is deleted: safe to repeat.
    access
        .patiently(deadline, || {
            access.cloud.delete_stack(&access.target, request.clone())
        })
        .await?;
    Ok(())
}
