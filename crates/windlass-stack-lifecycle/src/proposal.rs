//! What is to be deployed: a template and everything CloudFormation is told with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_ports::aws::{ChangeSetKind, CreateChangeSet, ParameterInput, TemplateSource};
use windlass_types::Digest;

/// The longest template that goes inline, in bytes.
pub const INLINE_LIMIT: usize = 51_200;
/// The longest template CloudFormation takes at all, in bytes.
pub const TEMPLATE_LIMIT: usize = 1_000_000;

/// A template and its inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Proposal {
    /// The stack.
    pub stack_name: String,
    /// The template.
    pub template: Value,
    /// Parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// Tags of the stack and what is in it.
    pub tags: BTreeMap<String, String>,
    /// `CAPABILITY_NAMED_IAM` and so on.
    pub capabilities: Vec<String>,
    /// Digests of the artifacts the template refers to, by name.
    pub artifacts: BTreeMap<String, String>,
    /// Logical id → the resource of the config it belongs to.
    pub names: BTreeMap<String, String>,
    /// The role CloudFormation acts as.
    pub role_arn: Option<String>,
    /// Topics that hear of the stack's events.
    pub notification_arns: Vec<String>,
    /// Alarms that roll an update back.
    pub rollback_alarm_arns: Vec<String>,
    /// For how many minutes after an update those alarms are watched.
    pub monitoring_minutes: u32,
}

impl Proposal {
    /// The template as it is sent: without spaces.
    pub fn template_text(&self) -> String {
        self.template.to_string()
    }

    /// Of that text; also its name in the asset store.
    pub fn template_digest(&self) -> Digest {
        Digest::of(self.template_text().as_bytes())
    }

    /// The change set that is asked for.
    pub fn request(
        &self,
        name: &str,
        kind: ChangeSetKind,
        template: TemplateSource,
    ) -> CreateChangeSet {
        CreateChangeSet {
            parameters: self
                .parameters
                .iter()
                .map(|(key, value)| (key.clone(), ParameterInput::Value(value.clone())))
                .collect(),
            tags: self.tags.clone(),
            capabilities: self.capabilities.clone(),
            // The same name is the same change set: a repeated call is answered, not refused.
            client_token: Some(name.to_owned()),
            role_arn: self.role_arn.clone(),
            notification_arns: self.notification_arns.clone(),
            rollback_alarm_arns: self.rollback_alarm_arns.clone(),
            monitoring_minutes: self.monitoring_minutes,
            ..CreateChangeSet::new(&self.stack_name, name, kind, template)
        }
    }
}
