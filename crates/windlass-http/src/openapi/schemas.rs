//! The schemas of the document: each operation's input and output, and failures.

use serde_json::{Map, Value, json};
use windlass_engine::operation::{Catalogue, OperationInfo};
use windlass_types::code;

pub(super) fn input_name(info: &OperationInfo) -> String {
    format!("{}.input", info.name)
}

pub(super) fn output_name(info: &OperationInfo) -> String {
    format!("{}.output", info.name)
}

fn place(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": place(name) })
}

/// An operation's input schema as it may stand anywhere in the document.
pub(super) fn input_schema(info: &OperationInfo) -> Value {
    relocated(&info.input_schema, &place(&input_name(info)))
}

/// References to the headers every answer has.
pub(super) fn common_headers() -> Value {
    let names = [
        "X-Request-Id",
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
        "RateLimit",
        "RateLimit-Policy",
    ];
    let entries = names.into_iter().map(|name| {
        (
            name.to_owned(),
            json!({ "$ref": format!("#/components/headers/{name}") }),
        )
    });
    Value::Object(entries.collect())
}

pub(super) fn all(catalogue: &Catalogue) -> Value {
    let mut schemas = Map::new();
    for info in catalogue.operations() {
        schemas.insert(input_name(info), input_schema(info));
        let name = output_name(info);
        let schema = relocated(&info.output_schema, &place(&name));
        schemas.insert(name, schema);
    }
    schemas.insert("Failure".to_owned(), failure());
    Value::Object(schemas)
}

/// The schema with references into itself made to follow it into the document.
fn relocated(schema: &Value, place: &str) -> Value {
    match schema {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| match value {
                    Value::String(target) if key == "$ref" && target.starts_with('#') => {
                        (key.clone(), Value::from(format!("{place}{}", &target[1..])))
                    }
                    _ => (key.clone(), relocated(value, place)),
                })
                .collect(),
        ),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| relocated(item, place)).collect())
        }
        other => other.clone(),
    }
}

/// The schema of an answer: the output inside the envelope of its contract.
pub(super) fn answer(info: &OperationInfo) -> Value {
    let output = reference(&output_name(info));
    info.contract.document_schema(output)
}

/// The response of a failure, in the envelope of the toolset.
pub(super) fn failure_of(info: &OperationInfo) -> Value {
    match info.contract.number() {
        None => json!({ "$ref": "#/components/responses/Failure" }),
        // The contract's own shape, which has no fields in common with ours.
        Some(_) => json!({
            "description": "A failure, in the envelope of the toolset.",
            "headers": common_headers(),
            "content": { "application/json": { "schema": { "type": "object" } } },
        }),
    }
}

fn failure() -> Value {
    let codes: Vec<&str> = code::ALL.iter().map(|code| code.name).collect();
    json!({
        "type": "object",
        "required": ["ok", "error"],
        "properties": {
            "ok": { "const": false },
            "error": {
                "type": "object",
                "required": ["code", "message", "details", "retryable", "next_actions", "request_id"],
                "properties": {
                    "code": { "enum": codes },
                    "message": { "type": "string", "description": "For people." },
                    "details": { "type": "object", "description": "For programs." },
                    "retryable": { "type": "boolean", "description": "Whether the same call may succeed later." },
                    "next_actions": { "type": "array", "items": { "type": "string" } },
                    "request_id": { "type": "string" },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_follow_their_schema() {
        let schema =
            json!({ "properties": { "a": { "$ref": "#/$defs/A" }, "$ref": { "type": "string" } } });
        let expected = json!({ "properties": { "a": { "$ref": "#/p/$defs/A" }, "$ref": { "type": "string" } } });
        assert_eq!(relocated(&schema, "#/p"), expected);
    }
}
