//! Output schemas as clients see them: the operation's output inside its envelope, or the
//! envelope's failure.
//!
//! Clients check structured content against the tool's output schema even when the result is
//! an error, so the schema has to allow for both.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use windlass_engine::operation::OperationInfo;

/// The input schema of a tool.
pub fn input(info: &OperationInfo) -> Arc<JsonObject> {
    let mut schema = object((*info.input_schema).clone());
    // Required by the protocol, and true of every operation.
    schema.entry("type").or_insert_with(|| json!("object"));
    Arc::new(schema)
}

/// The output schema of a tool.
pub fn output(info: &OperationInfo) -> Arc<JsonObject> {
    // Words about output are in the reference; in every client's context they would cost more
    // than all descriptions of inputs together.
    let is_unwanted = |key: &str, value: &Value| is_demand(key, value) || is_prose(key, value);
    let mut output = object(without(&info.output_schema, &is_unwanted));
    // References are relative to the root, so definitions have to stay there.
    let definitions = output.remove("$defs");
    let dialect = output.remove("$schema");
    let success = info.contract.success_schema(Value::Object(output));
    let failure = info.contract.failure_schema();
    let mut schema = Map::new();
    schema.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("anyOf".to_owned(), json!([success, failure]));
    schema.extend(definitions.map(|definitions| ("$defs".to_owned(), definitions)));
    Arc::new(schema)
}

/// A schema without words: what is left is enough to fill it in.
pub fn bare(schema: &Value) -> Value {
    without(schema, &is_prose)
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

/// Whether a member demands that others are there, or that no others are. Clients throw away a
/// result that does not comply; a member left out because it is empty, or added by a later
/// version, is not worth the answer.
fn is_demand(key: &str, value: &Value) -> bool {
    (key == "required" && value.is_array()) || (key == "additionalProperties" && value == false)
}

/// The schema without some of its members, at any depth.
fn without(schema: &Value, unwanted: &dyn Fn(&str, &Value) -> bool) -> Value {
    match schema {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(key, value)| !unwanted(key, value))
                .map(|(key, value)| (key.clone(), without(value, unwanted)))
                .collect(),
        ),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| without(item, unwanted)).collect())
        }
        other => other.clone(),
    }
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_named_like_keywords_stay() {
        let schema = json!({
            "description": "words",
            "properties": {
                "format": { "type": "integer", "format": "uint64" },
                "required": { "type": "string", "description": "words", "format": "date-time" },
                "default": { "type": "object", "default": {} },
            },
            "required": ["format"],
        });
        insta::assert_snapshot!(without(&schema, &is_demand), @r#"{"description":"words","properties":{"default":{"default":{},"type":"object"},"format":{"format":"uint64","type":"integer"},"required":{"description":"words","format":"date-time","type":"string"}}}"#);
        insta::assert_snapshot!(bare(&schema), @r#"{"properties":{"default":{"default":{},"type":"object"},"format":{"type":"integer"},"required":{"type":"string"}},"required":["format"]}"#);
    }
}
