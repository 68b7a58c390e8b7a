//! Contract 004: `ok` beside the answer's own fields, or `{ok:false, run_id, error:{…}}`.

use serde_json::{Map, Value, json};
use windlass_types::{Code, Problem};

pub(super) fn success(output: Value) -> Value {
    let mut envelope = Map::from_iter([("ok".to_owned(), Value::Bool(true))]);
    match output {
        Value::Object(map) => envelope.extend(map),
        other => {
            envelope.insert("value".to_owned(), other);
        }
    }
    Value::Object(envelope)
}

pub(super) fn failure(problem: &Problem) -> Value {
    let mut details = problem.details().clone();
    let run_id = details.remove("run_id");
    let mut envelope = json!({
        "ok": false,
        "error": {
            "code": code_name(problem.code()),
            "message": problem.message(),
            "retryable": problem.code().retryable,
            "details": details,
        }
    });
    if let (Value::Object(map), Some(run_id)) = (&mut envelope, run_id) {
        map.insert("run_id".to_owned(), run_id);
    }
    envelope
}

pub(super) fn code_name(code: &'static Code) -> &'static str {
    match code.name {
        "RUN_NOT_FOUND" => "RUN_NOT_FOUND",
        "ILLEGAL_STATE" => "ILLEGAL_STATE",
        "CANCELLED" => "CANCELLED",
        "PATH_ESCAPE" => "ALLOWED_PATHS_VIOLATION",
        "UPSTREAM_ERROR" => "COMMIT_SERVICE_ERROR",
        "CONFIG_INVALID" => "SCHEMA_VALIDATION_FAILED",
        _ if code.http_status < 500 => "INVALID_INPUT",
        _ => "INTERNAL",
    }
}
