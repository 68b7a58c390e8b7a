//! What the names of a template mean while a stack is built: parameters, pseudo parameters, resources.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Stack, Target};
use crate::env::Env;
use crate::template::eval::{Evaluation, Names, ParametersOnly};
use crate::types;

/// The names of a stack as it is now.
pub struct Live<'a> {
    pub stack: &'a Stack,
    pub target: &'a Target,
    pub env: &'a Env,
    pub pseudo: BTreeMap<&'static str, Value>,
}

impl<'a> Live<'a> {
    pub fn new(stack: &'a Stack, target: &'a Target, env: &'a Env) -> Live<'a> {
        Live {
            stack,
            target,
            env,
            pseudo: pseudo(stack, target),
        }
    }
}

impl Names for Live<'_> {
    fn reference(&self, name: &str) -> Option<Value> {
        if let Some(parameter) = self.target.parameters.get(name) {
            return Some(parameter.value.clone());
        }
        if let Some(value) = self.pseudo.get(name) {
            return Some(value.clone());
        }
        let resource = self.stack.resources.get(name)?;
        Some(Value::from(resource.physical_id()?))
    }

    fn attribute(&self, name: &str, attribute: &str) -> Option<Value> {
        let resource = self.stack.resources.get(name)?;
        Some(types::attribute(
            &resource.kind,
            resource.physical.as_ref()?,
            &resource.properties,
            &self.stack.region,
            attribute,
        ))
    }

    fn import(&self, export: &str) -> Option<String> {
        self.env.export(&self.stack.region, export)
    }

    fn region(&self) -> &str {
        &self.stack.region
    }
}

pub fn pseudo(stack: &Stack, target: &Target) -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("AWS::AccountId", Value::from(stack.account.as_str())),
        (
            "AWS::NotificationARNs",
            target
                .notifications
                .iter()
                .cloned()
                .map(Value::from)
                .collect(),
        ),
        ("AWS::Partition", Value::from("aws")),
        ("AWS::Region", Value::from(stack.region.as_str())),
        ("AWS::StackId", Value::from(stack.id.as_str())),
        ("AWS::StackName", Value::from(stack.name.as_str())),
        ("AWS::URLSuffix", Value::from("amazonaws.com")),
    ])
}

/// The logical ids whose condition holds, each behind what it needs.
pub fn active(stack: &Stack, target: &Target) -> Result<Vec<String>, String> {
    let parameters: BTreeMap<String, Value> = target
        .parameters
        .iter()
        .map(|(name, parameter)| (name.clone(), parameter.value.clone()))
        .collect();
    let pseudo = pseudo(stack, target);
    let names = ParametersOnly {
        parameters: &parameters,
        pseudo: &pseudo,
    };
    let evaluation = Evaluation::new(&target.template, &names);
    let mut ids = Vec::new();
    for id in target.template.order() {
        let definition = target.template.resources.get(&id);
        let condition = definition.and_then(|definition| definition.condition.as_ref());
        if evaluation.holds(condition)? {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The exports of other stacks that a target reads.
pub fn imports(stack: &Stack, target: &Target, env: &Env) -> BTreeSet<String> {
    let live = Live::new(stack, target, env);
    let evaluation = Evaluation::new(&target.template, &live);
    let mut found = BTreeSet::new();
    let values = target
        .template
        .resources
        .values()
        .map(|definition| &definition.properties)
        .chain(target.template.outputs.values().map(|output| &output.value));
    for value in values {
        collect(value, &evaluation, &mut found);
    }
    found
}

fn collect(value: &Value, evaluation: &Evaluation<'_>, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect(value, evaluation, found)),
        Value::Object(fields) => {
            if let Some(name) = fields.get("Fn::ImportValue")
                && let Ok(name) = evaluation.text(name)
            {
                found.insert(name);
            }
            fields
                .values()
                .for_each(|value| collect(value, evaluation, found));
        }
        _ => {}
    }
}
