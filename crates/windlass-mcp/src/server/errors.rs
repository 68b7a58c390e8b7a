//! Problems as JSON-RPC errors, for the methods that have no result to put them in.

use rmcp::{ErrorData, model::ErrorCode};
use serde_json::{Value, json};
use windlass_types::{Kind, Problem, code};

/// The error of a method other than `tools/call`, which has envelopes for this.
pub fn error_of(problem: &Problem) -> ErrorData {
    let code = match problem.code().kind {
        Kind::Internal => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_PARAMS,
    };
    let data = json!({
        "code": problem.code().name,
        "details": problem.details(),
        "next_actions": problem.next_actions(),
        "retryable": problem.code().retryable,
    });
    ErrorData::new(code, problem.message().to_owned(), Some(data))
}

/// The error of a resource that cannot be read.
pub fn resource_error(uri: &str, problem: &Problem) -> ErrorData {
    let missing = [
        &code::RUN_NOT_FOUND,
        &code::ARTIFACT_NOT_FOUND,
        &code::NOT_FOUND,
    ];
    if missing.iter().any(|code| code.name == problem.code().name) {
        return no_such_resource(uri);
    }
    let mut error = error_of(problem);
    if let Some(Value::Object(data)) = &mut error.data {
        data.insert("uri".to_owned(), json!(uri));
    }
    error
}

/// The error of a resource that does not exist.
pub fn no_such_resource(uri: &str) -> ErrorData {
    // rmcp turns this code into the one of the modern era where it has to.
    ErrorData::resource_not_found(
        format!("resource not found: {uri}"),
        Some(json!({ "uri": uri })),
    )
}
