//! What is to be deployed: a template and everything CloudFormation gets with it.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Topics that receive the stack's events.
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

    /// Parameters the template marks with `NoEcho`: nobody may see their values.
    pub fn hidden_parameters(&self) -> BTreeSet<String> {
        let hidden = declared(&self.template).filter(|(_, rule)| is_hidden(rule));
        hidden.map(|(name, _)| name.clone()).collect()
    }

    /// Parameters whose values may be kept.
    pub fn shown_parameters(&self) -> BTreeMap<String, String> {
        let hidden = self.hidden_parameters();
        let mut shown = self.parameters.clone();
        shown.retain(|name, _| !hidden.contains(name));
        shown
    }

    /// Those of [`Self::hidden_parameters`] whose value stands in the template for all to read.
    pub fn told_parameters(&self) -> Vec<String> {
        let passed = declared(&self.template).filter(|(_, rule)| {
            let kind = rule["Type"].as_str().unwrap_or_default();
            let value = match &rule["Default"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            // Where a value is kept is no secret.
            let is_place =
                kind.starts_with("AWS::SSM::Parameter::") || value.starts_with("{{resolve:");
            is_hidden(rule) && !value.is_empty() && !is_place
        });
        passed.map(|(name, _)| name.clone()).collect()
    }

    /// Hidden parameters that have a value in the stack alone.
    fn kept_by_stack(&self) -> impl Iterator<Item = String> {
        declared(&self.template)
            .filter(|(name, rule)| {
                is_hidden(rule)
                    && rule.get("Default").is_none()
                    && !self.parameters.contains_key(*name)
            })
            .map(|(name, _)| name.clone())
    }

    /// The change set that is asked for.
    pub fn request(
        &self,
        name: &str,
        kind: ChangeSetKind,
        template: TemplateSource,
    ) -> CreateChangeSet {
        let given = self.parameters.iter();
        let given = given.map(|(name, value)| (name.clone(), ParameterInput::Value(value.clone())));
        let kept = self
            .kept_by_stack()
            .filter(|_| kind == ChangeSetKind::Update);
        CreateChangeSet {
            parameters: given
                .chain(kept.map(|name| (name, ParameterInput::Previous)))
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

fn declared(template: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let parameters = template.get("Parameters").and_then(Value::as_object);
    parameters.into_iter().flatten()
}

fn is_hidden(rule: &Value) -> bool {
    match rule.get("NoEcho") {
        Some(Value::Bool(hidden)) => *hidden,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn proposal() -> Proposal {
        Proposal {
            template: json!({ "Parameters": {
                "Size": { "Type": "Number", "Default": 3 },
                "Kept": { "Type": "String", "NoEcho": "true" },
                "Told": { "Type": "String", "NoEcho": true, "Default": "canary" },
                "Numbered": { "Type": "Number", "NoEcho": true, "Default": 1234 },
                "Empty": { "Type": "String", "NoEcho": true, "Default": "" },
                "Stored": { "Type": "AWS::SSM::Parameter::Value<String>", "NoEcho": true,
                    "Default": "/shop/key" },
                "Asked": { "Type": "String", "NoEcho": true,
                    "Default": "{{resolve:secretsmanager:key}}" },
            } }),
            parameters: BTreeMap::from(
                [("Size", "4"), ("Told", "canary")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            ),
            ..Proposal::default()
        }
    }

    #[test]
    fn hidden_parameters_are_not_kept_and_not_written_down() {
        let proposal = proposal();
        let hidden = proposal.hidden_parameters();
        assert_eq!(hidden.len(), 6, "{hidden:?}");
        let shown = proposal.shown_parameters();
        assert_eq!(shown.into_keys().collect::<Vec<_>>(), ["Size"]);
        assert_eq!(proposal.told_parameters(), ["Numbered", "Told"]);
    }

    #[test]
    fn an_update_leaves_a_hidden_value_as_the_stack_has_it() {
        for (kind, expected) in [
            (ChangeSetKind::Create, None),
            (ChangeSetKind::Update, Some(ParameterInput::Previous)),
        ] {
            let source = TemplateSource::Body("{}".to_owned());
            let request = proposal().request("windlass-1", kind, source);
            assert_eq!(request.parameters.get("Kept").cloned(), expected);
            let size = Some(ParameterInput::Value("4".to_owned()));
            assert_eq!(request.parameters.get("Size").cloned(), size);
        }
    }
}
