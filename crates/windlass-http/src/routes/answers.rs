//! Answers with a status or headers of their own: a run is accepted before it is done, a thing is
//! created once, a document has a tag.

use axum::{body::Body, response::Response};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, ETAG, LOCATION},
};
use serde_json::Value;
use windlass_engine::{contract::EnvelopeContext, operation::CallContext};
use windlass_types::{Digest, RunId};

use super::artifact::is_known;
use crate::{
    call::call,
    failure::{self, Failure},
    input::not_offered,
    state::Shared,
};

/// 202 for a run that was started, and where to ask after it: `location` with the run's id.
pub(super) async fn accepted(
    shared: &Shared,
    operation: &str,
    input: Value,
    context: CallContext,
    location: &str,
) -> Result<Response, Failure> {
    let (shown, run_id) = show(shared, operation, input, context).await?;
    let mut response = failure::json(StatusCode::ACCEPTED, &shown);
    if let Some(run_id) = run_id
        && let Ok(location) = HeaderValue::try_from(format!("{location}{run_id}"))
    {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// 201 where the answer says by this field and value that something was created, else 200.
pub(super) async fn created_when(
    shared: &Shared,
    operation: &str,
    input: Value,
    context: CallContext,
    (field, value): (&str, &str),
) -> Result<Response, Failure> {
    let (shown, _) = show(shared, operation, input, context).await?;
    let status = if shown[field] == value {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(failure::json(status, &shown))
}

/// An answer with the SHA-256 of its bytes as its tag; 304 for a caller that has them.
pub(super) async fn tagged(
    shared: &Shared,
    operation: &str,
    headers: &HeaderMap,
    mut input: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    // Of the address, not of the operation.
    if let Some(fields) = input.as_object_mut() {
        fields.remove("exp");
        fields.remove("sig");
    }
    let (shown, _) = show(shared, operation, input, context).await?;
    let mut response = failure::json(StatusCode::OK, &shown);
    let tag = format!("\"{}\"", Digest::of(shown.to_string().as_bytes()));
    if is_known(headers, &tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
    }
    let out = response.headers_mut();
    out.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        out.insert(ETAG, tag);
    }
    Ok(response)
}

async fn show(
    shared: &Shared,
    operation: &str,
    input: Value,
    context: CallContext,
) -> Result<(Value, Option<RunId>), Failure> {
    let info = shared
        .state
        .catalogue
        .find(operation)
        .ok_or_else(|| not_offered(operation))?;
    let request_id = context.request_id.clone();
    let answer = call(&shared.state, operation, input, context).await?;
    let shown = EnvelopeContext {
        operation: &info.name,
        request_id: &request_id,
        input: &Value::Null,
    };
    Ok((info.contract.success(shown, answer.output), answer.run_id))
}
