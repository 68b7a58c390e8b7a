//! Stacks that cannot continue by themselves: what the state means and what gets out of it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_ports::aws::{Stack, StackResource};

use crate::fault::{Fault, FaultKind};
use crate::reason::clean;

/// One way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remedy {
    /// The operation: `delete`, `rollback`, `deploy`, …
    pub operation: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub args: Value,
    /// What it does, for people.
    pub text: String,
}

impl Remedy {
    /// A remedy without arguments.
    pub fn new(operation: &str, text: impl Into<String>) -> Self {
        Self {
            operation: operation.to_owned(),
            args: Value::Null,
            text: text.into(),
        }
    }

    fn with(operation: &str, args: Value, text: impl Into<String>) -> Self {
        Self {
            args,
            ..Self::new(operation, text)
        }
    }
}

/// A stuck stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stuck {
    /// Its status.
    pub state: String,
    /// What that means.
    pub meaning: String,
    /// What is in the way.
    pub blockers: Vec<Blocker>,
    /// Ways out, the gentlest first.
    pub remedies: Vec<Remedy>,
}

/// A resource that is in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// Its name in the template.
    pub logical_id: String,
    /// Its AWS type.
    pub resource_type: String,
    /// Its name in the account.
    pub physical_id: Option<String>,
    /// What CloudFormation says.
    pub reason: String,
}

impl From<&StackResource> for Blocker {
    fn from(resource: &StackResource) -> Self {
        Self {
            logical_id: resource.logical_resource_id.clone(),
            resource_type: resource.resource_type.clone(),
            physical_id: resource.physical_resource_id.clone(),
            reason: clean(
                resource
                    .resource_status_reason
                    .as_deref()
                    .unwrap_or_default(),
            ),
        }
    }
}

/// Whether a stack in this status needs manual action.
pub fn is_stuck(status: &str) -> bool {
    matches!(
        status,
        "REVIEW_IN_PROGRESS"
            | "ROLLBACK_COMPLETE"
            | "ROLLBACK_FAILED"
            | "DELETE_FAILED"
            | "UPDATE_ROLLBACK_FAILED"
            | "CREATE_FAILED"
            | "UPDATE_FAILED"
    )
}

/// What a stuck state means and what gets out of it.
pub fn explain(stack: &str, status: &str, blockers: &[StackResource]) -> Option<Stuck> {
    let ids: Vec<&str> = blockers
        .iter()
        .map(|resource| resource.logical_resource_id.as_str())
        .collect();
    let named = if ids.is_empty() {
        "the resources that block it".to_owned()
    } else {
        ids.join(", ")
    };
    let (meaning, remedies) = match status {
        "REVIEW_IN_PROGRESS" => (
            "only a change set was ever created; the stack has no resources",
            vec![Remedy::with(
                "delete",
                json!({ "confirm": true }),
                format!("delete the empty stack {stack}, then deploy"),
            )],
        ),
        "ROLLBACK_COMPLETE" => (
            "its first creation failed and was rolled back; CloudFormation allows only its deletion",
            vec![
                Remedy::new(
                    "deploy",
                    format!(
                        "fix the cause and deploy: one plan deletes the failed {stack} and creates \
                         it again, once it is confirmed with its confirmToken"
                    ),
                ),
                Remedy::with(
                    "delete",
                    json!({ "confirm": true }),
                    format!("delete {stack} and stop there"),
                ),
            ],
        ),
        "ROLLBACK_FAILED" => (
            "its creation failed and not everything it had created could be removed",
            vec![Remedy::with(
                "delete",
                json!({ "confirm": true }),
                format!(
                    "clear what blocks {named}, then delete; retainResources is allowed once a \
                     deletion has failed"
                ),
            )],
        ),
        "DELETE_FAILED" => (
            "resources could not be removed",
            vec![
                Remedy::with(
                    "delete",
                    json!({ "confirm": true }),
                    format!("clear what blocks {named}, then delete again"),
                ),
                Remedy::with(
                    "delete",
                    json!({ "confirm": true, "retainResources": ids }),
                    format!("delete the stack and leave {named} in the account"),
                ),
            ],
        ),
        "UPDATE_ROLLBACK_FAILED" => (
            "an update failed and could not be rolled back",
            vec![
                Remedy::new(
                    "rollback",
                    format!("clear what blocks {named}, then continue the rollback"),
                ),
                Remedy::with(
                    "rollback",
                    json!({ "resourcesToSkip": ids }),
                    format!("continue the rollback and leave {named} as they are"),
                ),
            ],
        ),
        "CREATE_FAILED" => (
            "its creation failed and automatic rollback was off",
            vec![
                Remedy::new("rollback", "remove what was created"),
                Remedy::with(
                    "delete",
                    json!({ "confirm": true }),
                    format!("delete {stack}, fix the cause and redeploy"),
                ),
            ],
        ),
        "UPDATE_FAILED" => (
            "an update failed and automatic rollback was off",
            vec![
                Remedy::new("deploy", "fix the cause and redeploy"),
                Remedy::new("rollback", "go back to the last good state"),
            ],
        ),
        _ => return None,
    };
    Some(Stuck {
        state: status.to_owned(),
        meaning: meaning.to_owned(),
        blockers: blockers.iter().map(Blocker::from).collect(),
        remedies,
    })
}

/// The refusal of an operation that the stuck state does not allow.
pub fn fault(stack: &Stack, blockers: &[StackResource]) -> Fault {
    let name = &stack.stack_name;
    let status = &stack.stack_status;
    let explained = explain(name, status, blockers);
    let meaning = explained
        .as_ref()
        .map_or("it cannot be changed", |stuck| stuck.meaning.as_str());
    let fault = Fault::new(
        FaultKind::Validation,
        "stack_stuck",
        format!("the stack {name} is in {status}: {meaning}"),
    )
    .with("stackName", name.as_str())
    .with(
        "stuck",
        serde_json::to_value(&explained).unwrap_or(Value::Null),
    );
    explained
        .into_iter()
        .flat_map(|stuck| stuck.remedies)
        .fold(fault, |fault, remedy| {
            fault.next(format!("{}: {}", remedy.operation, remedy.text))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stuck_state_has_a_way_out() {
        let blocker = StackResource {
            logical_resource_id: "Db".to_owned(),
            resource_status: "UPDATE_FAILED".to_owned(),
            ..StackResource::default()
        };
        let table: Vec<String> = [
            "REVIEW_IN_PROGRESS",
            "ROLLBACK_COMPLETE",
            "ROLLBACK_FAILED",
            "DELETE_FAILED",
            "UPDATE_ROLLBACK_FAILED",
            "CREATE_FAILED",
            "UPDATE_FAILED",
        ]
        .iter()
        .map(|status| {
            assert!(is_stuck(status));
            let stuck = explain("shop-dev", status, std::slice::from_ref(&blocker)).unwrap();
            let ways: Vec<String> = stuck
                .remedies
                .iter()
                .map(|remedy| format!("{} {}", remedy.operation, remedy.args))
                .collect();
            format!("{status}: {}", ways.join(" | "))
        })
        .collect();
        insta::assert_snapshot!(table.join("\n"), @r#"
        REVIEW_IN_PROGRESS: delete {"confirm":true}
        ROLLBACK_COMPLETE: deploy null | delete {"confirm":true}
        ROLLBACK_FAILED: delete {"confirm":true}
        DELETE_FAILED: delete {"confirm":true} | delete {"confirm":true,"retainResources":["Db"]}
        UPDATE_ROLLBACK_FAILED: rollback null | rollback {"resourcesToSkip":["Db"]}
        CREATE_FAILED: rollback null | delete {"confirm":true}
        UPDATE_FAILED: deploy null | rollback null
        "#);
        for status in [
            "CREATE_COMPLETE",
            "UPDATE_ROLLBACK_COMPLETE",
            "UPDATE_IN_PROGRESS",
        ] {
            assert!(!is_stuck(status) && explain("s", status, &[]).is_none());
        }
    }
}
