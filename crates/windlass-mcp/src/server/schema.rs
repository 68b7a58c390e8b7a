//! Schemas as clients see them: small, and in the words that most of them understand.
//!
//! Inputs keep their descriptions and lose what costs room and says nothing: alternatives that only
//! say that a value may be left out, defaults of nothing, descriptions of single values. Calls are
//! checked against the full schema. An output is an outline, inside its envelope or the envelope's
//! failure: clients check structured content against it even when the result is an error, and throw
//! away a result that does not comply.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};
use windlass_engine::operation::OperationInfo;

/// How many levels of members an outline names.
const OUTLINE_DEPTH: usize = 1;
/// Whole numbers from here on are a limit of JSON, not of the input.
const LARGEST_EXACT: u64 = (1 << 53) - 1;

/// The input schema of a tool.
pub fn input(info: &OperationInfo) -> Arc<JsonObject> {
    let mut schema = object(compact(&info.input_schema, true));
    // Required by the protocol, and true of every operation.
    schema.entry("type").or_insert_with(|| json!("object"));
    Arc::new(schema)
}

/// The output schema of a tool; none where answers are content blocks.
pub fn output(info: &OperationInfo) -> Option<Arc<JsonObject>> {
    if info.output_schema.is_null() {
        return None;
    }
    let outline = outline(&info.output_schema, OUTLINE_DEPTH);
    let outline = outline.unwrap_or_else(|| json!({ "type": "object" }));
    let success = info.contract.success_schema(outline);
    let failure = info.contract.failure_schema();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("anyOf".to_owned(), json!([success, failure]));
    Some(Arc::new(schema))
}

/// An input schema without what says nothing, and without lists of types. `null` means that a value
/// is left out, which every client can do.
fn compact(schema: &Value, is_root: bool) -> Value {
    let members = match schema {
        Value::Object(members) => members,
        Value::Array(items) => {
            return Value::Array(items.iter().map(|item| compact(item, false)).collect());
        }
        other => return other.clone(),
    };
    let mut kept = Map::new();
    for (key, value) in members {
        let value = match key.as_str() {
            "$schema" if !is_root => continue,
            "default" if is_empty(value) || value.is_object() => continue,
            "maximum" if value.as_u64().is_some_and(|most| most >= LARGEST_EXACT) => continue,
            "minimum" if *value == json!(-(LARGEST_EXACT as i64)) => continue,
            "type" => match types(value).as_slice() {
                [one] => (*one).clone(),
                several => {
                    let branches = several.iter().map(|name| json!({ "type": name }));
                    kept.insert("anyOf".to_owned(), branches.collect());
                    continue;
                }
            },
            "enum" => without_null(value),
            "default" | "const" | "examples" => value.clone(),
            // Their members are names, not keywords.
            "properties" | "$defs" | "patternProperties" | "dependentSchemas" => each(value),
            _ => compact(value, false),
        };
        kept.insert(key.clone(), value);
    }
    for key in ["anyOf", "oneOf"] {
        simplify(&mut kept, key);
    }
    Value::Object(kept)
}

fn each(schemas: &Value) -> Value {
    match schemas {
        Value::Object(members) => members
            .iter()
            .map(|(name, schema)| (name.clone(), compact(schema, false)))
            .collect(),
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// `["string", "null"]` is `"string"`.
fn types(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(names) => names.iter().filter(|name| **name != "null").collect(),
        one => vec![one],
    }
}

fn without_null(values: &Value) -> Value {
    match values {
        Value::Array(values) => {
            let values = values.iter().filter(|value| !value.is_null());
            values.cloned().collect()
        }
        other => other.clone(),
    }
}

/// An alternative to null alone is no alternative, and constants are an enumeration.
fn simplify(schema: &mut Map<String, Value>, key: &str) {
    let Some(Value::Array(branches)) = schema.get(key) else {
        return;
    };
    let is_null = |branch: &Value| branch.get("type").is_some_and(|name| name == "null");
    let others: Vec<Value> = branches
        .iter()
        .filter(|branch| !is_null(branch))
        .cloned()
        .collect();
    let constants: Option<Vec<Value>> = others
        .iter()
        .map(|branch| branch.get("const").filter(|one| one.is_string()).cloned())
        .collect();
    let replaced = match (constants, others.as_slice()) {
        (_, []) => return,
        (Some(constants), _) => Map::from_iter([
            ("type".to_owned(), json!("string")),
            ("enum".to_owned(), Value::Array(constants)),
        ]),
        (None, [Value::Object(only)]) => only.clone(),
        _ => {
            schema.insert(key.to_owned(), Value::Array(others));
            return;
        }
    };
    schema.remove(key);
    for (name, value) in replaced {
        // What stands next to the alternatives is about this place.
        schema.entry(name).or_insert(value);
    }
}

/// What an output looks like: the names of its members and their types, some levels deep. Members
/// that may be null, and those of several types, are left out.
fn outline(schema: &Value, depth: usize) -> Option<Value> {
    let name = schema.get("type").and_then(Value::as_str)?;
    let mut outlined = Map::from_iter([("type".to_owned(), json!(name))]);
    if depth > 0 {
        let depth = depth - 1;
        if let Some(Value::Object(properties)) = schema.get("properties") {
            let typed = properties.iter().filter_map(|(name, schema)| {
                outline(schema, depth).map(|schema| (name.clone(), schema))
            });
            outlined.insert("properties".to_owned(), Value::Object(typed.collect()));
        }
        let items = schema.get("items").and_then(|items| outline(items, depth));
        outlined.extend(items.map(|items| ("items".to_owned(), items)));
    }
    Some(Value::Object(outlined))
}

/// An input schema without words: what is left is enough to fill it in.
pub fn bare(schema: &Value) -> Value {
    without(&compact(schema, true), &is_prose)
}

/// An input schema for reading.
pub fn readable(schema: &Value) -> Value {
    compact(schema, true)
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
                "maximum": { "type": ["integer", "null"], "maximum": 9_007_199_254_740_991_u64 },
            },
            "required": ["format"],
        });
        insta::assert_snapshot!(bare(&schema), @r#"{"properties":{"default":{"type":"object"},"format":{"type":"integer"},"maximum":{"type":"integer"},"required":{"type":"string"}},"required":["format"]}"#);
    }

    #[test]
    fn inputs_are_compact_and_have_one_type_each() {
        let cases = [
            (
                json!({ "type": ["string", "null"], "default": null, "description": "a" }),
                r#"{"description":"a","type":"string"}"#,
            ),
            (
                json!({ "anyOf": [{ "type": "object", "description": "its" }, { "type": "null" }], "description": "a" }),
                r#"{"description":"a","type":"object"}"#,
            ),
            (
                json!({ "oneOf": [{ "const": "a", "description": "A" }, { "const": "b" }] }),
                r#"{"enum":["a","b"],"type":"string"}"#,
            ),
            (
                json!({ "enum": ["a", null], "type": ["string", "null"] }),
                r#"{"enum":["a"],"type":"string"}"#,
            ),
            (
                json!({ "oneOf": [{ "type": "object" }, { "type": "string" }] }),
                r#"{"oneOf":[{"type":"object"},{"type":"string"}]}"#,
            ),
            (
                json!({ "type": ["string", "integer"] }),
                r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
            ),
            (
                json!({ "type": "object", "default": { "type": ["a", "null"] }, "items": { "$schema": "x" } }),
                r#"{"items":{},"type":"object"}"#,
            ),
        ];
        for (schema, want) in cases {
            assert_eq!(compact(&schema, false).to_string(), want, "{schema}");
        }
    }

    #[test]
    fn what_the_2020_12_dialect_has_stays() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": { "$anchor": "here", "type": "object", "properties": { "type": { "type": "string" } } } },
            "properties": { "address": { "$ref": "#/$defs/address" }, "kind": { "const": "x" } },
            "allOf": [{ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }],
            "if": { "required": ["kind"] }, "then": { "required": ["a"] }, "else": { "required": ["b"] },
            "additionalProperties": false,
        });
        assert_eq!(compact(&schema, true), schema);
    }

    #[test]
    fn an_outline_names_members_that_have_one_type() {
        let schema = json!({
            "type": "object", "required": ["a"], "description": "words", "additionalProperties": false,
            "properties": {
                "a": { "type": "string", "pattern": "^a$" },
                "b": { "type": ["string", "null"] },
                "c": { "type": "array", "items": { "type": "object", "properties": { "d": { "type": "string" } } } },
                "e": { "type": "object", "properties": { "f": { "type": "object", "properties": { "g": {} } } } },
                "h": { "anyOf": [{ "type": "object" }, { "type": "null" }] },
            },
        });
        insta::assert_snapshot!(outline(&schema, 2).unwrap(), @r#"{"properties":{"a":{"type":"string"},"c":{"items":{"type":"object"},"type":"array"},"e":{"properties":{"f":{"type":"object"}},"type":"object"}},"type":"object"}"#);
        assert_eq!(outline(&schema["properties"]["b"], 2), None);
    }
}
