//! JSON Schemas of arguments, in the few shapes that tools need.

use serde_json::{Map, Value, json};
use windlass_ports::ToolSpec;

/// A tool's description for the model. Fields marked `!` are required.
pub(crate) fn spec(name: &str, description: &str, fields: &[(&str, Value)]) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: object(fields),
    }
}

/// An object with these fields and no others.
pub(crate) fn object(fields: &[(&str, Value)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema) in fields {
        let plain = name.trim_end_matches('!');
        if plain != *name {
            required.push(plain);
        }
        properties.insert(plain.to_owned(), schema.clone());
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

pub(crate) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(crate) fn filled(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": description })
}

pub(crate) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

pub(crate) fn number(least: u64, most: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
}

/// The two fields of tools that also take paths of other machines.
pub(crate) fn login() -> [(&'static str, Value); 2] {
    [
        (
            "password",
            text("Password for a remote path: the marker of a secret."),
        ),
        ("private_key_path", text("Private key for a remote path.")),
    ]
}
