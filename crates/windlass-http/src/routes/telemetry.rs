//! What is particular to the telemetry interface: a report is created once, and a batch may be a
//! bare list.

use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};
use windlass_engine::operation::CallContext;

use crate::{
    HttpState,
    call::call,
    failure::{self, Failure},
};

/// Reports a run: 201 the first time, 200 whenever it is reported again.
pub(super) async fn report(
    state: &HttpState,
    operation: &str,
    input: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    let answer = call(state, operation, input, context).await?;
    let status = if answer.output["result"] == "created" {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(failure::json(status, &answer.output))
}

/// The input of a batch, given as `{"runs": […]}` or as the list itself.
pub(super) fn listed_runs(body: Value) -> Value {
    match body {
        Value::Array(runs) => json!({ "runs": runs }),
        other => other,
    }
}
