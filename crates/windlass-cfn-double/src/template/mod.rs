//! A template as a checked value: what it declares, what depends on what.
//!
//! Templates are JSON; YAML is refused by name. Not here: values of intrinsics (`eval`), and
//! what a resource type accepts (`types`).

mod check;
pub mod eval;
mod references;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::ApiError;

pub use references::references;

/// What CloudFormation accepts inline.
pub const INLINE_LIMIT: usize = 51_200;
/// What CloudFormation accepts from a bucket.
pub const STORED_LIMIT: usize = 1_048_576;
pub const RESOURCE_LIMIT: usize = 500;

#[derive(Clone, Debug)]
pub struct Template {
    pub body: String,
    pub description: Option<String>,
    pub metadata: Option<Value>,
    pub transforms: Vec<String>,
    pub parameters: BTreeMap<String, ParameterRule>,
    pub mappings: Value,
    pub conditions: BTreeMap<String, Value>,
    pub resources: BTreeMap<String, Definition>,
    pub outputs: BTreeMap<String, OutputRule>,
}

/// One entry of `Parameters`.
#[derive(Clone, Debug)]
pub struct ParameterRule {
    pub kind: String,
    pub default: Option<String>,
    pub no_echo: bool,
    pub description: Option<String>,
    pub allowed: Vec<String>,
}

/// One entry of `Resources`, unevaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub kind: String,
    pub properties: Value,
    pub metadata: Option<Value>,
    pub condition: Option<String>,
    pub depends_on: Vec<String>,
    pub deletion_policy: Option<String>,
    pub update_replace_policy: Option<String>,
}

/// One entry of `Outputs`, unevaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputRule {
    pub value: Value,
    pub description: Option<String>,
    pub condition: Option<String>,
    pub export: Option<Value>,
}

impl Definition {
    /// Everything this resource waits for: what it names and what it refers to.
    pub fn needs(&self) -> Vec<String> {
        let mut needs = self.depends_on.clone();
        needs.extend(
            references(&self.properties)
                .into_iter()
                .map(|reference| reference.target),
        );
        needs.sort();
        needs.dedup();
        needs
    }
}

impl Template {
    /// Reads and checks a template, in the order and the words of CloudFormation.
    pub fn parse(body: &str) -> Result<Template, ApiError> {
        let document: Value = serde_json::from_str(body).map_err(|error| {
            ApiError::template(format!(
                "JSON not well-formed. (line {}, column {})",
                error.line(),
                error.column()
            ))
        })?;
        let Value::Object(document) = document else {
            return Err(ApiError::template("unsupported structure."));
        };
        let known = [
            "AWSTemplateFormatVersion",
            "Description",
            "Metadata",
            "Transform",
            "Parameters",
            "Rules",
            "Mappings",
            "Conditions",
            "Resources",
            "Outputs",
            "Hooks",
        ];
        let unknown: Vec<&str> = document
            .keys()
            .map(String::as_str)
            .filter(|key| !known.contains(key))
            .collect();
        if !unknown.is_empty() {
            return Err(ApiError::validation(format!(
                "Invalid template property or properties [{}]",
                unknown.join(", ")
            )));
        }
        let template = Template {
            body: body.to_owned(),
            description: text(document.get("Description")),
            metadata: document.get("Metadata").cloned(),
            transforms: names(document.get("Transform")),
            parameters: entries(&document, "Parameters")?
                .into_iter()
                .map(|(name, entry)| Ok((name.clone(), parameter(&name, &entry)?)))
                .collect::<Result<_, ApiError>>()?,
            mappings: document.get("Mappings").cloned().unwrap_or(Value::Null),
            conditions: entries(&document, "Conditions")?.into_iter().collect(),
            resources: entries(&document, "Resources")?
                .into_iter()
                .map(|(name, entry)| Ok((name.clone(), definition(&name, &entry)?)))
                .collect::<Result<_, ApiError>>()?,
            outputs: entries(&document, "Outputs")?
                .into_iter()
                .map(|(name, entry)| Ok((name.clone(), output(&name, &entry)?)))
                .collect::<Result<_, ApiError>>()?,
        };
        check::check(&template)?;
        Ok(template)
    }

    /// Logical ids so that everything stands behind what it needs; the order of ties is fixed.
    pub fn order(&self) -> Vec<String> {
        let mut placed: Vec<String> = Vec::new();
        let mut left: BTreeMap<&str, Vec<String>> = self
            .resources
            .iter()
            .map(|(name, definition)| (name.as_str(), definition.needs()))
            .collect();
        while !left.is_empty() {
            let ready: Vec<&str> = left
                .iter()
                .filter(|(_, needs)| needs.iter().all(|need| !left.contains_key(need.as_str())))
                .map(|(name, _)| *name)
                .collect();
            if ready.is_empty() {
                break;
            }
            for name in ready {
                left.remove(name);
                placed.push(name.to_owned());
            }
        }
        placed
    }

    /// The capabilities a caller must acknowledge, with the resource types that ask for them.
    pub fn capabilities(&self) -> (Vec<&'static str>, Vec<String>) {
        const NAMES: [(&str, &str); 6] = [
            ("AWS::IAM::Role", "RoleName"),
            ("AWS::IAM::User", "UserName"),
            ("AWS::IAM::Group", "GroupName"),
            ("AWS::IAM::ManagedPolicy", "ManagedPolicyName"),
            ("AWS::IAM::InstanceProfile", "InstanceProfileName"),
            ("AWS::IAM::Policy", ""),
        ];
        let mut kinds: Vec<String> = Vec::new();
        let mut is_named = false;
        for definition in self.resources.values() {
            if let Some((kind, name)) = NAMES.iter().find(|(kind, _)| *kind == definition.kind) {
                kinds.push((*kind).to_owned());
                is_named |= !name.is_empty() && definition.properties.get(name).is_some();
            }
        }
        kinds.sort();
        kinds.dedup();
        let mut capabilities = Vec::new();
        if is_named {
            capabilities.push("CAPABILITY_NAMED_IAM");
        } else if !kinds.is_empty() {
            capabilities.push("CAPABILITY_IAM");
        }
        if !self.transforms.is_empty() {
            capabilities.push("CAPABILITY_AUTO_EXPAND");
        }
        (capabilities, kinds)
    }
}

fn entries(document: &Map<String, Value>, section: &str) -> Result<Map<String, Value>, ApiError> {
    match document.get(section) {
        None => Ok(Map::new()),
        Some(Value::Object(entries)) => Ok(entries.clone()),
        Some(_) => Err(ApiError::template(format!(
            "Every {section} member must be an object."
        ))),
    }
}

fn parameter(name: &str, entry: &Value) -> Result<ParameterRule, ApiError> {
    let Some(kind) = text(entry.get("Type")) else {
        return Err(ApiError::template(format!(
            "Every Parameters object must contain a Type member. ({name})"
        )));
    };
    Ok(ParameterRule {
        kind,
        default: entry.get("Default").map(eval::scalar),
        no_echo: entry
            .get("NoEcho")
            .is_some_and(|value| eval::scalar(value) == "true"),
        description: text(entry.get("Description")),
        allowed: entry
            .get("AllowedValues")
            .and_then(Value::as_array)
            .map(|values| values.iter().map(eval::scalar).collect())
            .unwrap_or_default(),
    })
}

fn definition(name: &str, entry: &Value) -> Result<Definition, ApiError> {
    let Value::Object(fields) = entry else {
        return Err(ApiError::template(format!(
            "[/Resources/{name}] resource definition is malformed"
        )));
    };
    let Some(kind) = text(fields.get("Type")) else {
        return Err(ApiError::template(format!(
            "[/Resources/{name}] Every Resources object must contain a Type member."
        )));
    };
    let known = [
        "Type",
        "Properties",
        "Metadata",
        "Condition",
        "DependsOn",
        "DeletionPolicy",
        "UpdateReplacePolicy",
        "CreationPolicy",
        "UpdatePolicy",
    ];
    if let Some(unknown) = fields.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(ApiError::validation(format!(
            "Invalid template resource property '{unknown}'"
        )));
    }
    for key in ["DeletionPolicy", "UpdateReplacePolicy"] {
        let allowed: &[&str] = match key {
            "DeletionPolicy" => &["Delete", "Retain", "Snapshot", "RetainExceptOnCreate"],
            _ => &["Delete", "Retain", "Snapshot"],
        };
        let value = fields.get(key).map(eval::scalar);
        if let Some(value) = value.filter(|value| !allowed.contains(&value.as_str())) {
            return Err(ApiError::template(format!(
                "Unrecognized {key} {value} for resource {name}"
            )));
        }
    }
    Ok(Definition {
        kind,
        properties: fields
            .get("Properties")
            .cloned()
            .unwrap_or_else(|| Value::Object(Map::new())),
        metadata: fields.get("Metadata").cloned(),
        condition: text(fields.get("Condition")),
        depends_on: names(fields.get("DependsOn")),
        deletion_policy: text(fields.get("DeletionPolicy")),
        update_replace_policy: text(fields.get("UpdateReplacePolicy")),
    })
}

fn output(name: &str, entry: &Value) -> Result<OutputRule, ApiError> {
    let Some(value) = entry.get("Value") else {
        return Err(ApiError::template(format!(
            "Output {name} must contain a Value member."
        )));
    };
    Ok(OutputRule {
        value: value.clone(),
        description: text(entry.get("Description")),
        condition: text(entry.get("Condition")),
        export: entry
            .get("Export")
            .and_then(|export| export.get("Name"))
            .cloned(),
    })
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

/// One name or a list of names.
fn names(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
