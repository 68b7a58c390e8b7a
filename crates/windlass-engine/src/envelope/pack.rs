//! Contract 003: `{schema_version, ok, command, version, data, warnings, errors}`.
//!
//! An operation's output may carry `warnings`; they move up into the envelope.

use serde_json::{Map, Value, json};
use windlass_types::{Code, Problem};

use super::EnvelopeContext;

const SCHEMA_VERSION: u32 = 1;

pub(super) fn success(context: EnvelopeContext<'_>, output: Value) -> Value {
    let mut data = match output {
        Value::Object(map) => map,
        other => Map::from_iter([("value".to_owned(), other)]),
    };
    let warnings = data.remove("warnings").unwrap_or_else(|| json!([]));
    json!({
        "schema_version": SCHEMA_VERSION,
        "ok": true,
        "command": command(context),
        "version": env!("CARGO_PKG_VERSION"),
        "data": data,
        "warnings": warnings,
        "errors": [],
    })
}

pub(super) fn failure(context: EnvelopeContext<'_>, problem: &Problem) -> Value {
    let mut details = problem.details().clone();
    if !problem.next_actions().is_empty() {
        details
            .entry("next_actions")
            .or_insert_with(|| json!(problem.next_actions()));
    }
    json!({
        "schema_version": SCHEMA_VERSION,
        "ok": false,
        "command": command(context),
        "version": env!("CARGO_PKG_VERSION"),
        "data": {},
        "warnings": [],
        "errors": [{
            "code": code_name(problem.code()),
            "message": problem.message(),
            "details": details,
        }],
    })
}

/// The command a tool stands for: the operation's name without its toolset.
fn command(context: EnvelopeContext<'_>) -> &str {
    context
        .operation
        .split_once('.')
        .map_or(context.operation, |(_, verb)| verb)
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
