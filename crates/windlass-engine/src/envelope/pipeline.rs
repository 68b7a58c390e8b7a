//! Contract 001: the answer itself, or `{error:{code, message, details, request_id}}`.

use serde_json::{Value, json};
use windlass_types::{Code, Problem};

use super::EnvelopeContext;

pub(super) fn failure(context: EnvelopeContext<'_>, problem: &Problem) -> Value {
    json!({
        "error": {
            "code": code_name(problem.code()),
            "message": problem.message(),
            "details": problem.details(),
            "request_id": context.request_id,
        }
    })
}

pub(super) fn code_name(code: &'static Code) -> &'static str {
    match code.name {
        "UNAUTHORIZED" | "FORBIDDEN" => "UNAUTHORIZED",
        "RATE_LIMITED" => "RATE_LIMITED",
        "TIMEOUT" => "AGENT_TIMEOUT",
        "STEP_FAILED" | "UPSTREAM_ERROR" | "CANCELLED" => "AGENT_FAILURE",
        "RUN_NOT_FOUND" | "NOT_FOUND" => "JOB_NOT_FOUND",
        "ARTIFACT_NOT_FOUND" => "ARTIFACT_NOT_READY",
        _ if code.http_status < 500 => "INVALID_INPUT",
        _ => "INTERNAL_ERROR",
    }
}
