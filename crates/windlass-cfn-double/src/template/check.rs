//! The rules a template breaks before anything is created, in CloudFormation's words.

use super::{RESOURCE_LIMIT, Template, references};
use crate::error::ApiError;
use crate::types;

const PSEUDO: [&str; 8] = [
    "AWS::AccountId",
    "AWS::NoValue",
    "AWS::NotificationARNs",
    "AWS::Partition",
    "AWS::Region",
    "AWS::StackId",
    "AWS::StackName",
    "AWS::URLSuffix",
];
const PARAMETER_LIMIT: usize = 200;
const OUTPUT_LIMIT: usize = 200;

pub fn check(template: &Template) -> Result<(), ApiError> {
    counts(template)?;
    names(template)?;
    conditions(template)?;
    resource_references(template)?;
    output_references(template)?;
    circles(template)
}

fn counts(template: &Template) -> Result<(), ApiError> {
    if template.resources.is_empty() {
        return Err(ApiError::template(
            "At least one Resources member must be defined.",
        ));
    }
    for (what, count, limit) in [
        ("resources", template.resources.len(), RESOURCE_LIMIT),
        ("parameters", template.parameters.len(), PARAMETER_LIMIT),
        ("outputs", template.outputs.len(), OUTPUT_LIMIT),
    ] {
        if count > limit {
            return Err(ApiError::template(format!(
                "Number of {what}, {count}, is greater than maximum allowed, {limit}"
            )));
        }
    }
    Ok(())
}

fn names(template: &Template) -> Result<(), ApiError> {
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric()) && !name.is_empty();
    for (what, name) in template
        .resources
        .keys()
        .map(|name| ("Resource", name))
        .chain(template.outputs.keys().map(|name| ("Output", name)))
        .chain(template.parameters.keys().map(|name| ("Parameter", name)))
    {
        if !is_plain(name) {
            return Err(ApiError::template(format!(
                "{what} name {name} is non alphanumeric."
            )));
        }
    }
    let unknown: Vec<&str> = template
        .resources
        .values()
        .map(|definition| definition.kind.as_str())
        .filter(|kind| !types::is_plausible(kind))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(ApiError::template(format!(
        "Unrecognized resource types: [{}]",
        unknown.join(", ")
    )))
}

fn conditions(template: &Template) -> Result<(), ApiError> {
    let used = template
        .resources
        .values()
        .filter_map(|definition| definition.condition.as_ref())
        .map(|name| (name, "Resources"))
        .chain(
            template
                .outputs
                .values()
                .filter_map(|output| output.condition.as_ref())
                .map(|name| (name, "Outputs")),
        );
    for (name, block) in used {
        if !template.conditions.contains_key(name) {
            return Err(ApiError::template(format!(
                "Unresolved condition dependency {name} in the {block} block of the template"
            )));
        }
    }
    Ok(())
}

fn is_known(template: &Template, name: &str) -> bool {
    template.resources.contains_key(name)
        || template.parameters.contains_key(name)
        || PSEUDO.contains(&name)
}

fn resource_references(template: &Template) -> Result<(), ApiError> {
    let mut unresolved: Vec<String> = Vec::new();
    for definition in template.resources.values() {
        unresolved.extend(
            definition
                .depends_on
                .iter()
                .filter(|name| !template.resources.contains_key(*name))
                .cloned(),
        );
        for reference in references(&definition.properties) {
            if !is_known(template, &reference.target) {
                unresolved.push(reference.target);
            } else if let Some(attribute) = &reference.attribute {
                check_attribute(template, &reference.target, attribute)?;
            }
        }
    }
    unresolved.sort();
    unresolved.dedup();
    if unresolved.is_empty() {
        return Ok(());
    }
    Err(ApiError::template(format!(
        "Unresolved resource dependencies [{}] in the Resources block of the template",
        unresolved.join(", ")
    )))
}

fn output_references(template: &Template) -> Result<(), ApiError> {
    let mut unresolved: Vec<String> = Vec::new();
    for output in template.outputs.values() {
        for reference in references(&output.value) {
            if !is_known(template, &reference.target) {
                unresolved.push(reference.target);
            } else if let Some(attribute) = &reference.attribute {
                check_attribute(template, &reference.target, attribute)?;
            }
        }
    }
    unresolved.sort();
    unresolved.dedup();
    if unresolved.is_empty() {
        return Ok(());
    }
    Err(ApiError::template(format!(
        "Unresolved resource dependencies [{}] in the Outputs block of the template",
        unresolved.join(", ")
    )))
}

fn check_attribute(template: &Template, target: &str, attribute: &str) -> Result<(), ApiError> {
    let Some(definition) = template.resources.get(target) else {
        return Ok(());
    };
    if types::has_attribute(&definition.kind, attribute) {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "Template error: resource {target} does not support attribute type {attribute} in Fn::GetAtt"
    )))
}

fn circles(template: &Template) -> Result<(), ApiError> {
    let placed = template.order();
    let stuck: Vec<&str> = template
        .resources
        .keys()
        .map(String::as_str)
        .filter(|name| !placed.iter().any(|done| done == name))
        .collect();
    if stuck.is_empty() {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "Circular dependency between resources: [{}]",
        stuck.join(", ")
    )))
}
