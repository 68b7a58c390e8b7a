//! Contract 000: `{ok, code, message, data, rawTail, nextActions}`.
//!
//! An operation's output may carry `message`, `rawTail` and `nextActions` of its own; they
//! move up into the envelope, the rest is `data`.

use serde_json::{Map, Value, json};
use windlass_engine::contract::{Contract, EnvelopeContext, object_schema};
use windlass_types::{Code, Kind, Problem};

/// Contract 000.
#[derive(Clone, Copy, Debug)]
pub struct StackContract;

impl Contract for StackContract {
    fn number(&self) -> Option<&'static str> {
        Some("000")
    }

    fn success(&self, _context: EnvelopeContext<'_>, output: Value) -> Value {
        let mut data = match output {
            Value::Object(map) => map,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        let message = data
            .remove("message")
            .unwrap_or_else(|| Value::from("Done"));
        let mut envelope = Map::from_iter([
            ("ok".to_owned(), Value::Bool(true)),
            ("code".to_owned(), Value::from("OK")),
            ("message".to_owned(), message),
        ]);
        for key in ["rawTail", "nextActions"] {
            if let Some(value) = data.remove(key) {
                envelope.insert(key.to_owned(), value);
            }
        }
        envelope.insert("data".to_owned(), Value::Object(data));
        Value::Object(envelope)
    }

    fn failure(&self, _context: EnvelopeContext<'_>, problem: &Problem) -> Value {
        let mut data = problem.details().clone();
        let reason = reason(problem, &data);
        if let Some(reason) = reason {
            data.insert("reason".to_owned(), Value::from(reason));
        }
        let raw_tail = data.remove("rawTail");
        let mut envelope = json!({
            "ok": false,
            "code": self.code_name(problem.code()),
            "message": problem.message(),
            "data": data,
            "nextActions": problem.next_actions(),
        });
        if let Some(tail) = raw_tail {
            envelope["rawTail"] = tail;
        }
        envelope
    }

    fn code_name(&self, code: &'static Code) -> &'static str {
        match code.name {
            "INVALID_INPUT"
            | "UNKNOWN_OPERATION"
            | "PATH_ESCAPE"
            | "CONFIG_INVALID"
            | "PAYLOAD_TOO_LARGE"
            | "ILLEGAL_STATE"
            | "IDEMPOTENCY_CONFLICT"
            | "POLICY_DENIED"
            | "NOT_TRUSTED" => "VALIDATION_ERROR",
            "UNAUTHORIZED" | "FORBIDDEN" => "AUTH_ERROR",
            "RUN_NOT_FOUND" | "ARTIFACT_NOT_FOUND" | "NOT_FOUND" => "NOT_FOUND",
            "TIMEOUT" => "TIMEOUT",
            "CONFIRM_REQUIRED"
            | "CONFIRM_TOKEN_REQUIRED"
            | "CONFIRM_TOKEN_EXPIRED"
            | "CONFIRM_TOKEN_MISMATCH"
            | "CONFIRM_TOKEN_USED"
            | "APPROVAL_REQUIRED"
            | "APPROVAL_REJECTED" => "CONFIRMATION_REQUIRED",
            "ALREADY_EXISTS" => "ALREADY_EXISTS",
            "READ_ONLY_VIOLATION" => "READ_ONLY_VIOLATION",
            "DEPLOY_FAILED" => "DEPLOY_FAILED",
            "DELETE_FAILED" => "DELETE_FAILED",
            "ROLLBACK_FAILED" => "ROLLBACK_FAILED",
            _ if code.kind == Kind::Policy => "AUTH_ERROR",
            _ => "INTERNAL_ERROR",
        }
    }

    fn success_schema(&self, output: Value) -> Value {
        object_schema([
            ("ok", json!({ "const": true })),
            ("code", json!({ "type": "string" })),
            ("message", json!({ "type": "string" })),
            ("data", output),
        ])
    }

    fn failure_schema(&self) -> Value {
        object_schema([
            ("ok", json!({ "const": false })),
            ("code", json!({ "type": "string" })),
            ("message", json!({ "type": "string" })),
        ])
    }

    fn document_schema(&self, _output: Value) -> Value {
        object_schema([
            ("ok", json!({ "const": true })),
            ("data", json!({ "type": "object" })),
        ])
    }
}

/// The contract's word for the finer cause, where the engine has its own for the same.
fn reason(problem: &Problem, data: &Map<String, Value>) -> Option<&'static str> {
    match problem.code().name {
        "POLICY_DENIED" => Some("policy_denied"),
        "CONFIRM_TOKEN_EXPIRED" => Some("confirm_token_expired"),
        "CONFIRM_TOKEN_USED" => Some("confirm_token_used"),
        "CONFIRM_TOKEN_MISMATCH" if !data.contains_key("reason") => Some("confirm_token_mismatch"),
        _ => None,
    }
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
