//! Canonical JSON text: sorted keys, no spaces, so that equal values have equal bytes.
//!
//! Whether `serde_json` keeps or sorts keys depends on a feature any dependency may
//! switch on, so the order is made here and not left to it.

use std::fmt::Write as _;

use serde_json::Value;

/// The canonical text of a value.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            if !entries.is_sorted_by(|left, right| left.0 <= right.0) {
                entries.sort_unstable_by(|left, right| left.0.cmp(right.0));
            }
            text.push('{');
            for (index, (key, entry)) in entries.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(key, text);
                text.push(':');
                write_value(entry, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        Value::String(string) => write_string(string, text),
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(text, "{number}");
        }
    }
}

/// A string with its quotes and escapes. Most need none, and those are copied as they are.
fn write_string(string: &str, text: &mut String) {
    let is_plain = string
        .bytes()
        .all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if is_plain {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        text.push_str(&Value::from(string).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_at_every_depth() {
        let value: Value =
            serde_json::from_str(r#"{"b":{"z":1,"a":[{"y":2,"x":"é\n"}]},"a":null}"#).unwrap();
        insta::assert_snapshot!(canonical_json(&value), @r#"{"a":null,"b":{"a":[{"x":"é\n","y":2}],"z":1}}"#);
    }
}
