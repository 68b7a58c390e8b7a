//! Contract 003: `{schema_version, ok, command, command_id, command_path, version, data,
//! warnings, errors}`, pretty-printed in that order.
//!
//! An operation's output, and the details of a failure, may carry `warnings`; they move up into
//! the envelope.

use serde_json::{Map, Value, json};
use windlass_types::{Code, Problem};

use super::EnvelopeContext;

const SCHEMA_VERSION: u32 = 1;
const ORDER: [&str; 9] = [
    "schema_version",
    "ok",
    "command",
    "command_id",
    "command_path",
    "version",
    "data",
    "warnings",
    "errors",
];

pub(super) fn success(context: EnvelopeContext<'_>, output: Value) -> Value {
    let mut data = match output {
        Value::Object(map) => map,
        other => Map::from_iter([("value".to_owned(), other)]),
    };
    let warnings = data.remove("warnings").unwrap_or_else(|| json!([]));
    envelope(context, true, Value::Object(data), warnings, json!([]))
}

pub(super) fn failure(context: EnvelopeContext<'_>, problem: &Problem) -> Value {
    let mut details = problem.details().clone();
    let warnings = details.remove("warnings").unwrap_or_else(|| json!([]));
    // Every failure says what kind it is and what to do, also one that another part raised.
    details
        .entry("reason_code")
        .or_insert_with(|| reason(problem.code()).into());
    details.entry("next_actions").or_insert_with(|| {
        if problem.next_actions().is_empty() {
            json!(["retry_command"])
        } else {
            json!(problem.next_actions())
        }
    });
    let error = json!({
        "code": code_name(problem.code()),
        "message": problem.message(),
        "details": details,
    });
    envelope(context, false, json!({}), warnings, json!([error]))
}

fn envelope(
    context: EnvelopeContext<'_>,
    ok: bool,
    data: Value,
    warnings: Value,
    errors: Value,
) -> Value {
    let (command, id) = names(context);
    json!({
        "schema_version": SCHEMA_VERSION,
        "ok": ok,
        "command": command,
        "command_path": id.split(' ').collect::<Vec<_>>(),
        "command_id": id,
        "version": env!("CARGO_PKG_VERSION"),
        "data": data,
        "warnings": warnings,
        "errors": errors,
    })
}

/// The command an operation stands for, and its id with the flag that makes it another one.
fn names(context: EnvelopeContext<'_>) -> (String, String) {
    let verb = context
        .operation
        .split_once('.')
        .map_or(context.operation, |(_, verb)| verb);
    let flag = |name: &str| context.input.get(name) == Some(&Value::Bool(true));
    match verb {
        "deploy_apply" | "apply" => ("deploy".to_owned(), "deploy --apply".to_owned()),
        "explain" => match context.input.get("kind").and_then(Value::as_str) {
            Some("status") => ("explain.status".to_owned(), "explain status".to_owned()),
            Some("diff") => ("explain.plan".to_owned(), "explain diff".to_owned()),
            _ => ("explain.plan".to_owned(), "explain plan".to_owned()),
        },
        "import" if flag("apply") => ("import".to_owned(), "import --apply".to_owned()),
        "doctor_fix" => ("doctor".to_owned(), "doctor --fix".to_owned()),
        other => (other.to_owned(), other.replace('.', " ")),
    }
}

/// Pretty JSON with the top-level keys in the contract's order.
pub(super) fn text(envelope: &Value) -> String {
    let Value::Object(map) = envelope else {
        return format!("{envelope:#}");
    };
    let known = ORDER
        .iter()
        .filter_map(|key| map.get_key_value(*key))
        .map(|(key, value)| (key.as_str(), value));
    let rest = map
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, _)| !ORDER.contains(key));
    let mut text = String::from("{");
    for (index, (key, value)) in known.chain(rest).enumerate() {
        text.push_str(if index == 0 { "\n  " } else { ",\n  " });
        text.push_str(&Value::from(key).to_string());
        text.push_str(": ");
        // Strings are written on one line, so every line break is one of the layout.
        text.push_str(&format!("{value:#}").replace('\n', "\n  "));
    }
    text.push_str("\n}");
    text
}

fn reason(code: &'static Code) -> &'static str {
    match code.name {
        "INVALID_INPUT" | "UNKNOWN_OPERATION" | "PAYLOAD_TOO_LARGE" => "invalid_arguments",
        "CONFIRM_REQUIRED" | "APPROVAL_REQUIRED" | "APPROVAL_REJECTED" => "confirm_required",
        "STORE_FULL" => "disk_full",
        _ => "internal",
    }
}

pub(super) fn code_name(code: &'static Code) -> &'static str {
    match code.name {
        "CONFIRM_REQUIRED" | "APPROVAL_REQUIRED" | "APPROVAL_REJECTED" => "E_CONFIRM_REQUIRED",
        "CONFIRM_TOKEN_REQUIRED" => "E_CONFIRM_TOKEN_REQUIRED",
        "CONFIRM_TOKEN_EXPIRED" => "E_CONFIRM_TOKEN_EXPIRED",
        "CONFIRM_TOKEN_MISMATCH" | "CONFIRM_TOKEN_USED" => "E_CONFIRM_TOKEN_MISMATCH",
        "CONFIG_INVALID" => "E_CONFIG_INVALID",
        own if own.starts_with("E_") => own,
        _ => "E_UNEXPECTED",
    }
}
