//! Values of intrinsic functions and conditions.
//!
//! The evaluator says what the names mean (`Names`): while a change set is created some are not
//! known yet, while a stack is built all of them are.

use std::cell::Cell;
use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::{Map, Value};

use super::Template;
use super::references::{SubPart, get_att, sub_parts};

/// Written where a value is known only after the change.
pub const KNOWN_AFTER_APPLY: &str = "{{changeSet:KNOWN_AFTER_APPLY}}";

/// What the names of a template mean to the evaluator.
pub trait Names {
    /// A parameter, a pseudo parameter or a resource's `Ref`.
    fn reference(&self, name: &str) -> Option<Value>;
    fn attribute(&self, name: &str, attribute: &str) -> Option<Value>;
    fn import(&self, export: &str) -> Option<String>;
    fn region(&self) -> &str;
}

/// One evaluation: a template and what its names mean.
pub struct Evaluation<'a> {
    template: &'a Template,
    names: &'a dyn Names,
    depth: Cell<usize>,
}

/// Conditions may name each other; more than this is a circle.
const DEPTH_LIMIT: usize = 64;

impl<'a> Evaluation<'a> {
    pub fn new(template: &'a Template, names: &'a dyn Names) -> Evaluation<'a> {
        Evaluation {
            template,
            names,
            depth: Cell::new(0),
        }
    }

    /// The value, or why it has none.
    pub fn value(&self, value: &Value) -> Result<Value, String> {
        Ok(self.optional(value)?.unwrap_or(Value::Null))
    }

    pub fn text(&self, value: &Value) -> Result<String, String> {
        Ok(scalar(&self.value(value)?))
    }

    /// `true` when there is no condition or it holds.
    pub fn holds(&self, condition: Option<&String>) -> Result<bool, String> {
        match condition {
            Some(name) => self.named_condition(name),
            None => Ok(true),
        }
    }

    /// `None` is AWS::NoValue: the property is as if it were not written.
    fn optional(&self, value: &Value) -> Result<Option<Value>, String> {
        match value {
            Value::Array(values) => {
                let mut kept = Vec::new();
                for value in values {
                    kept.extend(self.optional(value)?);
                }
                Ok(Some(Value::Array(kept)))
            }
            Value::Object(fields) => {
                if let Some((name, argument)) = function(fields) {
                    return self.call(name, argument);
                }
                let mut kept = Map::new();
                for (name, value) in fields {
                    if let Some(value) = self.optional(value)? {
                        kept.insert(name.clone(), value);
                    }
                }
                Ok(Some(Value::Object(kept)))
            }
            plain => Ok(Some(plain.clone())),
        }
    }

    fn call(&self, name: &str, argument: &Value) -> Result<Option<Value>, String> {
        let value = match name {
            "Ref" => {
                let target = argument.as_str().unwrap_or_default();
                if target == "AWS::NoValue" {
                    return Ok(None);
                }
                self.names
                    .reference(target)
                    .ok_or_else(|| format!("Unable to resolve Ref {target}"))?
            }
            "Fn::GetAtt" => self.get_att(argument)?,
            "Fn::If" => return self.choose(argument),
            "Fn::Sub" => Value::String(self.sub(argument)?),
            "Fn::Join" => Value::String(self.join(argument)?),
            "Fn::Select" => self.select(argument)?,
            "Fn::Split" => self.split(argument)?,
            "Fn::FindInMap" => self.find_in_map(argument)?,
            "Fn::Base64" => {
                let text = self.text(argument)?;
                Value::String(base64::engine::general_purpose::STANDARD.encode(text))
            }
            "Fn::GetAZs" => self.zones(argument)?,
            "Fn::Cidr" => self.cidr(argument)?,
            "Fn::ImportValue" => {
                let export = self.text(argument)?;
                let found = self.names.import(&export);
                Value::String(found.ok_or_else(|| format!("No export named {export} found."))?)
            }
            "Fn::Equals" | "Fn::And" | "Fn::Or" | "Fn::Not" | "Condition" => {
                Value::Bool(self.condition(name, argument)?)
            }
            other => return Err(format!("Template error: unsupported function {other}")),
        };
        Ok(Some(value))
    }

    fn get_att(&self, argument: &Value) -> Result<Value, String> {
        let (Some(target), Some(attribute)) = get_att(argument) else {
            return Err(
                "Template error: every Fn::GetAtt object requires two non-empty parameters".into(),
            );
        };
        self.names
            .attribute(&target, &attribute)
            .ok_or_else(|| format!("Unable to resolve Fn::GetAtt {target}.{attribute}"))
    }

    fn choose(&self, argument: &Value) -> Result<Option<Value>, String> {
        let [Value::String(condition), yes, no] =
            argument.as_array().map(Vec::as_slice).unwrap_or_default()
        else {
            return Err(
                "Template error: Fn::If requires a list argument with three elements".into(),
            );
        };
        self.optional(if self.named_condition(condition)? {
            yes
        } else {
            no
        })
    }

    fn sub(&self, argument: &Value) -> Result<String, String> {
        let (text, variables) = match argument {
            Value::String(text) => (text.as_str(), None),
            Value::Array(parts) => (
                parts.first().and_then(Value::as_str).unwrap_or_default(),
                parts.get(1).and_then(Value::as_object),
            ),
            _ => return Err("Template error: Fn::Sub needs a text".into()),
        };
        let mut result = String::new();
        for part in sub_parts(text) {
            match part {
                SubPart::Text(text) => result.push_str(text),
                SubPart::Literal(name) => result.push_str(&format!("${{{name}}}")),
                SubPart::Variable(name) => {
                    if let Some(value) = variables.and_then(|variables| variables.get(name)) {
                        result.push_str(&self.text(value)?);
                        continue;
                    }
                    let value = match name.split_once('.') {
                        Some((target, attribute)) => self.names.attribute(target, attribute),
                        None => self.names.reference(name),
                    };
                    let value = value.ok_or_else(|| format!("Unable to resolve ${{{name}}}"))?;
                    result.push_str(&scalar(&value));
                }
            }
        }
        Ok(result)
    }

    fn join(&self, argument: &Value) -> Result<String, String> {
        let [separator, values] = self.pair("Fn::Join", argument)?;
        let Value::Array(values) = values else {
            return Err("Template error: every Fn::Join object requires a list of values".into());
        };
        let texts: Vec<String> = values.iter().map(scalar).collect();
        Ok(texts.join(&scalar(&separator)))
    }

    fn select(&self, argument: &Value) -> Result<Value, String> {
        let [index, values] = self.pair("Fn::Select", argument)?;
        let index = scalar(&index)
            .parse::<usize>()
            .map_err(|_| "Template error: Fn::Select requires a number".to_owned())?;
        if values.as_str() == Some(KNOWN_AFTER_APPLY) {
            return Ok(values);
        }
        values.get(index).cloned().ok_or_else(|| {
            format!("Template error: Fn::Select cannot select nonexistent value at index {index}")
        })
    }

    fn split(&self, argument: &Value) -> Result<Value, String> {
        let [separator, text] = self.pair("Fn::Split", argument)?;
        let (separator, text) = (scalar(&separator), scalar(&text));
        if separator.is_empty() {
            return Err("Template error: Fn::Split needs a delimiter".into());
        }
        if text.contains(KNOWN_AFTER_APPLY) {
            return Ok(Value::String(KNOWN_AFTER_APPLY.to_owned()));
        }
        Ok(text.split(separator.as_str()).map(Value::from).collect())
    }

    fn find_in_map(&self, argument: &Value) -> Result<Value, String> {
        let keys = argument.as_array().map(Vec::as_slice).unwrap_or_default();
        let [map, first, second, ..] = keys else {
            return Err("Template error: Fn::FindInMap requires three parameters".into());
        };
        let (map, first, second) = (self.text(map)?, self.text(first)?, self.text(second)?);
        self.template
            .mappings
            .get(&map)
            .and_then(|map| map.get(&first))
            .and_then(|row| row.get(&second))
            .cloned()
            .ok_or_else(|| {
                format!("Template error: Unable to get mapping for {map}::{first}::{second}")
            })
    }

    fn zones(&self, argument: &Value) -> Result<Value, String> {
        let asked = self.text(argument)?;
        let region = if asked.is_empty() {
            self.names.region().to_owned()
        } else {
            asked
        };
        Ok(["a", "b", "c"]
            .iter()
            .map(|zone| Value::from(format!("{region}{zone}")))
            .collect())
    }

    /// IPv4 only: `[block, count, host bits]`.
    fn cidr(&self, argument: &Value) -> Result<Value, String> {
        let wrong =
            || "Template error: Fn::Cidr needs an IPv4 block, a count and host bits".to_owned();
        let values = self.value(argument)?;
        let part = |index: usize| values.get(index).map(scalar).ok_or_else(wrong);
        let block = part(0)?;
        let count: u64 = part(1)?.parse().map_err(|_| wrong())?;
        let bits: u32 = part(2)?.parse().map_err(|_| wrong())?;
        let (address, _) = block.split_once('/').ok_or_else(wrong)?;
        let base = u64::from(u32::from(
            address.parse::<std::net::Ipv4Addr>().map_err(|_| wrong())?,
        ));
        if bits == 0 || bits > 31 || count > 256 {
            return Err(wrong());
        }
        (0..count)
            .map(|index| {
                let start = u32::try_from(base + (index << bits)).map_err(|_| wrong())?;
                let address = std::net::Ipv4Addr::from(start);
                Ok(Value::from(format!("{address}/{}", 32 - bits)))
            })
            .collect()
    }

    fn pair(&self, function: &str, argument: &Value) -> Result<[Value; 2], String> {
        match argument.as_array().map(Vec::as_slice).unwrap_or_default() {
            [first, second] => Ok([self.value(first)?, self.value(second)?]),
            _ => Err(format!(
                "Template error: every {function} object requires two parameters"
            )),
        }
    }

    fn named_condition(&self, name: &str) -> Result<bool, String> {
        let Some(condition) = self.template.conditions.get(name) else {
            return Err(format!("Template error: unresolved condition {name}"));
        };
        if self.depth.get() > DEPTH_LIMIT {
            return Err(format!("Template error: condition {name} refers to itself"));
        }
        self.depth.set(self.depth.get() + 1);
        let result = self.value(condition);
        self.depth.set(self.depth.get() - 1);
        Ok(result? == Value::Bool(true))
    }

    fn condition(&self, name: &str, argument: &Value) -> Result<bool, String> {
        if name == "Condition" {
            return self.named_condition(argument.as_str().unwrap_or_default());
        }
        let values = self.value(argument)?;
        let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
        let truths = || values.iter().map(|value| *value == Value::Bool(true));
        match (name, values) {
            ("Fn::Equals", [left, right]) => Ok(scalar(left) == scalar(right)),
            ("Fn::Not", [one]) => Ok(*one != Value::Bool(true)),
            ("Fn::And", [_, _, ..]) => Ok(truths().all(|truth| truth)),
            ("Fn::Or", [_, _, ..]) => Ok(truths().any(|truth| truth)),
            _ => Err(format!(
                "Template error: {name} has the wrong number of operands"
            )),
        }
    }
}

/// Names for conditions, which see parameters only.
pub struct ParametersOnly<'a> {
    pub parameters: &'a BTreeMap<String, Value>,
    pub pseudo: &'a BTreeMap<&'static str, Value>,
}

impl Names for ParametersOnly<'_> {
    fn reference(&self, name: &str) -> Option<Value> {
        self.parameters
            .get(name)
            .or_else(|| self.pseudo.get(name))
            .cloned()
    }

    fn attribute(&self, _: &str, _: &str) -> Option<Value> {
        None
    }

    fn import(&self, _: &str) -> Option<String> {
        None
    }

    fn region(&self) -> &str {
        self.pseudo
            .get("AWS::Region")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// The single key of an intrinsic call.
fn function(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    if fields.len() != 1 {
        return None;
    }
    let (name, argument) = fields.iter().next()?;
    // `Condition` is a call only where conditions are written: its argument is a plain name. IAM
    // statements have a `Condition` too, whose argument is an object.
    let is_call =
        name == "Ref" || name.starts_with("Fn::") || (name == "Condition" && argument.is_string());
    is_call.then_some((name.as_str(), argument))
}

/// The text CloudFormation makes of a plain value.
pub fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(values) => values.iter().map(scalar).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
