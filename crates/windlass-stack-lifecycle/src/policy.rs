//! Stack policies: databases that an update may neither replace nor delete, unless a confirmed
//! plan says exactly that.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::access::Access;
use crate::change::{Action, Change};
use crate::fault::Fault;

const RESOURCE: &str = "LogicalResourceId/";

/// Databases of a template, which are protected unless the caller says otherwise.
pub fn databases(template: &Value) -> BTreeSet<String> {
    let Some(resources) = template.get("Resources").and_then(Value::as_object) else {
        return BTreeSet::new();
    };
    resources
        .iter()
        .filter(|(_, resource)| {
            matches!(
                resource.get("Type").and_then(Value::as_str),
                Some("AWS::RDS::DBInstance" | "AWS::RDS::DBCluster")
            )
        })
        .map(|(id, _)| id.clone())
        .collect()
}

/// The policy that protects these and allows everything else.
pub fn document(protected: &BTreeSet<String>) -> Value {
    let allow = json!({
        "Effect": "Allow", "Principal": "*", "Action": "Update:*", "Resource": "*",
    });
    if protected.is_empty() {
        return json!({ "Statement": [allow] });
    }
    let resources: Vec<String> = protected
        .iter()
        .map(|id| format!("{RESOURCE}{id}"))
        .collect();
    let deny = json!({
        "Effect": "Deny", "Principal": "*", "Action": ["Update:Replace", "Update:Delete"],
        "Resource": resources,
    });
    json!({ "Statement": [allow, deny] })
}

/// What a policy of Windlass protects; `None` for one that Windlass did not write.
pub fn protected_by(policy: &Value) -> Option<BTreeSet<String>> {
    let denied: BTreeSet<String> = policy
        .get("Statement")?
        .as_array()?
        .iter()
        .filter(|statement| statement["Effect"] == "Deny")
        .flat_map(|statement| {
            statement["Resource"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        })
        .filter_map(|resource| resource.as_str()?.strip_prefix(RESOURCE).map(str::to_owned))
        .collect();
    (document(&denied) == *policy).then_some(denied)
}

/// What a plan replaces or deletes.
pub fn losses(changes: &[Change]) -> BTreeSet<String> {
    changes
        .iter()
        .filter(|change| {
            matches!(
                change.action,
                Action::Replace | Action::Delete | Action::Retain
            )
        })
        .map(|change| change.logical_id.clone())
        .collect()
}

/// Lifts the protection of what a confirmed plan replaces or deletes, and of nothing else. Says
/// whether there was anything to lift. `protect` brings it back after the update. A policy that
/// Windlass did not write is left alone: CloudFormation then refuses and names it.
pub async fn lift(access: &Access, stack_id: &str, changes: &[Change]) -> Result<bool, Fault> {
    let text = access
        .cloud
        .get_stack_policy(&access.target, stack_id)
        .await?;
    let policy = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(protected) = policy.as_ref().and_then(protected_by) else {
        return Ok(false);
    };
    let losses = losses(changes);
    let left: BTreeSet<String> = protected.difference(&losses).cloned().collect();
    if left == protected {
        return Ok(false);
    }
    set(access, stack_id, &left).await?;
    Ok(true)
}

/// Protects these and nothing else, unless Windlass did not write the stack's policy.
pub async fn protect(
    access: &Access,
    stack_id: &str,
    wanted: &BTreeSet<String>,
) -> Result<(), Fault> {
    let text = access
        .cloud
        .get_stack_policy(&access.target, stack_id)
        .await?;
    let present = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    match present {
        None if wanted.is_empty() => Ok(()),
        None => set(access, stack_id, wanted).await,
        Some(policy) => match protected_by(&policy) {
            Some(protected) if protected != *wanted => set(access, stack_id, wanted).await,
            _ => Ok(()),
        },
    }
}

async fn set(access: &Access, stack_id: &str, protected: &BTreeSet<String>) -> Result<(), Fault> {
    let policy = document(protected).to_string();
    access
        .cloud
        .set_stack_policy(&access.target, stack_id, &policy)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_lists_what_it_protects() {
        for ids in [&[][..], &["Db"], &["Db", "Replica"]] {
            let protected: BTreeSet<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(protected_by(&document(&protected)), Some(protected));
        }
        let foreign = json!({ "Statement": [
            { "Effect": "Deny", "Principal": "*", "Action": "Update:*", "Resource": "*" },
        ] });
        assert_eq!(protected_by(&foreign), None);
    }
}
