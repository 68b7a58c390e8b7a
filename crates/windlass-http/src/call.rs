//! From a route to the catalogue and back: who calls, the call itself, the answer's envelope.

use axum::response::Response;
use http::{HeaderValue, StatusCode, header::LOCATION, request::Parts};
use serde_json::Value;
use windlass_engine::{
    contract::EnvelopeContext,
    operation::{Answer, CallContext, CallRequest, Flow},
};
use windlass_types::{EffectClass, Principal, Problem, Surface, code};

use crate::{
    HttpState,
    failure::{Failure, json},
    guard::request_id,
    input::not_offered,
};

/// Who calls. Built from what the guard left in the request.
pub(crate) fn context(parts: &Parts) -> Result<CallContext, Failure> {
    let principal: Option<&Principal> = parts.extensions.get();
    // Every route that calls is behind authentication; one that is not must not call.
    let principal =
        principal.ok_or_else(|| Problem::new(&code::UNAUTHORIZED, "nobody is signed in"))?;
    Ok(CallContext {
        principal: principal.clone(),
        surface: Surface::Http,
        request_id: request_id(&parts.headers).to_owned(),
        directory: None,
        terms: windlass_engine::operation::Terms::default(),
    })
}

/// Calls an operation.
pub(crate) async fn call(
    state: &HttpState,
    operation: &str,
    input: Value,
    context: CallContext,
) -> Result<Answer, Failure> {
    let catalogue = &state.catalogue;
    let Some(info) = catalogue.find(operation) else {
        return Err(not_offered(operation));
    };
    let asked = info.input_for_envelope(&input);
    let request = CallRequest {
        operation: operation.to_owned(),
        input,
        context,
    };
    let result = if info.effect == EffectClass::Read {
        catalogue.call(request).await
    } else {
        // Goes on when the client hangs up: a change that was made must also be recorded.
        let catalogue = catalogue.clone();
        match tokio::spawn(async move { catalogue.call(request).await }).await {
            Ok(result) => result,
            Err(error) => Err(Problem::internal("operation", error)),
        }
    };
    result.map_err(|problem| Failure::from(problem).within(info, asked))
}

/// Calls an operation and shows its answer in the envelope of its toolset.
pub(crate) async fn call_and_show(
    state: &HttpState,
    operation: &str,
    input: Value,
    context: CallContext,
    status: StatusCode,
) -> Result<Response, Failure> {
    let request_id = context.request_id.clone();
    let info = state
        .catalogue
        .find(operation)
        .ok_or_else(|| not_offered(operation))?;
    let asked = info.input_for_envelope(&input);
    let answer = call(state, operation, input, context).await?;
    let shown = EnvelopeContext {
        operation: &info.name,
        request_id: &request_id,
        input: &asked,
    };
    let mut response = json(status, &info.contract.success(shown, answer.output));
    if info.flow == Flow::Apply
        && let Some(run_id) = answer.run_id
        && let Ok(location) = HeaderValue::try_from(format!("/v1/runs/{run_id}"))
    {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}
