//! Canonical JSON text: sorted keys, no spaces, so that equal values have equal bytes.
//!
//! Whether `serde_json` keeps or sorts keys depends on a feature any dependency may
//! switch on, so the order is made here and not left to it.

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
            entries.sort_unstable_by(|left, right| left.0.cmp(right.0));
            text.push('{');
            for (index, (key, entry)) in entries.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
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
        scalar => text.push_str(&scalar.to_string()),
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
