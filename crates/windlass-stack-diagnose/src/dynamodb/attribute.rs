//! DynamoDB's typed values as plain JSON, and plain keys as typed values.

use serde_json::{Map, Number, Value, json};

/// An item without its types.
pub(super) fn plain_item(item: &Value) -> Value {
    match item {
        Value::Object(attributes) => Value::Object(
            attributes
                .iter()
                .map(|(name, value)| (name.clone(), plain(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// `{"S": "x"}` as `"x"`; binary stays Base64, numbers that JSON would round stay text.
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|object| object.iter().next()) else {
        return value.clone();
    };
    match (kind.as_str(), inner) {
        ("N", Value::String(text)) => number(text),
        ("NS", Value::Array(numbers)) => numbers
            .iter()
            .map(|entry| entry.as_str().map_or_else(|| entry.clone(), number))
            .collect(),
        ("NULL", _) => Value::Null,
        ("M", inner) => plain_item(inner),
        ("L", Value::Array(items)) => items.iter().map(plain).collect(),
        ("S" | "B" | "BOOL" | "SS" | "BS", inner) => inner.clone(),
        _ => value.clone(),
    }
}

fn number(text: &str) -> Value {
    let exact = text
        .parse::<i64>()
        .map(Number::from)
        .ok()
        .or_else(|| Number::from_f64(text.parse().ok()?))
        .filter(|number| number.to_string().trim_end_matches(".0") == text.trim_end_matches(".0"));
    match exact {
        Some(number) => Value::Number(number),
        None => Value::String(text.to_owned()),
    }
}

/// A value of a key, of the type its table has; `None` where it cannot be one.
pub(super) fn key(kind: &str, given: &Value) -> Option<Value> {
    let text = match given {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(typed) => return typed_as(kind, typed),
        _ => return None,
    };
    match kind {
        "N" => text.parse::<f64>().ok().map(|_| json!({ "N": text })),
        "S" if given.is_string() => Some(json!({ "S": text })),
        "B" if given.is_string() => Some(json!({ "B": text })),
        _ => None,
    }
}

/// Already typed, as AWS writes it.
fn typed_as(kind: &str, typed: &Map<String, Value>) -> Option<Value> {
    (typed.len() == 1 && typed.get(kind).is_some_and(Value::is_string))
        .then(|| Value::Object(typed.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_without_types() {
        let item = json!({
            "id": { "S": "a" }, "n": { "N": "12" }, "f": { "N": "1.5" },
            "big": { "N": "123456789012345678901234567890" },
            "ok": { "BOOL": true }, "none": { "NULL": true },
            "list": { "L": [{ "S": "x" }, { "N": "1" }] },
            "map": { "M": { "S": { "S": "inner" } } },
            "set": { "SS": ["a", "b"] }, "numbers": { "NS": ["1", "2.5"] }, "bytes": { "B": "AQI=" },
        });
        assert_eq!(
            plain_item(&item),
            json!({
                "id": "a", "n": 12, "f": 1.5, "big": "123456789012345678901234567890",
                "ok": true, "none": null, "list": ["x", 1], "map": { "S": "inner" },
                "set": ["a", "b"], "numbers": [1, 2.5], "bytes": "AQI=",
            })
        );
    }

    #[test]
    fn keys_by_type() {
        for (kind, given, expected) in [
            ("S", json!("a"), Some(json!({ "S": "a" }))),
            ("S", json!(1), None),
            ("N", json!(1), Some(json!({ "N": "1" }))),
            ("N", json!("1.5"), Some(json!({ "N": "1.5" }))),
            ("N", json!("a"), None),
            ("S", json!({ "S": "a" }), Some(json!({ "S": "a" }))),
            ("S", json!({ "N": "1" }), None),
            ("S", json!(true), None),
        ] {
            assert_eq!(key(kind, &given), expected, "{kind} {given}");
        }
    }
}
