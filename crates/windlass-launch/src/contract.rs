//! Contract 004: `ok` beside the answer's own fields, or `{ok:false, run_id, error:{…}}`.

use serde_json::{Map, Value, json};
use windlass_engine::contract::{Contract, EnvelopeContext, object_schema};
use windlass_types::{Code, Problem};

/// Contract 004.
#[derive(Clone, Copy, Debug)]
pub struct LaunchContract;

impl Contract for LaunchContract {
    fn number(&self) -> Option<&'static str> {
        Some("004")
    }

    fn success(&self, _context: EnvelopeContext<'_>, output: Value) -> Value {
        let mut envelope = Map::from_iter([("ok".to_owned(), Value::Bool(true))]);
        match output {
            Value::Object(map) => envelope.extend(map),
            other => {
                envelope.insert("value".to_owned(), other);
            }
        }
        Value::Object(envelope)
    }

    fn failure(&self, _context: EnvelopeContext<'_>, problem: &Problem) -> Value {
        let code = self.code_name(problem.code());
        let mut details = problem.details().clone();
        let run_id = details.remove("run_id");
        // Whether the identical call can succeed may depend on more than the code: whether the run
        // is still being driven, what a service answered.
        let retryable = match details.remove("retryable") {
            Some(Value::Bool(known)) => known,
            _ => problem.code().retryable,
        };
        if code == "INTERNAL" && !details.contains_key("cause_class") {
            details.insert("cause_class".to_owned(), json!(problem.code().name));
        }
        if code != problem.code().name && code != "INTERNAL" && !details.contains_key("reason") {
            details.insert(
                "reason".to_owned(),
                json!(problem.code().name.to_ascii_lowercase()),
            );
        }
        if !problem.next_actions().is_empty() {
            details.insert("next_actions".to_owned(), json!(problem.next_actions()));
        }
        let mut envelope = json!({
            "ok": false,
            "error": {
                "code": code,
                "message": problem.message(),
                "retryable": retryable,
                "details": details,
            }
        });
        if let (Value::Object(map), Some(run_id)) = (&mut envelope, run_id) {
            map.insert("run_id".to_owned(), run_id);
        }
        envelope
    }

    fn code_name(&self, code: &'static Code) -> &'static str {
        match code.name {
            "RUN_NOT_FOUND" => "RUN_NOT_FOUND",
            "ILLEGAL_STATE" | "APPROVAL_REQUIRED" => "ILLEGAL_STATE",
            "CANCELLED" => "CANCELLED",
            "TOOLCHAIN_MISSING" => "TOOLCHAIN_MISSING",
            "FIX_EXHAUSTED" => "FIX_EXHAUSTED",
            "PATH_ESCAPE" | "ALLOWED_PATHS_VIOLATION" => "ALLOWED_PATHS_VIOLATION",
            "UPSTREAM_ERROR" | "COMMIT_SERVICE_ERROR" => "COMMIT_SERVICE_ERROR",
            "CONFIG_INVALID" | "SCHEMA_VALIDATION_FAILED" => "SCHEMA_VALIDATION_FAILED",
            _ if code.http_status < 500 => "INVALID_INPUT",
            _ => "INTERNAL",
        }
    }

    fn success_schema(&self, output: Value) -> Value {
        let ok = object_schema([("ok", json!({ "const": true }))]);
        json!({ "allOf": [ok, output] })
    }

    fn failure_schema(&self) -> Value {
        object_schema([
            ("ok", json!({ "const": false })),
            ("error", json!({ "type": "object" })),
        ])
    }

    fn shows_trace(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
