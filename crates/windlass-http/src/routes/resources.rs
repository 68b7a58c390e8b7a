//! Answers the routes that domains declare: input from the request, one call, the answer as the
//! route wants it.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::Response,
};
use http::StatusCode;
use serde_json::{Value, json};
use windlass_engine::contract::http::{Input, Output, Route};

use super::{answers, approvals, artifact, events, idempotency};
use crate::{
    call::{call_and_show, context},
    failure::Failure,
    guard::{request_id, wants_events},
    input::{add_path, from_body, from_query, not_offered},
    state::Shared,
};

pub(super) async fn answer(
    State(shared): State<Arc<Shared>>,
    route: Route,
    request: Request,
) -> Response {
    let id = request_id(request.headers()).to_owned();
    try_answer(shared, route, request)
        .await
        .unwrap_or_else(|failure| failure.respond(&id))
}

async fn try_answer(
    shared: Arc<Shared>,
    route: Route,
    request: Request,
) -> Result<Response, Failure> {
    let (mut parts, body) = request.into_parts();
    let context = context(&parts)?;
    let operation = route.operation;
    let info = shared.state.catalogue.find(operation);
    let in_contract = |failure: Failure| match info {
        Some(info) => failure.within(info, Value::Null),
        None => failure,
    };
    let mut input = match route.input {
        Input::Body => from_body(&parts.headers, body).await.map_err(in_contract)?,
        Input::BodyWithKey => {
            let mut input = from_body(&parts.headers, body).await.map_err(in_contract)?;
            idempotency::add_key(&parts.headers, &mut input).map_err(in_contract)?;
            input
        }
        Input::BodyOrList(field) => {
            match from_body(&parts.headers, body).await.map_err(in_contract)? {
                Value::Array(items) => json!({ field: items }),
                other => other,
            }
        }
        Input::Query => Value::Object(from_query(info, parts.uri.query()).map_err(in_contract)?),
    };
    add_path(&mut parts, &mut input)
        .await
        .map_err(in_contract)?;
    match route.output {
        Output::Events if wants_events(&parts.headers) => {
            events::stream(shared, &parts.headers, input, context).await
        }
        Output::Json | Output::JsonWithoutTimeout | Output::Events => {
            call_and_show(&shared.state, operation, input, context, StatusCode::OK).await
        }
        Output::Created => {
            call_and_show(
                &shared.state,
                operation,
                input,
                context,
                StatusCode::CREATED,
            )
            .await
        }
        Output::CreatedWhen { field, value } => {
            answers::created_when(&shared, operation, input, context, (field, value)).await
        }
        Output::Accepted { location } => {
            answers::accepted(&shared, operation, input, context, location).await
        }
        Output::Tagged => answers::tagged(&shared, operation, &parts.headers, input, context).await,
        Output::RunEvents => match info {
            Some(info) => {
                let shared = Arc::clone(&shared);
                events::of_answer(shared, info, &parts.headers, input, context).await
            }
            None => Err(not_offered(operation)),
        },
        Output::Bytes => artifact::fetch(&shared, &parts, input, context).await,
        Output::Approvals => approvals::list(&shared.state, input, context).await,
    }
}
