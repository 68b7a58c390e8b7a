//! Recognises input that is valid beyond doubt, by the few keywords that most schemas use.
//!
//! The library's validator first compiles the meta-schema, which takes longer than the rest of a
//! short command. Whatever is not plainly valid goes to the library, which also words the
//! refusal; this never refuses anything.

use serde_json::{Map, Value};

/// How deep schemas and references are followed.
const MAX_DEPTH: u8 = 16;

/// Whether `input` is certainly valid. `false` says nothing.
pub(super) fn is_plainly_valid(schema: &Value, input: &Value) -> bool {
    Check { root: schema }.accepts(schema, input, MAX_DEPTH)
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    fn accepts(&self, schema: &Value, value: &Value, depth: u8) -> bool {
        let (Some(keywords), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
            return schema == &Value::Bool(true);
        };
        keywords
            .iter()
            .all(|(keyword, rule)| self.keeps(keywords, (keyword, rule), value, depth))
    }

    /// Whether a value certainly keeps one keyword's rule; unknown keywords are never kept.
    fn keeps(
        &self,
        keywords: &Map<String, Value>,
        (keyword, rule): (&str, &Value),
        value: &Value,
        depth: u8,
    ) -> bool {
        match keyword {
            "title" | "description" | "default" | "examples" | "$defs" | "$schema" => true,
            // Annotations that schemas of Rust integers carry; ranges are keywords of their own.
            "format" => rule.as_str().is_some_and(|name| name.starts_with("uint")),
            "type" => is_of_type(rule, value),
            "enum" => is_simple(value) && rule.as_array().is_some_and(|all| all.contains(value)),
            "const" => is_simple(value) && rule == value,
            "minimum" => integer(value) >= integer(rule) && integer(rule).is_some(),
            "maximum" => match (integer(value), integer(rule)) {
                (Some(value), Some(most)) => value <= most,
                _ => false,
            },
            "minLength" => match (value.as_str(), rule.as_u64()) {
                (Some(text), Some(least)) => text.chars().count() as u64 >= least,
                _ => false,
            },
            "maxLength" => match (value.as_str(), rule.as_u64()) {
                (Some(text), Some(most)) => text.chars().count() as u64 <= most,
                _ => false,
            },
            "items" => value
                .as_array()
                .is_some_and(|items| items.iter().all(|item| self.accepts(rule, item, depth))),
            "required" => match (value.as_object(), rule.as_array()) {
                (Some(fields), Some(names)) => names
                    .iter()
                    .all(|name| name.as_str().is_some_and(|name| fields.contains_key(name))),
                _ => false,
            },
            "properties" => match (value.as_object(), rule.as_object()) {
                (Some(fields), Some(properties)) => fields.iter().all(|(name, field)| {
                    properties
                        .get(name)
                        .is_none_or(|schema| self.accepts(schema, field, depth))
                }),
                _ => false,
            },
            "additionalProperties" => match (value.as_object(), keywords.get("properties")) {
                (Some(fields), properties) => fields
                    .keys()
                    .all(|name| properties.is_some_and(|known| known.get(name).is_some())),
                _ => false,
            },
            "anyOf" => rule
                .as_array()
                .is_some_and(|any| any.iter().any(|schema| self.accepts(schema, value, depth))),
            "$ref" => rule
                .as_str()
                .and_then(|reference| reference.strip_prefix("#/$defs/"))
                .filter(|name| !name.contains(['/', '~', '%']))
                .and_then(|name| self.root.get("$defs")?.get(name))
                .is_some_and(|schema| self.accepts(schema, value, depth)),
            _ => false,
        }
    }
}

fn is_of_type(rule: &Value, value: &Value) -> bool {
    match rule {
        Value::String(name) => match name.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "integer" => integer(value).is_some(),
            "number" => value.is_number(),
            _ => false,
        },
        Value::Array(any) => any.iter().any(|rule| is_of_type(rule, value)),
        _ => false,
    }
}

/// Numbers compare by value in schemas and by form here.
fn is_simple(value: &Value) -> bool {
    value.is_string() || value.is_boolean() || value.is_null()
}

fn integer(value: &Value) -> Option<i128> {
    let signed = value.as_i64().map(i128::from);
    signed.or_else(|| value.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn common_inputs_are_recognised() {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["run_id"],
            "properties": {
                "run_id": { "$ref": "#/$defs/RunId" },
                "limit": { "type": "integer", "format": "uint", "minimum": 1, "maximum": 100 },
                "parent": { "anyOf": [{ "$ref": "#/$defs/RunId" }, { "type": "null" }] },
                "states": { "type": "array", "items": { "enum": ["queued", "running"] } },
                "note": { "type": ["string", "null"], "pattern": "^a" },
            },
            "$defs": { "RunId": { "type": "string", "minLength": 1, "maxLength": 4 } },
        });
        for (input, expected) in [
            (json!({ "run_id": "r" }), true),
            (json!({ "run_id": "r", "limit": 100 }), true),
            (
                json!({ "run_id": "r", "parent": null, "states": ["queued"] }),
                true,
            ),
            (json!({ "run_id": "\u{e9}\u{e9}\u{e9}\u{e9}" }), true),
            (json!({}), false),
            (json!({ "run_id": "" }), false),
            (json!({ "run_id": "12345" }), false),
            (json!({ "run_id": "r", "limit": 0 }), false),
            (json!({ "run_id": "r", "limit": 2.5 }), false),
            (json!({ "run_id": "r", "states": ["gone"] }), false),
            (json!({ "run_id": "r", "zzz": 1 }), false),
            // Patterns are the library's.
            (json!({ "run_id": "r", "note": "a" }), false),
            (json!([]), false),
        ] {
            assert_eq!(is_plainly_valid(&schema, &input), expected, "{input}");
        }
    }

    #[test]
    fn references_in_a_circle_end() {
        let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } });
        assert!(!is_plainly_valid(&schema, &json!({})));
    }

    fn leaf() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            (-2_i32..2).prop_map(|half| json!(f64::from(half) / 2.0)),
            Just(json!(u64::MAX)),
            "[ab\u{e9}]{0,3}".prop_map(Value::from),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        leaf().prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|fields| json!(fields)),
            ]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let types = [
            "object", "array", "string", "boolean", "null", "integer", "number",
        ];
        let keyword = prop_oneof![
            prop::sample::select(types.to_vec()).prop_map(|name| json!({ "type": name })),
            prop::sample::subsequence(types.to_vec(), 1..4).prop_map(|all| json!({ "type": all })),
            prop::collection::btree_set("[abc]", 0..2).prop_map(|all| json!({ "required": all })),
            (-2_i64..3).prop_map(|least| json!({ "minimum": least })),
            (-2_i64..3).prop_map(|most| json!({ "maximum": most })),
            (0_u64..3).prop_map(|least| json!({ "minLength": least })),
            (0_u64..3).prop_map(|most| json!({ "maxLength": most })),
            prop::collection::vec(leaf(), 1..3).prop_map(|all| json!({ "enum": all })),
            leaf().prop_map(|value| json!({ "const": value })),
            (1_u64..3).prop_map(|least| json!({ "minProperties": least })),
            Just(json!({ "$ref": "#/$defs/d" })),
            Just(json!({ "pattern": "^a" })),
        ];
        let keywords = prop::collection::vec(keyword, 0..3).prop_map(merged);
        keywords.prop_recursive(3, 12, 3, |inner| {
            let properties = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
            prop_oneof![
                (properties, any::<bool>()).prop_map(|(properties, open)| json!({
                    "properties": properties, "additionalProperties": open
                })),
                inner.clone().prop_map(|items| json!({ "items": items })),
                prop::collection::vec(inner, 1..3).prop_map(|any| json!({ "anyOf": any })),
            ]
        })
    }

    fn merged(parts: Vec<Value>) -> Value {
        let mut all = Map::new();
        for part in parts {
            all.extend(part.as_object().cloned().unwrap_or_default());
        }
        Value::Object(all)
    }

    proptest! {
        #[test]
        fn what_is_plainly_valid_is_valid(schema in schema(), part in schema(), input in value()) {
            let mut schema = schema;
            schema["$defs"] = json!({ "d": without_references(part) });
            if is_plainly_valid(&schema, &input) {
                let library = jsonschema::draft202012::new(&schema).unwrap();
                prop_assert!(library.is_valid(&input), "{schema} {input}");
            }
        }
    }

    /// A definition that refers to itself has no end in the library either.
    fn without_references(mut schema: Value) -> Value {
        match &mut schema {
            Value::Object(keywords) => {
                keywords.remove("$ref");
                for value in keywords.values_mut() {
                    *value = without_references(value.take());
                }
            }
            Value::Array(items) => {
                for item in items {
                    *item = without_references(item.take());
                }
            }
            _ => {}
        }
        schema
    }
}
