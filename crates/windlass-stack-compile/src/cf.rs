//! CloudFormation's own expressions, as JSON.

use serde_json::{Value, json};

/// `Ref`.
pub(crate) fn reference(id: &str) -> Value {
    json!({ "Ref": id })
}

/// `Fn::GetAtt`.
pub(crate) fn attribute(id: &str, name: &str) -> Value {
    json!({ "Fn::GetAtt": [id, name] })
}

/// `Fn::Sub` of a text with pseudo parameters only; plain where it has none.
pub(crate) fn sub(text: impl Into<String>) -> Value {
    let text = text.into();
    if text.contains("${") {
        json!({ "Fn::Sub": text })
    } else {
        Value::String(text)
    }
}

/// An ARN: `service:…` within this account and region.
pub(crate) fn arn(rest: &str) -> Value {
    let (service, name) = rest.split_once(':').unwrap_or((rest, ""));
    sub(format!(
        "arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:{name}"
    ))
}

/// The ARN of a policy that AWS maintains.
pub(crate) fn managed_policy(name: &str) -> Value {
    sub(format!("arn:${{AWS::Partition}}:iam::aws:policy/{name}"))
}

/// Texts put together. Neighbouring literals become one; a single part stays itself.
pub(crate) fn join(parts: impl IntoIterator<Item = Value>) -> Value {
    join_with("", parts)
}

/// Texts put together with something between them.
pub(crate) fn join_with(between: &str, parts: impl IntoIterator<Item = Value>) -> Value {
    let mut joined: Vec<Value> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Value::String(last)), Value::String(next)) => {
                last.push_str(between);
                last.push_str(&next);
            }
            (_, part) => joined.push(part),
        }
    }
    match joined.len() {
        0 => Value::String(String::new()),
        1 => joined.remove(0),
        _ => json!({ "Fn::Join": [between, joined] }),
    }
}

/// The same without entries that are null, all the way down.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(entries) => Value::Object(
            entries
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// Whether a value holds something that Secrets Manager fills in.
pub(crate) fn holds_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text.contains("{{resolve:secretsmanager:") || text.contains("{{resolve:ssm-secure:")
        }
        Value::Array(items) => items.iter().any(holds_secret),
        Value::Object(entries) => entries.values().any(holds_secret),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_as_little_as_possible() {
        let cases = [
            (vec![], json!("")),
            (vec![json!("a"), json!("b")], json!("ab")),
            (vec![reference("X")], json!({"Ref": "X"})),
            (
                vec![json!("a"), json!("b"), reference("X"), json!("c")],
                json!({"Fn::Join": ["", ["ab", {"Ref": "X"}, "c"]]}),
            ),
        ];
        for (parts, expected) in cases {
            assert_eq!(join(parts), expected);
        }
    }

    #[test]
    fn nulls_go_but_not_from_lists() {
        let value = json!({"a": null, "b": {"c": null, "d": [null, {"e": null}]}});
        assert_eq!(without_nulls(value), json!({"b": {"d": [null, {}]}}));
    }
}
