//! `cloudformationResources`: parts that users write themselves; and what CloudFormation must be
//! allowed to do for the template.

use serde_json::Value;

use crate::refusal::Refusal;
use crate::stack::Stack;
use crate::text::Tie;

/// Properties by which a resource of IAM gets a name.
const NAMES: [&str; 5] = [
    "GroupName",
    "InstanceProfileName",
    "ManagedPolicyName",
    "RoleName",
    "UserName",
];

impl Stack<'_> {
    pub fn raw_resources(&mut self) {
        let config = self.config;
        for (id, resource) in &config.cloudformation_resources {
            let is_fine = !id.is_empty() && id.chars().all(|it| it.is_ascii_alphanumeric());
            let message = match self.parts.get(id) {
                _ if !is_fine => Some(format!(
                    "\"{id}\" is not a logical id: letters and digits only"
                )),
                Some(part) => {
                    let owner = part.owner.as_deref().unwrap_or("the stack");
                    Some(format!(
                        "\"{id}\" is already the id of a part of \"{owner}\""
                    ))
                }
                None => None,
            };
            if let Some(message) = message {
                self.refusals.push(Refusal {
                    path: vec!["cloudformationResources".to_owned(), id.clone()],
                    message,
                    suggestion: Some("use another name; overrides change what exists".to_owned()),
                });
                continue;
            }
            let properties = self.data_map(&resource.properties, Tie::Firm);
            let attributes: Vec<(&str, Option<Value>)> = vec![
                (
                    "DependsOn",
                    resource
                        .depends_on
                        .as_ref()
                        .map(|it| self.data(it, Tie::Firm)),
                ),
                ("Condition", resource.condition.clone().map(Value::String)),
                (
                    "DeletionPolicy",
                    resource.deletion_policy.clone().map(Value::String),
                ),
                (
                    "UpdateReplacePolicy",
                    resource.update_replace_policy.clone().map(Value::String),
                ),
                (
                    "UpdatePolicy",
                    resource
                        .update_policy
                        .as_ref()
                        .map(|it| self.data(it, Tie::Firm)),
                ),
                (
                    "CreationPolicy",
                    resource
                        .creation_policy
                        .as_ref()
                        .map(|it| self.data(it, Tie::Firm)),
                ),
                (
                    "Metadata",
                    resource
                        .metadata
                        .as_ref()
                        .map(|it| self.data(it, Tie::Firm)),
                ),
            ];
            if resource.condition.is_some() {
                self.refusals.push(Refusal {
                    path: vec![
                        "cloudformationResources".to_owned(),
                        id.clone(),
                        "Condition".to_owned(),
                    ],
                    message: "the template has no conditions".to_owned(),
                    suggestion: Some("vary the config by $Stage() instead".to_owned()),
                });
            }
            let part = self.add(id, &resource.r#type, Value::Null);
            // Exactly as it was written, nulls included.
            part.properties = properties;
            for (key, value) in attributes {
                if let Some(value) = value {
                    part.with(key, value);
                }
            }
        }
    }

    /// What CloudFormation must be allowed to do.
    pub fn capabilities(&self) -> Vec<&'static str> {
        let mut has_iam = false;
        let mut has_names = false;
        let mut has_macros = false;
        for part in self.parts.values() {
            has_iam |= part.cf_type.starts_with("AWS::IAM::");
            has_names |= part.cf_type.starts_with("AWS::IAM::")
                && NAMES.iter().any(|name| part.properties.get(name).is_some());
            has_macros |= matches!(
                part.cf_type.as_str(),
                "AWS::CloudFormation::Stack" | "AWS::CloudFormation::Macro"
            );
        }
        let mut capabilities = Vec::new();
        match (has_iam, has_names || has_macros) {
            (_, true) => capabilities.push("CAPABILITY_NAMED_IAM"),
            (true, false) => capabilities.push("CAPABILITY_IAM"),
            (false, false) => {}
        }
        if has_macros {
            capabilities.push("CAPABILITY_AUTO_EXPAND");
        }
        capabilities
    }
}
