//! The types a contract gives to values, and values brought over from TOML.

use serde_json::Value;

/// The type of a value, as a contract names it.
pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::String(text) if is_date(text) => "date",
        Value::String(_) => "string",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Bool(_) => "boolean",
        Value::Array(items) if items.iter().all(Value::is_string) => "array_string",
        Value::Object(_) => "object",
        Value::Array(_) | Value::Null => "unknown",
    }
}

/// Whether a value is of a contract's type. A text may look like a date, and an integer is a
/// number.
pub fn is_type(value: &Value, expected: &str) -> bool {
    match expected {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" | "boolean" | "date" | "array_string" | "object" => type_of(value) == expected,
        _ => true,
    }
}

/// `2026-01-31`, with or without a time after it.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    bytes.len() >= 10
        && digits(0..4)
        && bytes[4] == b'-'
        && digits(5..7)
        && bytes[7] == b'-'
        && digits(8..10)
        && bytes
            .get(10)
            .is_none_or(|next| matches!(next, b'T' | b't' | b' '))
}

/// Whether YAML and TOML take a text as a date when it is not quoted.
pub(super) fn is_bare_date(text: &str) -> bool {
    is_date(text) && text.parse::<toml_edit::Datetime>().is_ok()
}

/// TOML as JSON. The text of a date is what every format can hold.
pub(super) fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(from_toml).collect(),
        toml::Value::Table(table) => Value::Object(
            table
                .into_iter()
                .map(|(key, value)| (key, from_toml(value)))
                .collect(),
        ),
    }
}

/// JSON as TOML; none for null, which TOML does not have.
pub(super) fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_i64().map_or_else(
            || number.as_f64().unwrap_or_default().into(),
            toml_edit::Value::from,
        ),
        Value::String(text) => match text.parse::<toml_edit::Datetime>() {
            Ok(date) if is_bare_date(text) => date.into(),
            _ => text.as_str().into(),
        },
        Value::Array(items) => items
            .iter()
            .filter_map(to_toml)
            .collect::<toml_edit::Array>()
            .into(),
        Value::Object(keys) => keys
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), to_toml(value)?)))
            .collect::<toml_edit::InlineTable>()
            .into(),
    })
}
