//! `/v1/operations`: the catalogue itself, and the generic door to every operation.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::Response,
};
use http::StatusCode;
use serde_json::{Value, json};
use windlass_engine::operation::OperationInfo;
use windlass_types::Problem;

use crate::{
    call::{call_and_show, context},
    failure::{self, Failure},
    guard::request_id,
    input::from_body,
    paths::called_by_name,
    state::Shared,
};

/// Every operation in a line.
pub(super) async fn list(State(shared): State<Arc<Shared>>) -> Response {
    let operations: Vec<Value> = shared.state.catalogue.operations().map(summary).collect();
    failure::json(StatusCode::OK, &json!({ "operations": operations }))
}

fn summary(info: &OperationInfo) -> Value {
    json!({
        "name": info.name,
        "tool": info.tool,
        "toolset": info.toolset,
        "title": info.title,
        "effect": info.effect,
        "flow": info.flow,
        "scope": info.scope,
    })
}

/// One operation with its schemas and examples.
pub(super) async fn describe(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let described = named(&shared, &request).and_then(|info| {
        let value = serde_json::to_value(info)
            .map_err(|error| Problem::internal("operation description", error))?;
        Ok(failure::json(StatusCode::OK, &value))
    });
    described.unwrap_or_else(|failure| failure.respond(request_id(request.headers())))
}

/// Calls one operation; the body is its input.
pub(super) async fn call(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let id = request_id(request.headers()).to_owned();
    try_call(&shared, request)
        .await
        .unwrap_or_else(|failure| failure.respond(&id))
}

async fn try_call(shared: &Shared, request: Request) -> Result<Response, Failure> {
    let info = named(shared, &request)?;
    let (parts, body) = request.into_parts();
    let context = context(&parts)?;
    let input = from_body(&parts.headers, body)
        .await
        .map_err(|failure| failure.within(info, Value::Null))?;
    call_and_show(&shared.state, &info.name, input, context, StatusCode::OK).await
}

/// Names have no characters that need encoding, so the path is taken as it is.
fn named<'a>(shared: &'a Shared, request: &Request) -> Result<&'a OperationInfo, Failure> {
    let catalogue = &shared.state.catalogue;
    let name = called_by_name(request.uri().path()).unwrap_or_default();
    catalogue
        .find(name)
        .ok_or_else(|| catalogue.unknown(name).into())
}
