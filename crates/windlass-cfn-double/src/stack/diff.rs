//! What a target would change, as a change set lists it.
//!
//! Resources are looked at behind what they need, so that a replacement is known when its
//! dependents are compared: what they read of it is not known before the change is made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::drift::differences;
use super::names::{active, pseudo};
use super::{Resource, ResourceStatus, Stack, Target};
use crate::env::Env;
use crate::template::eval::{Evaluation, KNOWN_AFTER_APPLY, Names};
use crate::template::{Definition, references};
use crate::types::{self, Recreation};

const MASKED: &str = "****";

#[derive(Clone, Debug)]
pub struct ResourceChange {
    pub action: &'static str,
    pub logical_id: String,
    pub physical_id: Option<String>,
    pub kind: String,
    /// `True`, `False` or `Conditional`; only for modifications.
    pub replacement: Option<&'static str>,
    pub scope: Vec<&'static str>,
    pub details: Vec<Detail>,
    pub policy_action: Option<&'static str>,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

#[derive(Clone, Debug)]
pub struct Detail {
    pub attribute: &'static str,
    pub name: Option<String>,
    pub recreation: Recreation,
    pub path: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
    /// `Add`, `Remove` or `Modify`.
    pub change: &'static str,
    pub is_static: bool,
    pub source: Option<&'static str>,
    pub cause: Option<String>,
}

/// The changes that would bring a stack to a target; empty when nothing would happen.
pub fn diff(
    stack: &Stack,
    target: &Target,
    with_values: bool,
    env: &Env,
) -> Result<Vec<ResourceChange>, String> {
    let order = active(stack, target)?;
    let mut comparison = Comparison {
        stack,
        target,
        env,
        with_values,
        pseudo: pseudo(stack, target),
        unknown: BTreeSet::new(),
    };
    let mut changes = Vec::new();
    for id in &order {
        let Some(definition) = target.template.resources.get(id) else {
            continue;
        };
        match existing(stack, id) {
            None => {
                comparison.unknown.insert(id.clone());
                changes.push(comparison.addition(id, definition)?);
            }
            Some(resource) if resource.kind != definition.kind => {
                return Err(format!(
                    "Update of resource type is not permitted. The new template modifies resource \
                     type of the following resources: [{id}]"
                ));
            }
            Some(resource) => {
                if let Some(change) = comparison.modification(resource, definition)? {
                    if change.replacement != Some("False") {
                        comparison.unknown.insert(id.clone());
                    }
                    changes.push(change);
                }
            }
        }
    }
    for resource in stack.resources.values() {
        if !order.contains(&resource.logical_id) && existing(stack, &resource.logical_id).is_some()
        {
            changes.push(comparison.removal(resource));
        }
    }
    changes.sort_by(|left, right| left.logical_id.cmp(&right.logical_id));
    Ok(changes)
}

/// Whether two targets differ in anything that is not a resource.
pub fn differs_outside(before: &Target, after: &Target) -> bool {
    before.template.outputs != after.template.outputs
        || before.tags != after.tags
        || before.notifications != after.notifications
}

fn existing<'a>(stack: &'a Stack, id: &str) -> Option<&'a Resource> {
    stack.resources.get(id).filter(|resource| {
        resource.physical.is_some()
            && !resource.status.is_gone()
            && resource.status != ResourceStatus::CreateFailed
    })
}

struct Comparison<'a> {
    stack: &'a Stack,
    target: &'a Target,
    env: &'a Env,
    with_values: bool,
    pseudo: BTreeMap<&'static str, Value>,
    /// Resources whose identity is known only after the change.
    unknown: BTreeSet<String>,
}

impl Names for Comparison<'_> {
    fn reference(&self, name: &str) -> Option<Value> {
        if let Some(parameter) = self.target.parameters.get(name) {
            return Some(parameter.value.clone());
        }
        if let Some(value) = self.pseudo.get(name) {
            return Some(value.clone());
        }
        match existing(self.stack, name) {
            Some(resource) if !self.unknown.contains(name) => {
                resource.physical_id().map(Value::from)
            }
            _ => Some(Value::from(KNOWN_AFTER_APPLY)),
        }
    }

    fn attribute(&self, name: &str, attribute: &str) -> Option<Value> {
        match existing(self.stack, name) {
            Some(resource) if !self.unknown.contains(name) => Some(types::attribute(
                &resource.kind,
                resource.physical.as_ref()?,
                &resource.properties,
                &self.stack.region,
                attribute,
            )),
            _ => Some(Value::from(KNOWN_AFTER_APPLY)),
        }
    }

    fn import(&self, export: &str) -> Option<String> {
        self.env.export(&self.stack.region, export)
    }

    fn region(&self) -> &str {
        &self.stack.region
    }
}

impl Comparison<'_> {
    fn evaluate(&self, definition: &Definition) -> Result<Value, String> {
        Evaluation::new(&self.target.template, self).value(&definition.properties)
    }

    fn addition(&self, id: &str, definition: &Definition) -> Result<ResourceChange, String> {
        let mut properties = self.evaluate(definition)?;
        self.mask(&mut properties, &definition.properties, self.target);
        Ok(ResourceChange {
            action: "Add",
            logical_id: id.to_owned(),
            physical_id: None,
            kind: definition.kind.clone(),
            replacement: None,
            scope: Vec::new(),
            details: Vec::new(),
            policy_action: None,
            before: None,
            after: self
                .with_values
                .then(|| context(properties, definition.metadata.as_ref())),
        })
    }

    fn modification(
        &self,
        resource: &Resource,
        definition: &Definition,
    ) -> Result<Option<ResourceChange>, String> {
        let after = self.evaluate(definition)?;
        let empty = Map::new();
        let old = resource.properties.as_object().unwrap_or(&empty);
        let new = after.as_object().unwrap_or(&empty);
        let mut details = Vec::new();
        let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            if old.get(name) != new.get(name) {
                self.property(
                    resource,
                    definition,
                    name,
                    old.get(name),
                    new.get(name),
                    &mut details,
                );
            }
        }
        let mut scope: Vec<&'static str> = Vec::new();
        if !details.is_empty() {
            scope.push("Properties");
        }
        let retagged = types::takes_tags(&resource.kind) && resource.stack_tags != self.target.tags;
        for (attribute, changed) in [
            ("Tags", retagged),
            ("Metadata", resource.metadata != definition.metadata),
        ] {
            if changed {
                scope.push(attribute);
                details.push(whole_attribute(attribute));
            }
        }
        if details.is_empty() && resource.status != ResourceStatus::UpdateFailed {
            return Ok(None);
        }
        let replacement = replacement(&details);
        let policy_action = match (replacement, definition.update_replace_policy.as_deref()) {
            ("False", _) => None,
            (_, Some("Retain")) => Some("ReplaceAndRetain"),
            (_, Some("Snapshot")) => Some("ReplaceAndSnapshot"),
            _ => Some("ReplaceAndDelete"),
        };
        let contexts = self.with_values.then(|| {
            let (mut before, mut after) = (resource.properties.clone(), after.clone());
            self.mask(&mut before, &definition.properties, self.target);
            self.mask_before(&mut before, &resource.logical_id);
            self.mask(&mut after, &definition.properties, self.target);
            (
                context(before, resource.metadata.as_ref()),
                context(after, definition.metadata.as_ref()),
            )
        });
        let (before, after) = contexts.unzip();
        Ok(Some(ResourceChange {
            action: "Modify",
            logical_id: resource.logical_id.clone(),
            physical_id: resource.physical_id().map(str::to_owned),
            kind: resource.kind.clone(),
            replacement: Some(replacement),
            scope,
            details,
            policy_action,
            before,
            after,
        }))
    }

    /// One detail per leaf and cause when values are shown, else one per property and cause.
    fn property(
        &self,
        resource: &Resource,
        definition: &Definition,
        name: &str,
        before: Option<&Value>,
        after: Option<&Value>,
        details: &mut Vec<Detail>,
    ) {
        let null = Value::Null;
        let recreation = types::recreation(
            &resource.kind,
            name,
            before.unwrap_or(&null),
            after.unwrap_or(&null),
        );
        let raw = definition.properties.get(name);
        let is_secret = raw.is_some_and(|raw| self.reads_secret(raw, self.target))
            || self.was_secret(&resource.logical_id, name);
        let shown = |text: String| if is_secret { MASKED.to_owned() } else { text };
        for (is_static, source, cause) in self.causes(resource, name, raw, after) {
            let mut detail = Detail {
                attribute: "Properties",
                name: Some(name.to_owned()),
                recreation,
                path: None,
                before: None,
                after: None,
                change: change_kind(before, after),
                is_static,
                source: Some(source),
                cause,
            };
            if !self.with_values {
                details.push(detail);
                continue;
            }
            let wrap = |value: Option<&Value>| match value {
                Some(value) => json!({ "Properties": { name: value } }),
                None => json!({ "Properties": {} }),
            };
            for leaf in differences(&wrap(before), &wrap(after)) {
                detail.path = Some(leaf.path);
                detail.before = (leaf.kind != "ADD").then(|| shown(leaf.expected));
                detail.after = (leaf.kind != "REMOVE").then(|| shown(leaf.actual));
                detail.change = match leaf.kind {
                    "ADD" => "Add",
                    "REMOVE" => "Remove",
                    _ => "Modify",
                };
                details.push(detail.clone());
            }
        }
    }

    /// Why a property differs: the template, a parameter, or another resource.
    fn causes(
        &self,
        resource: &Resource,
        name: &str,
        raw: Option<&Value>,
        after: Option<&Value>,
    ) -> Vec<(bool, &'static str, Option<String>)> {
        let mut causes = Vec::new();
        let before = self.stack.current.as_ref();
        let raw_before = before
            .and_then(|target| target.template.resources.get(&resource.logical_id))
            .and_then(|definition| definition.properties.get(name));
        let mentioned = raw.map(references).unwrap_or_default();
        for reference in &mentioned {
            let target = &reference.target;
            let parameter =
                |from: &Target| from.parameters.get(target).map(|found| found.value.clone());
            if let Some(value) = parameter(self.target) {
                if before.and_then(parameter) != Some(value) {
                    causes.push((true, "ParameterReference", Some(target.clone())));
                }
            } else if self.unknown.contains(target) {
                causes.push(match &reference.attribute {
                    Some(attribute) => (
                        false,
                        "ResourceAttribute",
                        Some(format!("{target}.{attribute}")),
                    ),
                    None => (false, "ResourceReference", Some(target.clone())),
                });
            }
        }
        if raw_before != raw || causes.is_empty() {
            let is_static =
                !after.is_some_and(|after| after.to_string().contains(KNOWN_AFTER_APPLY));
            causes.push((is_static, "DirectModification", None));
        }
        causes
    }

    fn reads_secret(&self, raw: &Value, target: &Target) -> bool {
        references(raw).iter().any(|reference| {
            target
                .parameters
                .get(&reference.target)
                .is_some_and(|parameter| parameter.no_echo)
        })
    }

    fn removal(&self, resource: &Resource) -> ResourceChange {
        let written = resource.deletion_policy.as_deref();
        let policy = written.unwrap_or_else(|| {
            types::default_deletion_policy(&resource.kind, &resource.properties)
        });
        ResourceChange {
            action: "Remove",
            logical_id: resource.logical_id.clone(),
            physical_id: resource.physical_id().map(str::to_owned),
            kind: resource.kind.clone(),
            replacement: None,
            scope: Vec::new(),
            details: Vec::new(),
            policy_action: Some(match policy {
                "Retain" | "RetainExceptOnCreate" => "Retain",
                "Snapshot" => "Snapshot",
                _ => "Delete",
            }),
            before: self.with_values.then(|| {
                let mut before = resource.properties.clone();
                self.mask_before(&mut before, &resource.logical_id);
                context(before, resource.metadata.as_ref())
            }),
            after: None,
        }
    }

    /// Whether a property read a hidden parameter, as the stack is now.
    fn was_secret(&self, logical_id: &str, name: &str) -> bool {
        let Some(current) = &self.stack.current else {
            return false;
        };
        let definition = current.template.resources.get(logical_id);
        definition
            .and_then(|definition| definition.properties.get(name))
            .is_some_and(|raw| self.reads_secret(raw, current))
    }

    /// Hides what [`Self::was_secret`].
    fn mask_before(&self, properties: &mut Value, logical_id: &str) {
        for (name, value) in properties.as_object_mut().into_iter().flatten() {
            if self.was_secret(logical_id, name) {
                *value = Value::from(MASKED);
            }
        }
    }

    /// Hides top-level properties that read a hidden parameter.
    fn mask(&self, properties: &mut Value, raw: &Value, target: &Target) {
        let Value::Object(fields) = properties else {
            return;
        };
        for (name, value) in fields {
            if raw
                .get(name)
                .is_some_and(|raw| self.reads_secret(raw, target))
            {
                *value = Value::from(MASKED);
            }
        }
    }
}

fn replacement(details: &[Detail]) -> &'static str {
    let needed = details
        .iter()
        .map(|detail| match (detail.recreation, detail.is_static) {
            (Recreation::Always, false) => Recreation::Conditionally,
            (recreation, _) => recreation,
        })
        .max();
    match needed {
        Some(Recreation::Always) => "True",
        Some(Recreation::Conditionally) => "Conditional",
        _ => "False",
    }
}

fn whole_attribute(attribute: &'static str) -> Detail {
    Detail {
        attribute,
        name: None,
        recreation: Recreation::Never,
        path: None,
        before: None,
        after: None,
        change: "Modify",
        is_static: true,
        source: Some("DirectModification"),
        cause: None,
    }
}

fn change_kind(before: Option<&Value>, after: Option<&Value>) -> &'static str {
    match (before, after) {
        (None, _) => "Add",
        (_, None) => "Remove",
        _ => "Modify",
    }
}

fn context(properties: Value, metadata: Option<&Value>) -> Value {
    let mut context = json!({ "Properties": properties });
    if let Some(metadata) = metadata {
        context["Metadata"] = metadata.clone();
    }
    context
}
