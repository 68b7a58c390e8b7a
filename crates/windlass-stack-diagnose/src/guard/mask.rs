//! How a secret may be shown: enough to recognise it, not enough to use it.

use serde_json::Value;

/// The first four characters, `...`, the last four; eight characters or fewer are all `*`.
pub fn secret(value: &str) -> String {
    let characters: Vec<char> = value.chars().collect();
    if characters.len() <= 8 {
        return "*".repeat(characters.len());
    }
    let head: String = characters[..4].iter().collect();
    let tail: String = characters[characters.len() - 4..].iter().collect();
    format!("{head}...{tail}")
}

/// Where secrets are in the answer of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masked {
    /// All values of the objects under this name: `Variables: {KEY: value}`.
    ValuesOf(&'static str),
    /// In the lists under the first name, the member of the second: `environment: [{name, value}]`.
    MemberOfItems(&'static str, &'static str),
    /// The texts under this name, wherever it is.
    Member(&'static str),
}

/// Masks in place.
pub fn apply(answer: &mut Value, masks: &[Masked]) {
    for mask in masks {
        walk(answer, *mask);
    }
}

fn walk(value: &mut Value, mask: Masked) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, mask)),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match mask {
                    Masked::ValuesOf(wanted) if same(name, wanted) => hide_texts(member),
                    Masked::Member(wanted) if same(name, wanted) => hide_texts(member),
                    Masked::MemberOfItems(wanted, inner) if same(name, wanted) => {
                        for item in member.as_array_mut().into_iter().flatten() {
                            for (name, value) in item.as_object_mut().into_iter().flatten() {
                                if same(name, inner) {
                                    hide_texts(value);
                                }
                            }
                        }
                    }
                    _ => walk(member, mask),
                }
            }
        }
        _ => {}
    }
}

/// Services write names with and without a capital.
fn same(name: &str, wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted)
}

fn hide_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = secret(text),
        Value::Array(items) => items.iter_mut().for_each(hide_texts),
        Value::Object(members) => members.values_mut().for_each(hide_texts),
        Value::Number(number) => *value = Value::String(secret(&number.to_string())),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_keeps_its_ends_when_it_is_long() {
        for (value, shown) in [
            ("", ""),
            ("a", "*"),
            ("12345678", "********"),
            ("123456789", "1234...6789"),
            ("ключ-секрет", "ключ...крет"),
            ("AKIAIOSFODNN7EXAMPLE", "AKIA...MPLE"),
        ] {
            assert_eq!(secret(value), shown);
        }
    }

    #[test]
    fn masks_reach_every_depth_and_leave_the_rest() {
        let mut answer = json!({
            "Functions": [{
                "FunctionName": "api-handler",
                "Environment": { "Variables": { "PASSWORD": "hunter2-hunter2", "N": 12 } },
            }],
            "containerDefinitions": [{
                "name": "web-service-name",
                "environment": [{ "name": "DATABASE_PASSWORD", "value": "hunter2-hunter2" }],
            }],
            "Origins": [{ "HeaderName": "x-secret-header", "HeaderValue": "hunter2-hunter2" }],
        });
        apply(
            &mut answer,
            &[
                Masked::ValuesOf("Variables"),
                Masked::MemberOfItems("environment", "value"),
                Masked::Member("HeaderValue"),
            ],
        );
        assert_eq!(
            answer,
            json!({
                "Functions": [{
                    "FunctionName": "api-handler",
                    "Environment": { "Variables": { "PASSWORD": "hunt...ter2", "N": "**" } },
                }],
                "containerDefinitions": [{
                    "name": "web-service-name",
                    "environment": [{ "name": "DATABASE_PASSWORD", "value": "hunt...ter2" }],
                }],
                "Origins": [{ "HeaderName": "x-secret-header", "HeaderValue": "hunt...ter2" }],
            })
        );
    }
}
