//! Documents about this server: the OpenAPI document and the protected-resource metadata.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    response::Response,
};
use http::{
    HeaderValue, StatusCode,
    header::{CONTENT_TYPE, HOST},
};

use crate::{base::base_url, challenge::metadata, failure, openapi::openapi, state::Shared};

/// The OpenAPI document; made once.
pub(super) async fn document(State(shared): State<Arc<Shared>>) -> Response {
    let bytes = shared
        .openapi
        .get_or_init(|| Bytes::from(openapi(&shared.state.catalogue).to_string()));
    let mut response = Response::new(Body::from(bytes.clone()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) async fn api_metadata(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    show_metadata(&shared, &request, "")
}

pub(super) async fn mcp_metadata(
    State(shared): State<Arc<Shared>>,
    request: Request,
    path: &'static str,
) -> Response {
    show_metadata(&shared, &request, path)
}

fn show_metadata(shared: &Shared, request: &Request, suffix: &str) -> Response {
    let base = base_url(
        shared.state.public_url.as_deref(),
        request.headers().get(HOST),
        request.uri(),
    );
    failure::json(StatusCode::OK, &metadata(&base, suffix, &shared.scopes))
}
