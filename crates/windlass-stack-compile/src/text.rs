//! Values of the config as CloudFormation writes them: texts, lists, free JSON, environments.

use std::convert::Infallible;

use serde_json::{Value, json};
use windlass_stack_config::model::common::EnvironmentVariable;
use windlass_stack_config::{Data, DataMap, Runtime, Text};

use crate::cf;
use crate::compiled::{Output, SecretUse};
use crate::name::logical;
use crate::stack::Stack;

/// How another resource is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tie {
    /// By `Ref` and `Fn::GetAtt`: CloudFormation makes the other one first.
    Firm,
    /// By its name where that is known beforehand, so that two resources may know each other:
    /// a function that a bucket starts and that reads from this bucket.
    Loose,
}

impl Stack<'_> {
    /// A text; what it mentions is made first.
    pub fn text(&mut self, text: &Text) -> Value {
        self.tied(text, Tie::Firm)
    }

    /// A text that makes nothing wait.
    pub fn loose(&mut self, text: &Text) -> Value {
        self.tied(text, Tie::Loose)
    }

    pub fn maybe(&mut self, text: Option<&Text>) -> Option<Value> {
        text.map(|text| self.text(text))
    }

    pub fn texts(&mut self, texts: &[Text]) -> Vec<Value> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    pub fn tied(&mut self, text: &Text, tie: Tie) -> Value {
        match text {
            Text::Literal(text) => Value::String(text.clone()),
            Text::Runtime(runtime) => self.runtime(runtime, tie),
        }
    }

    /// A text that must be known before the deploy.
    pub fn known<'t>(&mut self, text: &'t Text, property: &str) -> Option<&'t str> {
        let literal = text.literal();
        if literal.is_none() {
            self.refuse(
                property,
                "this must be known before the deploy",
                Some("write it out, or use a directive that is resolved at once, such as $Format or $Stage"),
            );
        }
        literal
    }

    /// Free JSON with its runtime values filled in.
    pub fn data(&mut self, data: &Data, tie: Tie) -> Value {
        let filled = data.to_json::<Infallible>(&mut |runtime| Ok(self.runtime(runtime, tie)));
        match filled {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    pub fn data_map(&mut self, data: &DataMap, tie: Tie) -> Value {
        self.data(&Data::Map(data.clone()), tie)
    }

    /// Free JSON as one text. Runtime values keep their place in it.
    pub fn json_text(&mut self, data: &Data, tie: Tie) -> Value {
        expressions_text(&self.data(data, tie))
    }

    /// Environment variables, name → value.
    pub fn environment(&mut self, variables: &[EnvironmentVariable]) -> Vec<(String, Value)> {
        variables
            .iter()
            .map(|variable| {
                let value = self.loose(&variable.value.to_text());
                (variable.name.clone(), value)
            })
            .collect()
    }

    fn runtime(&mut self, runtime: &Runtime, tie: Tie) -> Value {
        match runtime {
            Runtime::ResourceParam { resource, param } => self.param(resource, param, tie),
            Runtime::CfResourceParam {
                logical_id,
                attribute,
            } => {
                let value = cf::attribute(logical_id, attribute);
                let output = Output::Attribute {
                    logical_id: logical_id.clone(),
                    attribute: attribute.clone(),
                };
                self.outputs
                    .entry(logical(&[logical_id, attribute]))
                    .or_insert((value.clone(), output));
                value
            }
            Runtime::Secret { name, key } => {
                self.secrets.insert(SecretUse {
                    name: name.clone(),
                    key: key.clone(),
                });
                let version = self.facts.secret_versions.get(name).cloned();
                if let Some(version) = &version {
                    let output = Output::SecretVersion {
                        secret: name.clone(),
                    };
                    self.outputs
                        .entry(logical(&[name, "CurrentSecretVersionId"]))
                        .or_insert((json!(version), output));
                }
                let key = key.as_deref().unwrap_or_default();
                let version = version.unwrap_or_default();
                Value::String(format!(
                    "{{{{resolve:secretsmanager:{name}:SecretString:{key}::{version}}}}}"
                ))
            }
            Runtime::SsmParam { name, version } => {
                self.parameters.insert(name.clone());
                let service = match self.facts.secure_parameters.contains(name) {
                    true => "ssm-secure",
                    false => "ssm",
                };
                let version = version
                    .map(|version| format!(":{version}"))
                    .unwrap_or_default();
                Value::String(format!("{{{{resolve:{service}:{name}{version}}}}}"))
            }
            Runtime::CfFormat { parts } => {
                let parts: Vec<Value> = parts.iter().map(|part| self.tied(part, tie)).collect();
                cf::join(parts)
            }
            Runtime::CfStackOutput { stack, output } => {
                json!({ "Fn::ImportValue": format!("{stack}-{output}") })
            }
        }
    }
}

/// JSON with expressions of CloudFormation in it as one text.
pub(crate) fn expressions_text(value: &Value) -> Value {
    let mut parts = Vec::new();
    write_json(&windlass_stack_config::sorted(value.clone()), &mut parts);
    cf::join(parts)
}

/// JSON in pieces: expressions of CloudFormation stay apart, between quotation marks.
fn write_json(value: &Value, parts: &mut Vec<Value>) {
    let mut text = |text: String| parts.push(Value::String(text));
    match value {
        Value::Object(entries) if is_expression(entries) => {
            text("\"".to_owned());
            parts.push(value.clone());
            parts.push(Value::String("\"".to_owned()));
        }
        Value::Object(entries) => {
            text("{".to_owned());
            for (index, (key, value)) in entries.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                parts.push(Value::String(format!(
                    "{comma}{}:",
                    Value::String(key.clone())
                )));
                write_json(value, parts);
            }
            parts.push(Value::String("}".to_owned()));
        }
        Value::Array(items) => {
            text("[".to_owned());
            for (index, value) in items.iter().enumerate() {
                if index > 0 {
                    parts.push(Value::String(",".to_owned()));
                }
                write_json(value, parts);
            }
            parts.push(Value::String("]".to_owned()));
        }
        other => text(other.to_string()),
    }
}

fn is_expression(entries: &serde_json::Map<String, Value>) -> bool {
    entries.len() == 1
        && entries
            .keys()
            .all(|key| key == "Ref" || key.starts_with("Fn::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_expressions_apart() {
        let mut parts = Vec::new();
        let value = json!({"a": [1, {"Ref": "X"}], "b\"": null});
        write_json(&value, &mut parts);
        assert_eq!(
            cf::join(parts),
            json!({"Fn::Join": ["", ["{\"a\":[1,\"", {"Ref": "X"}, "\"],\"b\\\"\":null}"]]})
        );
    }
}
