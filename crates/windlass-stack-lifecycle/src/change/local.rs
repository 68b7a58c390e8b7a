//! The changes of a stack that does not exist yet, read from its template: all additions.
//!
//! For templates that are too large to be sent inline while there is no asset store.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Action, Change};

/// One creation per resource of the template, by logical id. Resources with a condition are
/// listed too: whether it holds is CloudFormation's to say.
pub fn additions(template: &Value, names: &BTreeMap<String, String>) -> Vec<Change> {
    let Some(resources) = template.get("Resources").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut changes: Vec<Change> = resources
        .iter()
        .map(|(id, resource)| Change {
            resource_name: names.get(id).unwrap_or(id).clone(),
            resource_type: resource
                .get("Type")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            logical_id: id.clone(),
            action: Action::Create,
            will_replace: Vec::new(),
            may_replace: Vec::new(),
            highlights: match resource.get("Condition").and_then(Value::as_str) {
                Some(condition) => vec![format!("only if the condition {condition} holds")],
                None => Vec::new(),
            },
            reason: None,
            policy_action: None,
            reasons: Vec::new(),
        })
        .collect();
    changes.sort_by(|left, right| left.logical_id.cmp(&right.logical_id));
    changes
}
