//! What is particular to pipelines: a job is accepted before it is done, an artifact has a tag,
//! and a job's events are a stream.

use std::sync::Arc;

use axum::{body::Body, response::Response};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, ETAG, LOCATION},
};
use serde_json::Value;
use windlass_engine::{
    envelope::EnvelopeContext,
    operation::{CallContext, OperationInfo},
};
use windlass_types::{Digest, Problem, RunId};

use super::{artifact::is_known, events};
use crate::{
    call::call,
    failure::{self, Failure},
    input::not_offered,
    state::Shared,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const FIELD: &str = "idempotency_key";

/// Puts the idempotency key of the header into the input. The header may be written bare or as
/// the quoted string its draft prescribes.
pub(super) fn add_key(headers: &HeaderMap, input: &mut Value) -> Result<(), Failure> {
    let Some(header) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(());
    };
    let refuse = |constraint: &str, message: &str| {
        Err(Failure::from(Problem::invalid(FIELD, constraint, message)))
    };
    let Ok(text) = header.to_str() else {
        return refuse(
            "format",
            "The 'Idempotency-Key' header must be printable ASCII",
        );
    };
    let text = text.trim();
    let bare = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let key = Value::from(bare.unwrap_or(text));
    // Anything but an object is left to the operation, which names the rule.
    let Some(fields) = input.as_object_mut() else {
        return Ok(());
    };
    if fields.get(FIELD).is_some_and(|given| *given != key) {
        return refuse(
            "same",
            "The 'idempotency_key' field differs from the 'Idempotency-Key' header",
        );
    }
    fields.insert(FIELD.to_owned(), key);
    Ok(())
}

/// Begins a job: 202, and where to ask after it.
pub(super) async fn accept(
    shared: &Shared,
    operation: &str,
    input: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    let (shown, run_id) = show(shared, operation, input, context).await?;
    let mut response = failure::json(StatusCode::ACCEPTED, &shown);
    if let Some(run_id) = run_id
        && let Ok(location) = HeaderValue::try_from(format!("/v1/pipelines/{run_id}"))
    {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
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

/// The events of a job. Asking for its status first says whether there is such a job, in the
/// words of the contract.
pub(super) async fn watch(
    shared: Arc<Shared>,
    info: &OperationInfo,
    headers: &HeaderMap,
    input: Value,
    context: CallContext,
) -> Result<Response, Failure> {
    let dress = |problem: Problem| Failure::from(problem).within(info, Value::Null);
    let cursor = events::cursor(headers).map_err(dress)?;
    let principal = context.principal.clone();
    let answer = call(&shared.state, &info.name, input, context).await?;
    let run_id = answer
        .run_id
        .ok_or_else(|| dress(Problem::internal("pipeline", "a job without a run")))?;
    events::follow(shared, run_id, principal, cursor)
        .await
        .map_err(dress)
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
    Ok((info.envelope.success(shown, answer.output), answer.run_id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_comes_from_the_header_or_the_field() {
        for (header, input, expected) in [
            (None, json!({}), Some(json!({}))),
            (
                Some("a-1"),
                json!({}),
                Some(json!({ "idempotency_key": "a-1" })),
            ),
            (
                Some("\"a-1\""),
                json!({}),
                Some(json!({ "idempotency_key": "a-1" })),
            ),
            (
                Some("a"),
                json!({ "idempotency_key": "a" }),
                Some(json!({ "idempotency_key": "a" })),
            ),
            (Some("a"), json!({ "idempotency_key": "b" }), None),
            (Some("a"), json!([]), Some(json!([]))),
            (Some("é"), json!({}), None),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(text) = header {
                let value = HeaderValue::from_bytes(text.as_bytes()).unwrap();
                headers.insert(IDEMPOTENCY_KEY, value);
            }
            let mut given = input.clone();
            let added = add_key(&headers, &mut given).map(|()| given).ok();
            assert_eq!(added, expected, "{header:?} {input}");
        }
    }
}
