//! One stack: its status, outputs, resources, drift, and what to do when it is stuck.

use serde_json::{Map, Value, json};
use windlass_ports::aws::{ListObjects, Stack, StackResource};
use windlass_types::Problem;

use crate::answer::Answer;
use crate::call::Call;
use crate::info_stacks::origin;

/// How many resources one answer shows; CloudFormation allows 500.
const MOST: usize = 500;

pub(crate) async fn answer(call: &mut Call<'_>) -> Result<Answer, Problem> {
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let origin = origin(&stack);
    let outputs: Map<String, Value> = stack
        .outputs
        .iter()
        .map(|output| (output.output_key.clone(), json!(output.output_value)))
        .collect();
    let tags: Map<String, Value> = stack
        .tags
        .iter()
        .map(|tag| (tag.key.clone(), json!(tag.value)))
        .collect();
    let stuck = stuck(&stack, &resources);
    let data = json!({
        "stackName": stack.stack_name,
        "stackId": stack.stack_id,
        "projectName": origin.project,
        "stage": origin.stage,
        "managedBy": origin.managed_by,
        "status": stack.stack_status,
        "statusReason": stack.stack_status_reason,
        "creationTime": stack.creation_time,
        "lastUpdateTime": stack.last_updated_time,
        "terminationProtection": stack.enable_termination_protection,
        "outputs": outputs,
        "resources": resources.iter().take(MOST).map(shown).collect::<Vec<_>>(),
        "resourceCount": resources.len(),
        "truncated": resources.len() > MOST,
        "tags": tags,
        "drift": drift(call, &stack).await,
        "version": newest_version(call, &stack).await,
        "stuck": stuck,
    });
    let message = format!(
        "{} is {} with {} resources",
        stack.stack_name,
        stack.stack_status,
        resources.len()
    );
    let mut answer = Answer::new(message, data);
    for remedy in stuck
        .get("remedies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        answer = answer.next(remedy.as_str().unwrap_or_default());
    }
    Ok(answer)
}

/// The newest version that a deployment kept, by the stack's account and region. What cannot be
/// read is unknown, not a failure: the store may be nobody's business here.
async fn newest_version(call: &Call<'_>, stack: &Stack) -> Option<String> {
    // arn:aws:cloudformation:region:account:stack/name/id
    let mut parts = stack.stack_id.split(':').skip(3);
    let (region, account) = (parts.next()?, parts.next()?);
    let prefix = format!("stacks/{}/", stack.stack_name);
    let request = ListObjects {
        bucket: format!("windlass-assets-{account}-{region}"),
        prefix: prefix.clone(),
        limit: None,
    };
    let cloud = &call.outside.cloud;
    let entries = cloud.list_objects(&call.target, request).await.ok()?;
    entries
        .iter()
        .filter_map(|entry| entry.key.strip_prefix(&prefix)?.strip_suffix(".json"))
        .max()
        .map(str::to_owned)
}

fn shown(resource: &StackResource) -> Value {
    json!({
        "logicalId": resource.logical_resource_id,
        "physicalId": resource.physical_resource_id,
        "type": resource.resource_type,
        "status": resource.resource_status,
        "statusReason": resource.resource_status_reason,
        "driftStatus": resource.drift_status,
        "lastUpdated": resource.last_updated_timestamp,
    })
}

/// What the last detection found; none is begun here, because that is not reading.
async fn drift(call: &Call<'_>, stack: &Stack) -> Value {
    let status = stack.drift_status.as_deref().unwrap_or("NOT_CHECKED");
    if status != "DRIFTED" {
        return json!({ "status": status, "resources": [] });
    }
    let found = call
        .outside
        .cloud
        .resource_drifts(&call.target, &stack.stack_name)
        .await;
    match found {
        Ok(drifts) => {
            let differing: Vec<Value> = drifts
                .iter()
                .filter(|drift| drift.stack_resource_drift_status != "IN_SYNC")
                .map(|drift| {
                    // Values of properties stay out: they may be secrets.
                    let properties: Vec<&str> = drift
                        .property_differences
                        .iter()
                        .map(|difference| difference.property_path.as_str())
                        .collect();
                    json!({
                        "logicalId": drift.logical_resource_id,
                        "type": drift.resource_type,
                        "status": drift.stack_resource_drift_status,
                        "properties": properties,
                    })
                })
                .collect();
            json!({ "status": status, "resources": differing })
        }
        // Unknown is not the same as none.
        Err(failure) => {
            json!({ "status": status, "resources": null, "unknown": failure.to_string() })
        }
    }
}

/// What holds a stack up and what can be done, or null.
fn stuck(stack: &Stack, resources: &[StackResource]) -> Value {
    let blockers = |ends: &str| -> Vec<Value> {
        resources
            .iter()
            .filter(|resource| resource.resource_status.ends_with(ends))
            .map(|resource| {
                json!({
                    "logicalId": resource.logical_resource_id,
                    "status": resource.resource_status,
                    "reason": resource.resource_status_reason,
                })
            })
            .collect()
    };
    let name = &stack.stack_name;
    let (meaning, remedies, blockers) = match stack.stack_status.as_str() {
        "REVIEW_IN_PROGRESS" => (
            "only a change set was ever created; there are no resources",
            vec![
                format!("delete the empty stack {name}"),
                "deploy".to_owned(),
            ],
            Vec::new(),
        ),
        "ROLLBACK_COMPLETE" => (
            "the first creation failed and was rolled back",
            vec![format!(
                "fix the cause and deploy: one plan deletes the failed {name} and creates it again"
            )],
            Vec::new(),
        ),
        "ROLLBACK_FAILED" | "DELETE_FAILED" => (
            "the clean-up is blocked",
            vec![format!(
                "delete {name} with retainResources naming the blockers"
            )],
            blockers("DELETE_FAILED"),
        ),
        "UPDATE_ROLLBACK_FAILED" => (
            "the rollback of an update is blocked",
            vec![
                format!("rollback {name}, which continues the rollback"),
                format!("rollback {name} with resourcesToSkip naming the blockers"),
            ],
            blockers("_FAILED"),
        ),
        "CREATE_FAILED" | "UPDATE_FAILED" => (
            "an operation failed with automatic rollback off",
            vec![
                "fix the cause and redeploy".to_owned(),
                format!("rollback {name}"),
            ],
            blockers("_FAILED"),
        ),
        _ => return Value::Null,
    };
    json!({
        "state": stack.stack_status,
        "meaning": meaning,
        "blockers": blockers,
        "remedies": remedies,
    })
}
