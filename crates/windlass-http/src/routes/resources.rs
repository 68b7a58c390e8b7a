//! Answers the resource routes: input from the request, one call, the answer as it is wanted.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::Response,
};
use http::StatusCode;
use serde_json::Value;

use super::{approvals, artifact, events, pipelines, telemetry};
use crate::{
    call::{call_and_show, context},
    failure::Failure,
    guard::{request_id, wants_events},
    input::{add_path, from_body, from_query, not_offered},
    resource::{Input, Output, Resource},
    state::Shared,
};

pub(super) async fn answer(
    State(shared): State<Arc<Shared>>,
    resource: &'static Resource,
    request: Request,
) -> Response {
    let id = request_id(request.headers()).to_owned();
    try_answer(shared, resource, request)
        .await
        .unwrap_or_else(|failure| failure.respond(&id))
}

async fn try_answer(
    shared: Arc<Shared>,
    resource: &'static Resource,
    request: Request,
) -> Result<Response, Failure> {
    let (mut parts, body) = request.into_parts();
    let catalogue = &shared.state.catalogue;
    let context = context(&parts)?;
    let info = catalogue.find(resource.operation);
    let in_envelope = |failure: Failure| match info {
        Some(info) => failure.within(info, Value::Null),
        None => failure,
    };
    let mut input = match resource.input {
        Input::Body => from_body(&parts.headers, body).await.map_err(in_envelope)?,
        Input::Keyed => {
            let mut input = from_body(&parts.headers, body).await.map_err(in_envelope)?;
            pipelines::add_key(&parts.headers, &mut input).map_err(in_envelope)?;
            input
        }
        Input::Runs => {
            let body = from_body(&parts.headers, body).await.map_err(in_envelope)?;
            telemetry::listed_runs(body)
        }
        Input::Query => Value::Object(from_query(info, parts.uri.query()).map_err(in_envelope)?),
    };
    add_path(&mut parts, &mut input)
        .await
        .map_err(in_envelope)?;
    match resource.output {
        Output::Events if wants_events(&parts.headers) => {
            events::stream(shared, &parts.headers, input, context).await
        }
        Output::Json | Output::Made | Output::Events => {
            call_and_show(
                &shared.state,
                resource.operation,
                input,
                context,
                StatusCode::OK,
            )
            .await
        }
        Output::Created => {
            call_and_show(
                &shared.state,
                resource.operation,
                input,
                context,
                StatusCode::CREATED,
            )
            .await
        }
        Output::Accepted => pipelines::accept(&shared, resource.operation, input, context).await,
        Output::Tagged => {
            pipelines::tagged(&shared, resource.operation, &parts.headers, input, context).await
        }
        Output::JobEvents => match info {
            Some(info) => {
                let shared = Arc::clone(&shared);
                pipelines::watch(shared, info, &parts.headers, input, context).await
            }
            None => Err(not_offered(resource.operation)),
        },
        Output::Reported => {
            telemetry::report(&shared.state, resource.operation, input, context).await
        }
        Output::Bytes => artifact::fetch(&shared, &parts.headers, input, context).await,
        Output::Approvals => approvals::list(&shared.state, input, context).await,
    }
}
