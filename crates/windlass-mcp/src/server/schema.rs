//! Output schemas as clients see them: the operation's output inside its envelope, or the
//! envelope's failure.
//!
//! Clients check structured content against the tool's output schema even when the result is
//! an error, so the schema has to allow for both.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use windlass_engine::{envelope::Envelope, operation::OperationInfo};

/// The input schema of a tool.
pub fn input(info: &OperationInfo) -> Arc<JsonObject> {
    let mut schema = object(&info.input_schema);
    // Required by the protocol, and true of every operation.
    schema.entry("type").or_insert_with(|| json!("object"));
    Arc::new(schema)
}

/// The output schema of a tool.
pub fn output(info: &OperationInfo) -> Arc<JsonObject> {
    let mut output = object(&info.output_schema);
    // References are relative to the root, so definitions have to stay there.
    let definitions = output.remove("$defs");
    let dialect = output.remove("$schema");
    let output = Value::Object(output);
    let (success, failure) = match info.envelope {
        Envelope::Plain => (
            output,
            members(&[("ok", json!({ "const": false })), ("error", any_object())]),
        ),
        Envelope::Pipeline => (output, members(&[("error", any_object())])),
        Envelope::Stack => (
            members(&[
                ("ok", json!({ "const": true })),
                ("code", text()),
                ("message", text()),
                ("data", output),
            ]),
            members(&[
                ("ok", json!({ "const": false })),
                ("code", text()),
                ("message", text()),
            ]),
        ),
        Envelope::Pack => (
            members(&[
                ("ok", json!({ "const": true })),
                ("command", text()),
                ("data", output),
            ]),
            members(&[
                ("ok", json!({ "const": false })),
                ("errors", json!({ "type": "array" })),
            ]),
        ),
        Envelope::Launch => (
            json!({ "allOf": [members(&[("ok", json!({ "const": true }))]), output] }),
            members(&[("ok", json!({ "const": false })), ("error", any_object())]),
        ),
    };
    let mut schema = Map::new();
    schema.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("anyOf".to_owned(), json!([success, failure]));
    schema.extend(definitions.map(|definitions| ("$defs".to_owned(), definitions)));
    Arc::new(schema)
}

/// A schema without words: what is left is enough to fill it in.
pub fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(key, value)| !is_prose(key, value))
                .map(|(key, value)| (key.clone(), bare(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}

/// Whether a member only explains. A property may have such a name too; then it is a schema.
fn is_prose(key: &str, value: &Value) -> bool {
    match key {
        "description" | "title" | "$schema" | "format" => value.is_string(),
        "default" => !value.is_object(),
        "examples" => value.is_array(),
        _ => false,
    }
}

fn object(schema: &Value) -> JsonObject {
    schema.as_object().cloned().unwrap_or_default()
}

fn members(members: &[(&str, Value)]) -> Value {
    let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
    let properties: Map<_, _> = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

fn any_object() -> Value {
    json!({ "type": "object" })
}

fn text() -> Value {
    json!({ "type": "string" })
}
