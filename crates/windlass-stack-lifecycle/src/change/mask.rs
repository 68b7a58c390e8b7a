//! Values of a change set as they may be shown: secrets masked, long texts cut.
//!
//! What counts as a secret is decided by the names on the way to a value, and by the shapes of
//! known tokens anywhere. References to a secret are not secrets and stay readable.

use serde_json::Value;
use windlass_ports::aws::ResourceChange;
use windlass_secrets::Redactor;
use windlass_stack_diagnose::guard::mask;

/// The longest value shown; a policy document or inline code would bury the reason.
const LONGEST: usize = 300;

/// Parts of names whose values are secret, without case and separators.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "token",
    "credential",
    "privatekey",
    "apikey",
    "accesskey",
    "connectionstring",
    "databaseurl",
];

/// Names that contain such a part and hold no secret.
const HARMLESS: &[&str] = &[
    "secretarn",
    "secretid",
    "secretname",
    "tokenvalidity",
    "tokenvalidityunits",
    "servicetoken",
    "managemasteruserpassword",
    "passwordpolicy",
    "passwordlength",
    "generatesecretstring",
    "generatesecret",
    "secrettargetattachment",
    "enabletokenrevocation",
    "passwordhistorysize",
    "kmskeyid",
];

fn plain(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

fn is_secret_name(name: &str) -> bool {
    let name = plain(name);
    SECRET_NAMES.iter().any(|part| name.contains(part))
        && !HARMLESS.iter().any(|harmless| name == *harmless)
}

/// Whether the last named part of a path stands for a secret. Indexes are passed over.
fn leads_to_secret(path: &str) -> bool {
    path.split(['/', '.'])
        .rfind(|part| !part.is_empty() && part.parse::<usize>().is_err())
        .is_some_and(is_secret_name)
}

/// A value as it may be shown, given the path or name that leads to it.
pub fn shown_value(path: &str, text: &str, redactor: &Redactor) -> String {
    if text.starts_with("{{resolve:") {
        return text.to_owned();
    }
    if leads_to_secret(path) {
        return mask::secret(text);
    }
    // A whole object or list may hold a secret further in.
    let text = match serde_json::from_str::<Value>(text) {
        Ok(mut value @ (Value::Object(_) | Value::Array(_))) => {
            mask_value(&mut value, redactor);
            value.to_string()
        }
        _ => redactor.redact(text).into_owned(),
    };
    cut(text)
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Masks what stands under a secret's name, and whatever looks like a secret.
fn mask_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::Object(members) => {
            // Containers list their environment as name and value.
            let names_secret = ["Name", "name", "Key", "ParameterKey"]
                .iter()
                .filter_map(|key| members.get(*key).and_then(Value::as_str))
                .any(is_secret_name);
            for (name, member) in members.iter_mut() {
                let is_paired = names_secret && plain(name) == "value";
                match member {
                    Value::String(text) if is_paired || is_secret_name(name) => {
                        if !text.starts_with("{{resolve:") {
                            *text = mask::secret(text);
                        }
                    }
                    _ => mask_value(member, redactor),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, redactor)),
        Value::String(text) => {
            let shown = redactor.redact(text).into_owned();
            *text = shown;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A change as CloudFormation described it, with every value masked.
pub fn masked_raw(change: &ResourceChange, redactor: &Redactor) -> Value {
    let mut change = change.clone();
    let contexts = [&mut change.before_context, &mut change.after_context];
    for text in contexts.into_iter().flatten() {
        let masked = match serde_json::from_str::<Value>(text) {
            Ok(mut value) => {
                mask_value(&mut value, redactor);
                value.to_string()
            }
            Err(_) => redactor.redact(text).into_owned(),
        };
        *text = masked;
    }
    for detail in &mut change.details {
        let target = &mut detail.target;
        let path = target
            .path
            .clone()
            .or_else(|| target.name.clone())
            .unwrap_or_default();
        let values = [&mut target.before_value, &mut target.after_value];
        for text in values.into_iter().flatten() {
            *text = shown_value(&path, text, redactor);
        }
    }
    let change = serde_json::to_value(&change).unwrap_or(Value::Null);
    serde_json::json!({ "Type": "Resource", "ResourceChange": change })
}
