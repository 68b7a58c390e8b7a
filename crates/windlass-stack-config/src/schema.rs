//! The JSON Schema of a config: for editors, and, with marks of our own, for the checks.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::model::Config;
use crate::tagged::REJECTED;
use crate::value::TAKES_RUNTIME;

/// The schema the checks read: with marks of our own.
pub(crate) static MARKED: LazyLock<Value> = LazyLock::new(|| {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Config>().to_value();
    tidy(&mut schema);
    sorted(schema)
});

/// The JSON Schema of a config, for editors. Everything but a `type` may be a directive.
pub fn schema() -> Value {
    let mut schema = MARKED.clone();
    for_editors(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), json!("Stack config"));
        let definitions = object
            .entry("$defs")
            .or_insert_with(|| Value::Object(Map::new()));
        definitions["Directive"] = json!({
            "description": "A directive, such as $Stage(), or a text with directives in it.",
            "type": "string",
            "pattern": "\\$[A-Za-z][A-Za-z0-9]*\\(",
        });
    }
    sorted(schema)
}

/// Takes away what Rust's types left behind: nulls of optional fields, formats of numbers.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.remove("format");
            object.remove("$schema");
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(alternatives)) = object.get_mut("anyOf") {
                alternatives.retain(|alternative| *alternative != json!({ "type": "null" }));
                if let [only] = alternatives.as_mut_slice() {
                    let only = only.take();
                    object.remove("anyOf");
                    if let Value::Object(only) = only {
                        for (key, value) in only {
                            object.entry(key).or_insert(value);
                        }
                    }
                }
            }
            for (key, value) in object {
                match (key.as_str(), value) {
                    // Names of properties stand here, not keywords.
                    ("properties" | "$defs", Value::Object(named)) => {
                        named.values_mut().for_each(tidy);
                    }
                    ("default" | "enum" | "const", _) => {}
                    (_, value) => tidy(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn for_editors(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    object.remove(TAKES_RUNTIME);
    object.remove(REJECTED);
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("$defs", Value::Object(definitions)) => {
                definitions.values_mut().for_each(for_editors);
            }
            ("properties", Value::Object(properties)) => {
                for property in properties.values_mut() {
                    for_editors(property);
                    or_directive(property);
                }
            }
            ("items" | "additionalProperties", value) => {
                for_editors(value);
                or_directive(value);
            }
            ("oneOf" | "anyOf" | "allOf", Value::Array(alternatives)) => {
                alternatives.iter_mut().for_each(for_editors);
            }
            _ => {}
        }
    }
}

/// Lets a directive stand where something else than a text is expected.
fn or_directive(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    let takes_any_text = match object.get("type") {
        Some(Value::String(name)) => name == "string" && !object.contains_key("pattern"),
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => false,
    } && !object.contains_key("enum");
    let is_tag = object.contains_key("const");
    if takes_any_text || is_tag || object.is_empty() {
        return;
    }
    let description = object.remove("description");
    let default = object.remove("default");
    let mut either = json!({ "anyOf": [schema.take(), { "$ref": "#/$defs/Directive" }] });
    if let Some(description) = description {
        either["description"] = description;
    }
    if let Some(default) = default {
        either["default"] = default;
    }
    *schema = either;
}

/// The same with every object's keys in order, whatever map is underneath.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
