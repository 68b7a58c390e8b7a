//! Contract 001: the answer itself, or `{error:{code, message, details, request_id}}`; what its
//! jobs are called in a refusal.

use serde_json::{Value, json};
use windlass_engine::{
    access::JobLimit,
    contract::{Contract, EnvelopeContext, object_schema},
};
use windlass_types::{Code, Problem};

const INTERNAL: &str = "INTERNAL_ERROR";

/// How many jobs a key may begin.
pub(crate) const JOB_LIMIT: JobLimit = JobLimit {
    plural: "pipelines",
    per_hour: "pipelines_per_hour",
};

/// Contract 001.
#[derive(Clone, Copy, Debug)]
pub struct PipelineContract;

impl Contract for PipelineContract {
    fn number(&self) -> Option<&'static str> {
        Some("001")
    }

    fn failure(&self, context: EnvelopeContext<'_>, problem: &Problem) -> Value {
        let code = self.code_name(problem.code());
        // What went wrong inside is for the log, which has the request's id.
        let (message, details) = if code == INTERNAL {
            ("Unexpected server error", json!({}))
        } else {
            (problem.message(), json!(problem.details()))
        };
        json!({
            "error": {
                "code": code,
                "message": message,
                "details": details,
                "request_id": context.request_id,
            }
        })
    }

    fn code_name(&self, code: &'static Code) -> &'static str {
        match code.name {
            "UNAUTHORIZED" | "FORBIDDEN" => "UNAUTHORIZED",
            "RATE_LIMITED" => "RATE_LIMITED",
            "TIMEOUT" => "AGENT_TIMEOUT",
            "STEP_FAILED" | "UPSTREAM_ERROR" | "CANCELLED" => "AGENT_FAILURE",
            "RUN_NOT_FOUND" | "NOT_FOUND" => "JOB_NOT_FOUND",
            "ARTIFACT_NOT_FOUND" => "ARTIFACT_NOT_READY",
            _ if code.http_status < 500 => "INVALID_INPUT",
            _ => INTERNAL,
        }
    }

    /// The contract's status of each of its codes. What is too long, as a body or as a spec, has one
    /// of its own, and so has a key that works but does not reach that far.
    fn http_status(&self, problem: &Problem) -> u16 {
        let detail = |name: &str| problem.details().get(name).and_then(Value::as_str);
        match self.code_name(problem.code()) {
            "UNAUTHORIZED" => problem.code().http_status,
            "JOB_NOT_FOUND" => 404,
            "ARTIFACT_NOT_READY" => 409,
            "RATE_LIMITED" => 429,
            "AGENT_FAILURE" => 502,
            "AGENT_TIMEOUT" => 504,
            "INVALID_INPUT" if problem.code().name == "PAYLOAD_TOO_LARGE" => 413,
            "INVALID_INPUT"
                if detail("field") == Some("spec") && detail("constraint") == Some("maxLength") =>
            {
                413
            }
            "INVALID_INPUT" => 400,
            _ => 500,
        }
    }

    fn failure_schema(&self) -> Value {
        object_schema([("error", json!({ "type": "object" }))])
    }
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
